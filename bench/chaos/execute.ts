/** Executes a plan: performs each action at its time and records when it happened. */
import { setTimeout as sleep } from "node:timers/promises";
import { traceOf } from "../../src/alerting/conversation.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Faults } from "../../src/simulator/faults.ts";
import type { Action, ServiceFault } from "./action.ts";
import type { Environment } from "./environment.ts";
import type { Episode } from "./notices.ts";
import { createOperator } from "./operator.ts";
import type { Replicas } from "./replicas.ts";
import { type KnownSuppression, pressedSuppressions } from "./suppressions.ts";
import type { Span } from "./timeline.ts";

/** Faults and operator actions of a run, as they happened. */
export interface RunLog {
  /** When a replica or Redis was killed. */
  readonly crashes: Instant[];
  readonly redisDown: Span[];
  /** When the service gave no good answers. */
  readonly unreachable: Span[];
  /** Any fault, until its effects are over. */
  readonly disturbed: Span[];
  /** Requested silences and acknowledgements. */
  readonly suppressions: KnownSuppression[];
}

/** How long a fault of the service, a receiver or a process has effects. */
const AFTER_MS = { service: 5_000, receiver: 12_000, process: 10_000 } as const;

const RESTARTS = 100;

/** Executes the plan; resolves when the last action ends. `signal` skips actions that have not begun. */
export async function execute(
  plan: readonly Action[],
  { environment, replicas, runLog }: { environment: Environment; replicas: Replicas; runLog: RunLog },
  signal: AbortSignal,
): Promise<void> {
  const began = Date.now();
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const actions = createActions(environment, replicas, runLog);
  const underWay: Promise<void>[] = [];
  for (const action of plan) {
    await sleep(Math.max(0, began + action.at - Date.now()), undefined, { signal: over }).catch(() => {});
    if (over.aborted) break;
    underWay.push(actions(action).catch((thrown: unknown) => failed.abort(thrown)));
  }
  await Promise.all(underWay);
  failed.signal.throwIfAborted();
}

function createActions(
  environment: Environment,
  replicas: Replicas,
  runLog: RunLog,
): (action: Action) => Promise<void> {
  const { simulator, redis, app, receivers, watched } = environment;
  const operator = createOperator(() => replicas.urls());
  const { world, faults } = simulator;
  let redisIsUp = true;

  async function noted(list: "unreachable" | "redisDown", afterMs: number, work: () => Promise<void>): Promise<void> {
    const from = Date.now();
    await work();
    const to = Date.now();
    runLog[list].push({ from, to });
    runLog.disturbed.push({ from, to: to + afterMs });
  }

  async function killRedis(downMs: number): Promise<void> {
    if (!redisIsUp) return;
    redisIsUp = false;
    runLog.crashes.push(Date.now());
    await noted("redisDown", AFTER_MS.process, async () => {
      await redis.kill();
      await sleep(downMs);
      await startAgain(redis);
    });
    redisIsUp = true;
  }

  async function freezeRedis(lastsMs: number): Promise<void> {
    const { pid } = redis;
    if (!redisIsUp) return;
    redisIsUp = false;
    await noted("unreachable", AFTER_MS.process, async () => {
      process.kill(pid, "SIGSTOP");
      await sleep(lastsMs);
      process.kill(pid, "SIGCONT");
    });
    redisIsUp = true;
  }

  async function end(replica: number, how: "kill" | "stop", downMs: number): Promise<void> {
    const from = Date.now();
    await replicas.end(replica, how, downMs);
    runLog.disturbed.push({ from, to: Date.now() + AFTER_MS.process });
  }

  async function ambush({ on, victim }: Extract<Action, { kind: "ambush" }>): Promise<void> {
    if (on === "webhook") await receivers.nextAccepted();
    else await app.nextAccepted(on === "app_unanswered");
    if (victim === "redis") return killRedis(0);
    await Promise.all(replicas.numbers.map((replica) => end(replica, "kill", 0)));
  }

  async function faulted(fault: Promise<void>): Promise<void> {
    const from = Date.now();
    await fault;
    runLog.disturbed.push({ from, to: Date.now() + AFTER_MS.receiver });
  }

  async function press({ button, which }: Extract<Action, { kind: "press" }>): Promise<void> {
    const pressed = await app.press(button, which);
    if (!pressed) return;
    const alerts = alertsOf(environment, pressed.conversation);
    const places = new Set(alerts.map(({ locationId }) => locationId));
    const there = watched.filter(({ locationId }) => places.has(locationId)).map(({ id }) => id);
    runLog.suppressions.push(...pressedSuppressions(pressed, there, alerts));
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
    runLog.suppressions.push(await operator.silence(by, ids, { lastsMs, endAfterMs }));
  }

  async function acknowledge({ recording, endAfterMs }: Extract<Action, { kind: "ack" }>): Promise<void> {
    const acknowledgement = await operator.acknowledge(watched[recording]?.id ?? "", endAfterMs);
    if (acknowledgement) runLog.suppressions.push(acknowledgement);
  }

  return async (action) => {
    switch (action.kind) {
      case "status":
        for (const i of action.recordings) world.setStatus(watched[i]?.id ?? "", action.status);
        return;
      case "silence":
        return silence(action);
      case "ack":
        return acknowledge(action);
      case "kill":
      case "stop":
        await Promise.all(action.replicas.map((replica) => end(replica, action.kind, action.downMs)));
        return;
      case "freeze":
        return noted("unreachable", AFTER_MS.process, () => replicas.freeze(action.replica, action.lastsMs));
      case "ambush":
        return ambush(action);
      case "redis":
        return killRedis(action.downMs);
      case "freeze_redis":
        return freezeRedis(action.lastsMs);
      case "service":
        return noted("unreachable", AFTER_MS.service, () => faultService(faults, action.faults, action.lastsMs));
      case "receivers":
        return faulted(receivers.fault(action.names, action.fault, action.lastsMs));
      case "app":
        return faulted(app.fault(action.method, action.answer, action.lastsMs));
      case "press":
        return press(action);
      case "delete_root":
        return app.deleteRoot(action.which);
    }
  };
}

/** What a conversation is about. */
function alertsOf({ app, sweeps }: Environment, conversation: string): Episode[] {
  const traces = new Set(app.posts().flatMap((post) => (post.conversation === conversation ? post.traces : [])));
  return [...sweeps.episodes.values()].filter(({ id }) => traces.has(traceOf("+", id)));
}

async function faultService(faults: Faults, wanted: readonly ServiceFault[], lastsMs: number): Promise<void> {
  for (const [name, params] of wanted) faults.set(name, params);
  await sleep(lastsMs);
  for (const [name] of wanted) faults.clear(name);
}

/** Retries, since a thread of the killed server that still writes to disk keeps the port for a moment. */
async function startAgain(redis: Environment["redis"]): Promise<void> {
  for (let left = RESTARTS; ; left--) {
    try {
      return await redis.restart();
    } catch (thrown) {
      if (left === 0) throw thrown;
      await sleep(200);
    }
  }
}
