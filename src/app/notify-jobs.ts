/** The half of the engine that tells: what is due, what holds it back, digests, the heartbeat, the start's summary. */
import { type Integration, isProgram } from "../alerting/route.ts";
import { createHeartbeat } from "../cluster/heartbeat.ts";
import type { createWake } from "../cluster/reconcile.ts";
import type { createAssigned } from "../cluster/shard-assignment.ts";
import { createAnnotate } from "../deliver/annotate.ts";
import { createColdStart } from "../deliver/cold-start.ts";
import { createDeliver } from "../deliver/deliver.ts";
import { createSuppression, type SuppressibleAlert } from "../deliver/suppression.ts";
import { createDigestJob } from "../digest/send.ts";
import { createDigestWork } from "../digest/worker.ts";
import type { readFleet } from "../store/read-fleet.ts";
import type { EngineDeps } from "./engine-deps.ts";

interface NotifyingDeps extends EngineDeps {
  readonly assigned: ReturnType<typeof createAssigned>;
  readonly integrations: readonly Integration[];
  readonly wake: ReturnType<typeof createWake>;
  fleet(): ReturnType<typeof readFleet>;
}

export interface Notifying {
  /** The summary after a start without memory. */
  readonly start: ReturnType<typeof createColdStart>;
  /** Starts the workers of the duty `notify`. */
  work(): Promise<void>;
  /** Everything that fires, with what holds it back. */
  suppressed(): Promise<SuppressibleAlert[]>;
  checkHeartbeat(): Promise<void>;
  /** A message under way is sent and written down, and no other is begun. */
  drain(): void;
  stop(): void;
}

/** Nothing runs before `work`. */
export function createNotifying(deps: NotifyingDeps): Notifying {
  const { config, clock, log, store, queues, metrics, assigned, integrations, wake, fleet } = deps;
  const { watch, rules, route } = config;
  const suppressions = createSuppression({ clock, store, route, inhibitRules: config.inhibitRules });
  const delivery = createDeliver({
    clock,
    log,
    groups: store.groups,
    senders: deps.senders,
    externalUrl: config.http.externalUrl,
    stormMs: watch.statusIntervalMs,
    suppressions: (claims) => suppressions.ofGroups(claims),
    annotate: createAnnotate({ ...store, log }),
    toRefusal: deps.toRefusal,
    wake,
    notified: ({ receiver, type }, _reason, latency) => metrics.notified(receiver, type, latency),
    failed: ({ receiver, type }, code) => metrics.notifyFailed(receiver, type, code),
    suppressed: ({ receiver }, why) => metrics.suppressed(receiver, why),
  });

  const heartbeat =
    config.heartbeat &&
    deps.callHeartbeat &&
    createHeartbeat({
      clock,
      log,
      queues,
      store: store.shards,
      intervalMs: config.heartbeat.intervalMs,
      statusIntervalMs: watch.statusIntervalMs,
      requestTimeoutMs: config.service.requestTimeoutMs,
      takeLease: store.heartbeatLease,
      call: deps.callHeartbeat,
      beat: metrics.heartbeat,
    });

  const start = createColdStart({
    clock,
    log,
    start: store.start,
    store: store.shards,
    groups: store.groups,
    assigned,
    integrations: integrations.filter((one) => !isProgram(one)).map(({ id }) => id),
    waiting: integrations.map(({ id }) => id),
    rules,
    statusIntervalMs: watch.statusIntervalMs,
    suppressed: () => suppressions.ofAll(),
    wake,
  });
  const sendDigest = createDigestJob({ ...deps, fleet, mail: deps.digestMail });

  return {
    start,
    suppressed: () => suppressions.ofAll(),
    checkHeartbeat: async () => void (await heartbeat?.look()),
    drain: () => delivery.drain(),

    async work() {
      await queues.work("deliver", Math.max(4, integrations.length) + 1, async ({ data }) => {
        if (data.heartbeat) await heartbeat?.round();
        else await delivery.deliver(String(data.integration));
      });
      await queues.work("digest", 1, createDigestWork({ clock, log, queues, send: sendDigest }));
    },

    stop() {
      delivery.stop();
      heartbeat?.stop();
    },
  };
}
