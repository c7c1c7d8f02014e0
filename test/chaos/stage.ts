/** Everything around the daemon: the simulated service, a real Redis that keeps its data, Slack and a mail server. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../src/lib/clock.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { limitsBroken, type SlackAnswer, type SlackSink, startSlackSink } from "../support/slack-sink.ts";
import { type SmtpSink, startSmtpSink } from "../support/smtp-sink.ts";
import type { SlackTrouble } from "./action.ts";
import type { Watched } from "./audit.ts";
import { configText, receiverOf } from "./config-text.ts";
import { type Read, readMail, readSlack, type Telling } from "./tellings.ts";

/** How long Slack says nothing while somebody is killed. */
const AMBUSH_MS = 300;
const PATIENCE_MS = 15_000;

export interface Fleet {
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly seed: number;
  readonly webhooks: number;
}

export interface Stage {
  readonly simulator: Simulator;
  readonly redis: TestRedis;
  readonly mail: SmtpSink;
  readonly config: string;
  readonly watched: readonly Watched[];
  /** By location: when the service answered about it. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  /** What a webhook answers; undefined: as Slack does when it is well. */
  trouble(webhook: number, trouble: SlackTrouble | undefined): void;
  /** Resolves when Slack or the mail server has accepted its next message and not yet said so; after 15 s anyhow. */
  nextAccepted(by: "slack" | "mail"): Promise<void>;
  /** Everything that was accepted so far, read. */
  told(): { tellings: Telling[]; unreadable: string[]; messages: number; lastAt: Instant };
  close(): Promise<void>;
}

/** Starts all of it; `logLevel` is the daemon's. */
export async function startStage(fleet: Fleet, logLevel: "info" | "debug"): Promise<Stage> {
  const [simulator, redis, slack, mail] = await Promise.all([
    startSimulator(fleet),
    startTestRedis({ appendonly: true }),
    startSlackSink(),
    startSmtpSink(),
  ]);
  // A schedule would hold what an audit by status alone waits for.
  for (const { id } of simulator.world.recordings) simulator.world.setSchedule(id, false);
  const accepted = acceptSlack(slack);
  const webhooks = Array.from({ length: fleet.webhooks }, (_, i) => `${slack.url}-${i}`);
  return {
    simulator,
    redis,
    mail,
    config: configText({ simulator, redis, mail, webhooks, logLevel }),
    watched: watchedOf(simulator, fleet.webhooks),
    answers: noteAnswers(simulator),
    trouble: accepted.trouble,
    async nextAccepted(by) {
      const before = mail.messages.length;
      const isNext = () => mail.messages.length > before;
      if (by === "slack") await Promise.race([accepted.next(), sleep(PATIENCE_MS)]);
      else await mail.waitFor(isNext, PATIENCE_MS).catch(() => {});
    },
    told: () => toldSoFar(accepted.messages, mail),
    async close() {
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
    const integration = `slack/${path.split("-").at(-1)}`;
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

function toldSoFar(slack: readonly Accepted[], mail: SmtpSink): ReturnType<Stage["told"]> {
  const all = [
    ...slack.map(({ at, integration, shown }) => ({ at, integration, read: readSlack(shown) })),
    ...mail.messages.map(({ receivedAt, rcpts, text }) => ({
      at: receivedAt,
      integration: `email/${/\d+/.exec(rcpts[0] ?? "")?.[0]}`,
      read: readMail(text),
    })),
  ].sort((a, b) => a.at - b.at);
  const lines = ({ read, ...to }: { at: Instant; integration: string; read: Read }, message: number) =>
    read.lines.map((line): Telling => ({ ...line, ...to, message }));
  return {
    tellings: all.flatMap(lines),
    unreadable: all.flatMap(({ read, integration }) =>
      read.unreadable.map((line) => `${integration}: ${line}`),
    ),
    messages: all.length,
    lastAt: all.at(-1)?.at ?? 0,
  };
}

function watchedOf({ world }: Simulator, webhooks: number): Watched[] {
  const watched = world.locations.flatMap(({ id: locationId, recordings }) => {
    const receiver = receiverOf(locationId, webhooks);
    const integrations = [`slack/${receiver}`, `email/${receiver}`];
    return recordings.map(({ id, name }) => ({ id, name, locationId, integrations }));
  });
  if (new Set(watched.map(({ name }) => name)).size < watched.length)
    throw new Error("two simulated recordings have the same name; an audit by name would mix them up");
  return watched;
}
