/** Plays a plan: does each thing at its time and writes down when it truly happened. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../src/lib/clock.ts";
import type { Faults } from "../../src/simulator/faults.ts";
import type { Action, ServiceFault } from "./action.ts";
import type { Stage } from "./environment.ts";
import { createPeople } from "./operator.ts";
import type { Replicas } from "./replicas.ts";
import type { Held } from "./suppressions.ts";
import type { Span } from "./timeline.ts";

/** What the run did to the daemon and around it. */
export interface Diary {
  /** When a replica or Redis was killed. */
  readonly crashes: Instant[];
  readonly redisDown: Span[];
  /** The service did not do its part. */
  readonly blind: Span[];
  /** Any fault at all, until everything should have got over it. */
  readonly disturbed: Span[];
  /** Silences and acknowledgements that were asked for. */
  readonly held: Held[];
}

/** After a fault of the service, of a receiver, of a process: until nothing of it is left to be felt. */
const AFTER_MS = { service: 5_000, receiver: 12_000, process: 10_000 } as const;

const RESTARTS = 100;

/** Plays everything; resolves when the last fault is over. `signal` leaves out what has not begun. */
export async function play(
  plan: readonly Action[],
  { stage, replicas, diary }: { stage: Stage; replicas: Replicas; diary: Diary },
  signal: AbortSignal,
): Promise<void> {
  const began = Date.now();
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const acts = createActs(stage, replicas, diary);
  const underWay: Promise<void>[] = [];
  for (const action of plan) {
    await sleep(Math.max(0, began + action.at - Date.now()), undefined, { signal: over }).catch(() => {});
    if (over.aborted) break;
    underWay.push(acts(action).catch((thrown: unknown) => failed.abort(thrown)));
  }
  await Promise.all(underWay);
  failed.signal.throwIfAborted();
}

function createActs(stage: Stage, replicas: Replicas, diary: Diary): (action: Action) => Promise<void> {
  const { simulator, redis, mail, watched } = stage;
  const people = createPeople(() => replicas.urls());
  const { world, faults } = simulator;
  const slackTroubles = new Map<number, symbol>();
  let mailTrouble: symbol | undefined;
  let redisIsUp = true;

  async function noted(
    list: "blind" | "redisDown",
    afterMs: number,
    work: () => Promise<void>,
  ): Promise<void> {
    const from = Date.now();
    await work();
    const to = Date.now();
    diary[list].push({ from, to });
    diary.disturbed.push({ from, to: to + afterMs });
  }

  async function killRedis(downMs: number): Promise<void> {
    if (!redisIsUp) return;
    redisIsUp = false;
    diary.crashes.push(Date.now());
    await noted("redisDown", AFTER_MS.process, async () => {
      await redis.kill();
      await sleep(downMs);
      await startAgain(redis);
    });
    redisIsUp = true;
  }

  async function freezeRedis(lastsMs: number): Promise<void> {
    const { pid } = redis;
    if (!redisIsUp || pid === undefined) return;
    redisIsUp = false;
    await noted("blind", AFTER_MS.process, async () => {
      process.kill(pid, "SIGSTOP");
      await sleep(lastsMs);
      process.kill(pid, "SIGCONT");
    });
    redisIsUp = true;
  }

  async function freeze(replica: number, lastsMs: number): Promise<void> {
    await noted("blind", AFTER_MS.process, () => replicas.freeze(replica, lastsMs));
  }

  async function end(replica: number, how: "kill" | "stop", downMs: number): Promise<void> {
    const from = Date.now();
    await replicas.end(replica, how, downMs);
    diary.disturbed.push({ from, to: Date.now() + AFTER_MS.process });
  }

  async function ambush({ on, victim }: Extract<Action, { kind: "ambush" }>): Promise<void> {
    await stage.nextAccepted(on);
    if (victim === "redis") return killRedis(0);
    await Promise.all(replicas.places.map((replica) => end(replica, "kill", 0)));
  }

  async function troubleSlack({
    webhooks,
    trouble,
    lastsMs,
  }: Extract<Action, { kind: "slack" }>): Promise<void> {
    const mine = Symbol(trouble.answer);
    const from = Date.now();
    for (const webhook of webhooks) {
      slackTroubles.set(webhook, mine);
      stage.trouble(webhook, trouble);
    }
    await sleep(lastsMs);
    for (const webhook of webhooks) {
      if (slackTroubles.get(webhook) === mine) stage.trouble(webhook, undefined);
    }
    diary.disturbed.push({ from, to: Date.now() + AFTER_MS.receiver });
  }

  async function troubleMail({ responses, lastsMs }: Extract<Action, { kind: "mail" }>): Promise<void> {
    const mine = Symbol("mail");
    const from = Date.now();
    mailTrouble = mine;
    mail.respond(responses);
    await sleep(lastsMs);
    if (mailTrouble === mine) mail.respond({});
    diary.disturbed.push({ from, to: Date.now() + AFTER_MS.receiver });
  }

  async function silence({ recordings, lastsMs, endAfterMs }: Extract<Action, { kind: "silence" }>) {
    const all = recordings.flatMap((i) => watched[i] ?? []);
    const [first] = all;
    if (!first) return;
    const by =
      all.length > 1
        ? ({ label: "location_id", id: first.locationId } as const)
        : ({ label: "recording_id", id: first.id } as const);
    const ids = all.map(({ id }) => id);
    diary.held.push(await people.silence(by, ids, { lastsMs, endAfterMs }));
  }

  async function acknowledge(recording: number): Promise<void> {
    const held = await people.acknowledge(watched[recording]?.id ?? "");
    if (held) diary.held.push(held);
  }

  return async (action) => {
    switch (action.kind) {
      case "status":
        for (const i of action.recordings) world.setStatus(watched[i]?.id ?? "", action.status);
        return;
      case "silence":
        return silence(action);
      case "ack":
        return acknowledge(action.recording);
      case "kill":
      case "stop":
        await Promise.all(action.replicas.map((replica) => end(replica, action.kind, action.downMs)));
        return;
      case "freeze":
        return freeze(action.replica, action.lastsMs);
      case "ambush":
        return ambush(action);
      case "redis":
        return killRedis(action.downMs);
      case "freeze_redis":
        return freezeRedis(action.lastsMs);
      case "service":
        return noted("blind", AFTER_MS.service, () => troubleService(faults, action.faults, action.lastsMs));
      case "slack":
        return troubleSlack(action);
      case "mail":
        return troubleMail(action);
    }
  };
}

async function troubleService(
  faults: Faults,
  wanted: readonly ServiceFault[],
  lastsMs: number,
): Promise<void> {
  for (const [name, params] of wanted) faults.setUntyped(name, params);
  await sleep(lastsMs);
  for (const [name] of wanted) faults.clear(name);
}

/** What is left of the killed one may hold the port for a moment: a thread that still writes to the disk. */
async function startAgain(redis: Stage["redis"]): Promise<void> {
  for (let left = RESTARTS; ; left--) {
    try {
      return await redis.restart();
    } catch (thrown) {
      if (left === 0) throw thrown;
      await sleep(200);
    }
  }
}
