/**
 * What the configuration decides, from one load of it to the next: the service's client, the channels and the
 * engine. The house (Redis, queues, HTTP, metrics) outlives every shift; timers and what was told are in Redis, so
 * that a change of shifts tells nothing again.
 */
import type { Registry } from "prom-client";
import type { Integration } from "../alerting/route.ts";
import type { Queues } from "../cluster/queues.ts";
import { type Replicas, type Role, rolesOf } from "../cluster/replicas.ts";
import type { Config } from "../config/config.ts";
import { fingerprint } from "../config/hash.ts";
import { retireIntegration } from "../deliver/retire-integration.ts";
import type { SelfAlertState } from "../health/evaluate-self.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { createHeartbeatCall, type HeartbeatCall } from "../notify/heartbeat.ts";
import { reportOwedEnds } from "../poll/reroute.ts";
import { createService, type Service } from "../service/service.ts";
import type { SelfAlertStore } from "../store/self-alerts.ts";
import type { Store } from "../store/store.ts";
import { createEngine, type Engine } from "./engine.ts";
import { createIntegrations, type Integrations } from "./integrations.ts";

/** The next shift waits this long for the last one's jobs, then begins beside them. */
const HANDOVER_MS = 2_000;
/** Longer than any send: then channels and the service's client are closed whatever is under way. */
const DRAIN_MS = 15_000;
const START_REST_MS = 500;
const START_REST_MOST_MS = 30_000;

/** What outlives every shift. */
export interface Runtime {
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly selfAlerts: SelfAlertStore<SelfAlertState>;
  readonly queues: Queues;
  readonly registry: Registry;
  readonly metrics: Metrics;
  /** Which endpoints of the service answer. */
  readonly up: Map<string, boolean>;
  readonly replicas: Replicas;
  attempted(at: Instant): void;
}

export interface Setup {
  readonly config: Config;
  readonly integrations: Integrations;
  readonly service: Service;
  /** Undefined without `heartbeat`. */
  readonly heartbeat: HeartbeatCall | undefined;
  readonly engine: Engine;
}

/** Builds a shift; nothing runs before its engine is started. A service whose section did not change is taken over. */
export function buildSetup(runtime: Runtime, config: Config, before?: Setup): Setup {
  const integrations = createIntegrations(config, runtime.log.child({ component: "notify" }));
  const kept = before && isSame(before.config.service, config.service) ? before.service : undefined;
  const heartbeat = config.heartbeat && createHeartbeatCall(config.heartbeat);
  return withEngine(runtime, {
    config,
    integrations,
    heartbeat,
    service: kept ?? openService(runtime, config),
  });
}

/** The shift with an engine of its own. */
function withEngine(runtime: Runtime, setup: Omit<Setup, "engine">): Setup {
  const { config, integrations, service, heartbeat } = setup;
  const { clock, log, store, selfAlerts, queues, metrics, attempted, replicas } = runtime;
  const { byId, toRefusal, digestMail, isPassing } = integrations;
  const engine = createEngine({
    config,
    clock,
    log,
    service,
    store,
    selfAlerts,
    queues,
    senders: byId,
    metrics,
    callHeartbeat: heartbeat && ((signal) => heartbeat.call(signal)),
    toRefusal,
    digestMail,
    isPassing,
    attempted,
    isActive: (role) => replicas.isActive(role),
  });
  return { config, integrations, service, heartbeat, engine };
}

function openService({ clock, log, metrics, up }: Runtime, config: Config): Service {
  return createService({
    config: config.service,
    clock,
    log,
    observer: observe(metrics, up),
  });
}

/** The metrics as the service's observer; which endpoints answer is kept beside them for readiness. */
function observe(metrics: Metrics, up: Map<string, boolean>) {
  return {
    ...metrics,
    request(endpoint: string, outcome: string, seconds: number) {
      metrics.request(endpoint, outcome, seconds);
      const answers = outcome === "ok" || outcome === "bad_request";
      if (outcome === "closed") return;
      up.set(endpoint, answers);
      metrics.serviceUp(endpoint, answers);
    },
  };
}

/** Two parts of configurations that say the same; what a matcher does follows from what it says. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** An integration that is gone, while it tells what it owes. */
interface RetiringIntegration {
  readonly stop: AbortController;
  done: Promise<void>;
}

/** The shift in force, and its change for the next one. */
export interface Reloader {
  current(): Setup;
  /** Starts the work; tries until it works, unless stopped. */
  begin(): Promise<void>;
  /**
   * Puts a configuration in force: the last shift takes no new work, the next one begins, integrations that are gone
   * tell the ends they owe. One change at a time. Throws, with everything as it was, where it cannot be built.
   */
  change(config: Config): Promise<void>;
  /** Follows the roll: takes new work for the duties whose configuration this is, and for no other. */
  assign(): Promise<void>;
  /** Ends the work; bounded by the queues' own deadline. */
  stop(): void;
  /** Closes what the shifts opened. */
  close(): Promise<void>;
}

export function createReloader(runtime: Runtime, config: Config): Reloader {
  const { log } = runtime;
  let current = buildSetup(runtime, config);
  let turn: Promise<void> = Promise.resolve();
  let roles: ReadonlySet<Role> = new Set();
  const retiring = new Map<string, RetiringIntegration>();
  const stopping = new AbortController();
  const unclosed = new Set<() => Promise<unknown>>();
  /** The one at work, and those that still end what they had begun. */
  const engines = new Set<Engine>([current.engine]);

  function inSequence(work: () => Promise<void>): Promise<void> {
    turn = turn.then(work, work);
    return turn;
  }

  /** `anew`: its configuration has been loaded just now, and is in force before any other. */
  async function start(setup: Setup, anew: boolean): Promise<void> {
    let announced = !anew;
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      try {
        await setup.engine.prepare();
        if (!announced) await runtime.replicas.announce(fingerprint(setup.config));
        announced = true;
        roles = runtime.replicas.active();
        await setup.engine.start({ roles, retiring: new Set(retiring.keys()) });
        return;
      } catch (thrown) {
        if (stopping.signal.aborted) return;
        log.error({ err: toError(thrown), attempt }, "the start failed; it is tried again");
        const restMs = Math.min(START_REST_MOST_MS, START_REST_MS * attempt);
        await new Promise((resolve) => setTimeout(resolve, restMs).unref());
      }
    }
  }

  async function change(next: Config): Promise<void> {
    const before = current;
    const after = buildSetup(runtime, next, before);
    runtime.metrics.knowIntegrations(after.integrations.integrations);
    // What a newcomer was owed while it was gone it is told now; what is still owed elsewhere is counted at the start.
    for (const { id, receiver, type } of after.integrations.integrations) {
      if (!before.integrations.byId.has(id)) runtime.metrics.resolvedOwed(receiver, type, 0);
    }
    await cancelRetirements(after);
    const notifies = rolesOf(runtime.replicas.roleOption).includes("notify");
    const gone = !notifies
      ? []
      : [...before.integrations.byId.keys()].filter((id) => !after.integrations.byId.has(id));
    for (const id of gone) retiring.set(id, { stop: new AbortController(), done: Promise.resolve() });
    const { ended } = await replace(before, after);
    await start(after, true);
    void drain(before, after, { ended, gone });
  }

  /** Integrations that are configured again say no farewell; one that is saying it ends that first. */
  async function cancelRetirements({ integrations }: Setup): Promise<void> {
    for (const id of integrations.byId.keys()) {
      const retirement = retiring.get(id);
      if (!retirement) continue;
      retirement.stop.abort();
      await withDeadline(retirement.done, DRAIN_MS).catch(() => {});
      retiring.delete(id);
    }
  }

  async function assign(): Promise<void> {
    if (isSame([...roles], [...runtime.replicas.active()])) return;
    const before = current;
    const after = withEngine(runtime, before);
    const { ended } = await replace(before, after);
    void ended.then(() => engines.delete(before.engine));
    await start(after, false);
  }

  /** The shift in force takes no new work any more; gives the promise that it has ended what it had. */
  async function replace(before: Setup, after: Setup): Promise<{ ended: Promise<void> }> {
    current = after;
    engines.add(after.engine);
    const ended = before.engine.retire().catch((thrown: unknown) => {
      log.debug({ err: toError(thrown) }, "the end of a shift was not clean");
    });
    await withDeadline(ended, HANDOVER_MS).catch(() => {});
    return { ended };
  }

  /** The last shift's messages under way end, then those that are gone say what they owe, then it is closed. */
  async function drain(
    before: Setup,
    after: Setup,
    { ended, gone }: { ended: Promise<void>; gone: readonly string[] },
  ): Promise<void> {
    const close = async () => {
      unclosed.delete(close);
      await before.integrations.close();
      await before.heartbeat?.close();
      if (before.service !== after.service) await before.service.close();
    };
    unclosed.add(close);
    await withDeadline(ended, DRAIN_MS).catch(() => {});
    engines.delete(before.engine);
    await Promise.all(
      gone.map((id) => {
        const retirement = retiring.get(id);
        if (!retirement) return undefined;
        retirement.done = retire(before, id, retirement);
        return retirement.done;
      }),
    );
    await reportOwed(gone);
    await close().catch((thrown: unknown) => log.debug({ err: toError(thrown) }, "closing was not clean"));
  }

  /** Of integrations that are still gone. */
  async function reportOwed(gone: readonly string[]): Promise<void> {
    const { clock, store, metrics } = runtime;
    const owing = gone.filter((id) => !current.integrations.byId.has(id));
    if (owing.length === 0 || stopping.signal.aborted) return;
    const deps = { clock, log, store, owed: metrics.resolvedOwed };
    await reportOwedEnds(deps, owing).catch((thrown: unknown) => {
      if (!stopping.signal.aborted) log.error({ err: toError(thrown) }, "what is owed could not be read");
    });
  }

  async function retire(setup: Setup, id: string, retirement: RetiringIntegration): Promise<void> {
    const { clock, store, metrics } = runtime;
    const { integrations, config } = setup;
    const deps = {
      clock,
      log,
      groups: store.groups,
      senders: integrations.byId,
      externalUrl: config.http.externalUrl,
      toRefusal: integrations.toRefusal,
      ...deliveryMetrics(metrics),
    };
    const signal = AbortSignal.any([retirement.stop.signal, stopping.signal]);
    await retireIntegration(deps, id, signal).catch((thrown: unknown) => {
      if (!signal.aborted)
        log.error({ err: toError(thrown), integration: id }, "the ends owed were not told");
    });
    if (retiring.get(id) === retirement) retiring.delete(id);
  }

  return {
    current: () => current,
    begin: () => inSequence(() => start(current, true)),
    change: (next) => inSequence(() => change(next)),
    assign: () => inSequence(assign),
    stop() {
      stopping.abort();
      for (const engine of engines) engine.stop();
    },
    async close() {
      await Promise.all([...unclosed].map((close) => close()));
      await current.integrations.close();
      await current.heartbeat?.close();
      await current.service.close();
    },
  };
}

function deliveryMetrics(metrics: Metrics) {
  return {
    notified: ({ receiver, type }: Integration, _reason: string, latency: number | undefined) =>
      metrics.notified(receiver, type, latency),
    failed: ({ receiver, type }: Integration, code: Parameters<Metrics["notifyFailed"]>[2]) =>
      metrics.notifyFailed(receiver, type, code),
    suppressed: ({ receiver }: Integration, why: string) => metrics.suppressed(receiver, why),
  };
}
