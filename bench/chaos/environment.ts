/** Everything around the daemon: the simulated service, a persistent Redis, Slack and a mail server. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Instant } from "../../src/lib/clock.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { keysUnder } from "../../src/store/keys.ts";
import { limitsBroken, type SlackAnswer, type SlackSink, startSlackSink } from "../../test/support/slack-sink.ts";
import { type SmtpSink, startSmtpSink } from "../../test/support/smtp-sink.ts";
import { until } from "../../test/support/until.ts";
import type { Ambushed, SlackFault } from "./action.ts";
import type { Episode } from "./app-posts.ts";
import type { WatchedRecording } from "./audit.ts";
import type { CameraServer } from "./audit-groups.ts";
import { APPS, configText, receiverOf } from "./config-text.ts";
import { type Incidents, startIncidents } from "./incidents.ts";
import { readMail, readSlack } from "./messages.ts";
import { type RunRedis, startFailover, startPersistent } from "./redis.ts";
import { type SlackApp, startSlackApp } from "./slack-app.ts";
import type { Message } from "./summaries.ts";
import { watchSweeps } from "./sweeps.ts";
import type { Span } from "./timeline.ts";
import { scheduleSpans, type Zone } from "./zones.ts";

/** How long Slack delays its answer while a process is killed. */
const AMBUSH_MS = 300;
const PATIENCE_MS = 15_000;
const LEARNING_MS = 120_000;

export interface Fleet {
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly seed: number;
  readonly webhooks: number;
  /** Zones of the locations with uploading schedules, which come last. */
  readonly scheduled: readonly Zone[];
  /** Span for which their schedules are computed. */
  readonly span: Span;
  /** Whether a killed Redis is followed by its replica, instead of recovering with what it knew. */
  readonly failover: boolean;
}

export interface Environment {
  readonly simulator: Simulator;
  readonly redis: RunRedis;
  readonly mail: SmtpSink;
  readonly app: SlackApp;
  readonly incidents: Incidents;
  readonly config: string;
  readonly watched: readonly WatchedRecording[];
  /** Each has the recordings of two locations without schedules. */
  readonly servers: readonly CameraServer[];
  /** By location: when the service answered about it. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  /** By location: when an answer about it was evaluated and committed. */
  judged(): ReadonlyMap<string, readonly Instant[]>;
  /** Alerts about recordings that there were, by id. */
  episodes(): ReadonlyMap<string, Episode>;
  /** Sets a fault of a webhook; undefined clears it. */
  fault(webhook: number, fault: SlackFault | undefined): void;
  /** Clears the faults of all webhooks and of the Slack app. */
  clearFaults(): void;
  /** Resolves once the daemon has learned every uploading schedule. */
  schedulesLearned(): Promise<void>;
  /** Resolves when one of them accepts its next message, before it answers; after 15 s at the latest. */
  nextAccepted(by: Ambushed): Promise<void>;
  /** All accepted messages so far, parsed, in order, without summaries of cold starts. */
  messages(): Message[];
  /** Integrations that got more than one summary of a cold start. */
  repeatedColdStarts(): string[];
  close(): Promise<void>;
}

/** Starts everything; `logLevel` is the daemon's. */
export async function startEnvironment(fleet: Fleet, logLevel: "info" | "debug"): Promise<Environment> {
  const [simulator, redis, slack, mail, app, incidents] = await Promise.all([
    startSimulator({ ...fleet, traits: { locations_per_camera_server: 2 } }),
    fleet.failover ? startFailover() : startPersistent(),
    startSlackSink(),
    startSmtpSink(),
    startSlackApp(Math.min(APPS, fleet.webhooks)),
    startIncidents(),
  ]);
  const { world } = simulator;
  for (const { id } of world.recordings) world.setSchedule(id, false);
  for (const { name: timezone } of fleet.scheduled) {
    const { recordings } = world.addLocation({ timezone, recordings: fleet.recordingsPerLocation });
    for (const { id } of recordings) world.setSchedule(id, true);
  }
  const names = new Set(world.recordings.map(({ name }) => name));
  const accepted = acceptSlack(slack);
  const sweeps = watchSweeps(() => redis.connect());
  const webhooks = Array.from({ length: fleet.webhooks }, (_, i) => `${slack.url}-${i}`);
  return {
    simulator,
    redis,
    mail,
    app,
    incidents,
    config: configText({
      simulator,
      redis: redis.section,
      mail,
      webhooks,
      opsWebhook: `${slack.url}-ops`,
      app,
      incidents,
      logLevel,
    }),
    watched: watchedOf(simulator, fleet),
    servers: serversOf(simulator),
    answers: noteAnswers(simulator),
    judged: sweeps.byLocation,
    episodes: sweeps.episodes,
    fault: accepted.fault,
    clearFaults() {
      accepted.clearFaults();
      app.clearFaults();
      incidents.clearFaults();
    },
    schedulesLearned: () => schedulesLearned(simulator, redis.connect()),
    async nextAccepted(by) {
      const before = mail.messages.length;
      const isNext = () => mail.messages.length > before;
      if (by === "app" || by === "app_unanswered") await app.nextAccepted(by === "app_unanswered");
      else if (by === "slack") await Promise.race([accepted.next(), sleep(PATIENCE_MS)]);
      else await mail.waitFor(isNext, PATIENCE_MS).catch(() => {});
    },
    messages: () => messagesSoFar(accepted.messages, mail, names),
    repeatedColdStarts() {
      const all = [
        ...slack.starts.messages.map(({ path }) => slackIntegration(path)),
        ...mail.starts.messages.map(({ rcpts }) => mailIntegration(rcpts)),
      ];
      return all.filter((one, i) => all.indexOf(one) < i);
    },
    async close() {
      sweeps.close();
      await Promise.all([simulator.close(), slack.close(), mail.close(), app.close(), incidents.close()]);
      await redis.stop();
    },
  };
}

interface Accepted {
  readonly at: Instant;
  readonly integration: string;
  readonly shown: string;
}

/** Answers by the fault of the webhook, and records accepted messages. */
function acceptSlack(slack: SlackSink) {
  const messages: Accepted[] = [];
  const faults = new Map<string, SlackFault>();
  const waiting = new Set<() => void>();
  slack.respond(async ({ path, shown, body, receivedAt }) => {
    const integration = slackIntegration(path);
    const fault = faults.get(integration);
    if (fault?.answer === "hang") return "hang";
    if (fault && fault.answer !== "slow") return answerOf(fault);
    if (limitsBroken(body).length > 0) return { status: 400, body: "invalid_blocks" };
    messages.push({ at: receivedAt, integration, shown });
    const watched = waiting.size > 0;
    for (const resolve of waiting) resolve();
    waiting.clear();
    if (fault || watched) await sleep(fault?.afterMs ?? AMBUSH_MS);
    return { status: 200, body: "ok" };
  });
  return {
    messages,
    next: () => new Promise<void>((resolve) => waiting.add(resolve)),
    clearFaults: () => faults.clear(),
    fault(webhook: number, fault: SlackFault | undefined) {
      if (fault) faults.set(`slack/${webhook}`, fault);
      else faults.delete(`slack/${webhook}`);
    },
  };
}

function answerOf(fault: Exclude<SlackFault, { readonly answer: "hang" | "slow" }>): SlackAnswer {
  if (fault.answer === "server_error") return { status: 500, body: "oops" };
  const { retryAfter } = fault;
  return {
    status: 429,
    headers: { "retry-after": String(retryAfter) },
    body: JSON.stringify({ retry_after: retryAfter, ok: false, error: "rate_limited" }),
  };
}

async function schedulesLearned({ world }: Simulator, redis: Redis): Promise<void> {
  const scheduled = world.recordings.filter(({ useUploadingSchedule }) => useUploadingSchedule);
  const { prefix } = keysUnder("lenswatch");
  const learned = async () => {
    const keys = await redis.keys(`${prefix.replace(/[{}]/g, "?")}figures:*`);
    const documents = await Promise.all(keys.map((key) => redis.hget(key, "d")));
    const schedules = documents.map((text) => /"schedules":\{.*/.exec(text ?? "")?.[0] ?? "").join();
    return scheduled.every(({ id }) => schedules.includes(id));
  };
  try {
    await until("every uploading schedule is learned", learned, LEARNING_MS);
  } finally {
    redis.disconnect();
  }
}

function noteAnswers({ events }: Simulator): ReadonlyMap<string, Instant[]> {
  const answers = new Map<string, Instant[]>();
  events.on("request", ({ endpoint, outcome, body, at }) => {
    if (endpoint !== "status/uptime" || outcome !== "answered") return;
    for (const id of (body as { entities: readonly string[] }).entities) {
      const there = answers.get(id);
      if (there) there.push(at);
      else answers.set(id, [at]);
    }
  });
  return answers;
}

function slackIntegration(path: string): string {
  return `slack/${path.split("-").at(-1)}`;
}

function mailIntegration([to = ""]: readonly string[]): string {
  return `email/${/\d+/.exec(to)?.[0]}`;
}

function messagesSoFar(slack: readonly Accepted[], mail: SmtpSink, names: ReadonlySet<string>): Message[] {
  return [
    ...slack.map(({ at, integration, shown }) => ({ at, integration, read: readSlack(shown, names) })),
    ...mail.messages.map(({ receivedAt, rcpts, text }) => ({
      at: receivedAt,
      integration: mailIntegration(rcpts),
      read: readMail(text, names),
    })),
  ]
    .sort((a, b) => a.at - b.at)
    .map((message, number) => ({ ...message, number }));
}

function watchedOf({ world }: Simulator, { webhooks, scheduled, span }: Fleet): WatchedRecording[] {
  const first = world.locations.length - scheduled.length;
  const watched = world.locations.flatMap(({ id: locationId, name: locationName, recordings }, i) => {
    const receiver = receiverOf(locationId, webhooks);
    const integrations = [`slack/${receiver}`, `email/${receiver}`, ...(receiver < APPS ? [`app/${receiver}`] : [])];
    const zone = scheduled[i - first];
    const within = zone && scheduleSpans(zone, span);
    return recordings.map(({ id, name }) => ({ id, name, locationId, locationName, integrations, within }));
  });
  const names = new Set(watched.map(({ name }) => name));
  const locationNames = new Set(watched.map(({ locationName }) => locationName));
  if (names.size < watched.length || locationNames.size < world.locations.length)
    throw new Error("two recordings or locations have the same name; an audit by name would mix them up");
  return watched;
}

function serversOf({ world }: Simulator): CameraServer[] {
  const servers = Map.groupBy(world.recordings, ({ cameraServer }) => cameraServer);
  return [...servers].flatMap(([id, recordings]) => {
    const locationIds = [...new Set(recordings.map(({ location }) => location.id))];
    const isWatched = locationIds.length > 1 && !recordings.some(({ useUploadingSchedule }) => useUploadingSchedule);
    return isWatched ? [{ id, locationIds, recordingIds: recordings.map((one) => one.id) }] : [];
  });
}
