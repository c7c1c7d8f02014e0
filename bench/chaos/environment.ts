/** Everything around the daemon: the simulated service, a real Redis that keeps its data, Slack and a mail server. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Instant } from "../../src/lib/clock.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { keysUnder } from "../../src/store/keys.ts";
import {
  limitsBroken,
  type SlackAnswer,
  type SlackSink,
  startSlackSink,
} from "../../test/support/slack-sink.ts";
import { type SmtpSink, startSmtpSink } from "../../test/support/smtp-sink.ts";
import { until } from "../../test/support/until.ts";
import type { SlackTrouble } from "./action.ts";
import type { Watched } from "./audit.ts";
import { configText, receiverOf } from "./config-text.ts";
import { readMail, readSlack } from "./messages.ts";
import { type Memory, startKept, startPromoting } from "./redis.ts";
import type { Message } from "./summaries.ts";
import { watchSweeps } from "./sweeps.ts";
import type { Span } from "./timeline.ts";
import { hoursWithin, type Zone } from "./zones.ts";

/** How long Slack says nothing while somebody is killed. */
const AMBUSH_MS = 300;
const PATIENCE_MS = 15_000;
const LEARNING_MS = 120_000;

export interface Fleet {
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly seed: number;
  readonly webhooks: number;
  /** Locations behind the others, each with the same number of recordings, all with uploading schedules. */
  readonly scheduled: readonly Zone[];
  /** For how long their hours are to be known. */
  readonly span: Span;
  /** Whether a killed Redis is followed by its replica, instead of recovering with what it knew. */
  readonly failover: boolean;
}

export interface Stage {
  readonly simulator: Simulator;
  readonly redis: Memory;
  readonly mail: SmtpSink;
  readonly config: string;
  readonly watched: readonly Watched[];
  /** By location: when the service answered about it. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  /** By location: when an answer about it was judged and remembered. */
  judged(): ReadonlyMap<string, readonly Instant[]>;
  /** What a webhook answers; undefined: as Slack does when it is well. */
  trouble(webhook: number, trouble: SlackTrouble | undefined): void;
  /** All webhooks are well again. */
  noTrouble(): void;
  /** Resolves once the daemon has learned every uploading schedule. */
  schedulesLearned(): Promise<void>;
  /** Resolves when Slack or the mail server has accepted its next message and not yet said so; after 15 s anyhow. */
  nextAccepted(by: "slack" | "mail"): Promise<void>;
  /** Everything that was accepted so far, read, in order; without the summaries of starts without memory. */
  told(): Message[];
  /** Integrations that were told more than once that there is no memory. */
  toldToForget(): string[];
  close(): Promise<void>;
}

/** Starts all of it; `logLevel` is the daemon's. */
export async function startStage(fleet: Fleet, logLevel: "info" | "debug"): Promise<Stage> {
  const [simulator, redis, slack, mail] = await Promise.all([
    startSimulator(fleet),
    fleet.failover ? startPromoting() : startKept(),
    startSlackSink(),
    startSmtpSink(),
  ]);
  const { world } = simulator;
  for (const { id } of world.recordings) world.setSchedule(id, false);
  for (const { name: timezone } of fleet.scheduled) {
    const { recordings } = world.addLocation({ timezone, recordings: fleet.recordingsPerLocation });
    for (const { id } of recordings) world.setSchedule(id, true);
  }
  const accepted = acceptSlack(slack);
  const sweeps = watchSweeps(() => redis.look());
  const webhooks = Array.from({ length: fleet.webhooks }, (_, i) => `${slack.url}-${i}`);
  return {
    simulator,
    redis,
    mail,
    config: configText({
      simulator,
      redis: redis.section,
      mail,
      webhooks,
      opsWebhook: `${slack.url}-ops`,
      logLevel,
    }),
    watched: watchedOf(simulator, fleet),
    answers: noteAnswers(simulator),
    judged: sweeps.byLocation,
    trouble: accepted.trouble,
    noTrouble: accepted.noTrouble,
    schedulesLearned: () => schedulesLearned(simulator, redis.look()),
    async nextAccepted(by) {
      const before = mail.messages.length;
      const isNext = () => mail.messages.length > before;
      if (by === "slack") await Promise.race([accepted.next(), sleep(PATIENCE_MS)]);
      else await mail.waitFor(isNext, PATIENCE_MS).catch(() => {});
    },
    told: () => toldSoFar(accepted.messages, mail),
    toldToForget() {
      const all = [
        ...slack.starts.messages.map(({ path }) => slackIntegration(path)),
        ...mail.starts.messages.map(({ rcpts }) => mailIntegration(rcpts)),
      ];
      return all.filter((one, i) => all.indexOf(one) < i);
    },
    async close() {
      sweeps.close();
      await Promise.all([simulator.close(), slack.close(), mail.close()]);
      await redis.stop();
    },
  };
}

interface Accepted {
  readonly at: Instant;
  readonly integration: string;
  readonly shown: string;
}

/** Answers by webhook as told, and keeps what was accepted. */
function acceptSlack(slack: SlackSink) {
  const messages: Accepted[] = [];
  const troubles = new Map<string, SlackTrouble>();
  const waiting = new Set<() => void>();
  slack.respond(async ({ path, shown, body, receivedAt }) => {
    const integration = slackIntegration(path);
    const trouble = troubles.get(integration);
    if (trouble?.answer === "hang") return "hang";
    if (trouble && trouble.answer !== "slow") return answerOf(trouble);
    if (limitsBroken(body).length > 0) return { status: 400, body: "invalid_blocks" };
    messages.push({ at: receivedAt, integration, shown });
    const watched = waiting.size > 0;
    for (const tell of waiting) tell();
    waiting.clear();
    if (trouble || watched) await sleep(trouble?.afterMs ?? AMBUSH_MS);
    return { status: 200, body: "ok" };
  });
  return {
    messages,
    next: () => new Promise<void>((resolve) => waiting.add(resolve)),
    noTrouble: () => troubles.clear(),
    trouble(webhook: number, trouble: SlackTrouble | undefined) {
      if (trouble) troubles.set(`slack/${webhook}`, trouble);
      else troubles.delete(`slack/${webhook}`);
    },
  };
}

function answerOf(trouble: Exclude<SlackTrouble, { readonly answer: "hang" | "slow" }>): SlackAnswer {
  if (trouble.answer === "server_error") return { status: 500, body: "oops" };
  const { retryAfter } = trouble;
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

function toldSoFar(slack: readonly Accepted[], mail: SmtpSink): Message[] {
  return [
    ...slack.map(({ at, integration, shown }) => ({ at, integration, read: readSlack(shown) })),
    ...mail.messages.map(({ receivedAt, rcpts, text }) => ({
      at: receivedAt,
      integration: mailIntegration(rcpts),
      read: readMail(text),
    })),
  ]
    .sort((a, b) => a.at - b.at)
    .map((message, number) => ({ ...message, number }));
}

function watchedOf({ world }: Simulator, { webhooks, scheduled, span }: Fleet): Watched[] {
  const first = world.locations.length - scheduled.length;
  const watched = world.locations.flatMap(({ id: locationId, name: place, recordings }, i) => {
    const receiver = receiverOf(locationId, webhooks);
    const integrations = [`slack/${receiver}`, `email/${receiver}`];
    const zone = scheduled[i - first];
    const within = zone && hoursWithin(zone, span);
    return recordings.map(({ id, name }) => ({ id, name, locationId, place, integrations, within }));
  });
  const names = new Set(watched.map(({ name }) => name));
  const places = new Set(watched.map(({ place }) => place));
  if (names.size < watched.length || places.size < world.locations.length)
    throw new Error("two recordings or locations have the same name; an audit by name would mix them up");
  return watched;
}
