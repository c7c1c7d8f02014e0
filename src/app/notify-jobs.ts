/** The half of the engine that tells: what is due, what holds it back, digests, the heartbeat, the start's summary. */
import { type Integration, isProgram } from "../alerting/route.ts";
import { createHeartbeat } from "../cluster/heartbeat.ts";
import type { createWake } from "../cluster/reconcile.ts";
import type { createAssigned } from "../cluster/shard-assignment.ts";
import { createAnnotate } from "../deliver/annotate.ts";
import { createStart } from "../deliver/cold-start.ts";
import { createDeliver } from "../deliver/deliver.ts";
import { createHolds, type HeldAlert } from "../deliver/suppression.ts";
import { createDigestJob } from "../digest/send.ts";
import { createDigestWork } from "../digest/worker.ts";
import type { readFleet } from "../store/read-fleet.ts";
import type { EngineDeps } from "./engine-deps.ts";

interface NotifyingDeps extends Omit<EngineDeps, "fleet"> {
  readonly assigned: ReturnType<typeof createAssigned>;
  readonly integrations: readonly Integration[];
  readonly wake: ReturnType<typeof createWake>;
  fleet(): ReturnType<typeof readFleet>;
}

export interface Notifying {
  /** The summary after a start without memory. */
  readonly start: ReturnType<typeof createStart>;
  /** Starts the workers of the duty `notify`. */
  work(): Promise<void>;
  /** Everything that fires, with what holds it back. */
  held(): Promise<HeldAlert[]>;
  lookAtHeart(): Promise<void>;
  /** A message under way is sent and written down, and no other is begun. */
  rest(): void;
  stop(): void;
}

/** Nothing runs before `work`. */
export function createNotifying(deps: NotifyingDeps): Notifying {
  const { config, clock, log, store, queues, metrics, assigned, integrations, wake, fleet } = deps;
  const { watch, rules, route } = config;
  const holds = createHolds({ clock, store, route, inhibitRules: config.inhibitRules });
  const delivery = createDeliver({
    clock,
    log,
    groups: store.groups,
    channels: deps.channels,
    externalUrl: config.http.externalUrl,
    stormMs: watch.statusIntervalMs,
    holds: (claims) => holds.ofGroups(claims),
    annotate: createAnnotate({ ...store, log }),
    toRefusal: deps.toRefusal,
    wake,
    told: ({ receiver, type }, _reason, latency) => metrics.notified(receiver, type, latency),
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
      takeTurn: store.heartbeatTurn,
      call: deps.callHeartbeat,
      beat: metrics.heartbeat,
    });

  const start = createStart({
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
    held: () => holds.ofAll(),
    wake,
  });
  const sendDigest = createDigestJob({ ...deps, fleet, mail: deps.digestMail });

  return {
    start,
    held: () => holds.ofAll(),
    lookAtHeart: async () => void (await heartbeat?.look()),
    rest: () => delivery.rest(),

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
