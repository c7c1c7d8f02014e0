/** The jobs of the role `notify`: deliveries, digests, the heartbeat, and the summary of a cold start. */
import { type Integration, isProgram } from "../alerting/route.ts";
import { createHeartbeat } from "../cluster/heartbeat.ts";
import { createAnnotate } from "../deliver/annotate.ts";
import { createColdStart } from "../deliver/cold-start.ts";
import { createDeliver, type DeliverDeps } from "../deliver/deliver.ts";
import { createSuppression, type SuppressibleAlert } from "../deliver/suppression.ts";
import { createDigestWork } from "../digest/schedule.ts";
import { createDigestJob } from "../digest/send.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { JobContext } from "./engine.ts";

type Suppression = ReturnType<typeof createSuppression>;

export class NotifyJobs {
  readonly coldStart: ReturnType<typeof createColdStart>;
  readonly #context: JobContext;
  readonly #suppression: Suppression;
  readonly #delivery: ReturnType<typeof createDeliver>;
  readonly #heartbeat: ReturnType<typeof createHeartbeat> | undefined;

  /** Nothing runs before `start`. */
  constructor(context: JobContext) {
    const { clock, store, config } = context;
    this.#context = context;
    this.#suppression = createSuppression({ clock, store, ...config });
    this.#delivery = deliveryOf(context, this.#suppression);
    this.#heartbeat = heartbeatOf(context);
    this.coldStart = coldStartOf(context, this.#suppression);
  }

  async start(): Promise<void> {
    const { queues, integrations, senders } = this.#context;
    await queues.work("deliver", Math.max(4, integrations.length) + 1, async ({ data }) => {
      if (data.heartbeat) await this.#heartbeat?.round();
      else await this.#delivery.deliver(String(data.integration));
    });
    const send = createDigestJob({ ...this.#context, ...senders, mail: senders.digestMail });
    await queues.work("digest", 1, createDigestWork({ ...this.#context, send }));
  }

  /** Everything that fires, with what suppresses it. */
  firing(): Promise<SuppressibleAlert[]> {
    return this.#suppression.ofAll();
  }

  async checkHeartbeat(): Promise<void> {
    await this.#heartbeat?.check();
  }

  /** A message under way is sent and settled, and no other is begun. */
  drain(): void {
    this.#delivery.drain();
  }

  stop(): void {
    this.#delivery.stop();
    this.#heartbeat?.stop();
  }
}

/** What deliveries count. */
export function deliveryMetrics(metrics: Metrics): Pick<DeliverDeps, "notified" | "failed" | "suppressed"> {
  return {
    notified: ({ receiver, type }, _reason, latency) => metrics.notified(receiver, type, latency),
    failed: ({ receiver, type }, code) => metrics.notifyFailed(receiver, type, code),
    suppressed: ({ receiver }, why) => metrics.suppressed(receiver, why),
  };
}

function deliveryOf(context: JobContext, suppression: Suppression): ReturnType<typeof createDeliver> {
  const { log, store, config, senders, metrics, statusIntervalMs } = context;
  return createDeliver({
    ...context,
    groups: store.groups,
    senders: senders.byId,
    externalUrl: config.http.externalUrl,
    stormMs: statusIntervalMs,
    suppressions: (claims) => suppression.ofGroups(claims),
    annotate: createAnnotate({ ...store, log }),
    toRefusal: senders.toRefusal,
    ...deliveryMetrics(metrics),
  });
}

function heartbeatOf(context: JobContext): ReturnType<typeof createHeartbeat> | undefined {
  const { config, store, metrics, heartbeat } = context;
  if (!config.heartbeat || !heartbeat) return undefined;
  return createHeartbeat({
    ...context,
    store: store.shards,
    intervalMs: config.heartbeat.intervalMs,
    requestTimeoutMs: config.service.requestTimeoutMs,
    takeLease: store.heartbeatLease,
    call: (signal) => heartbeat.call(signal),
    beat: metrics.heartbeat,
  });
}

function coldStartOf(context: JobContext, suppression: Suppression): ReturnType<typeof createColdStart> {
  const { store, integrations } = context;
  const idsOf = (all: readonly Integration[]) => all.map(({ id }) => id);
  return createColdStart({
    ...context,
    start: store.coldStart,
    store: store.shards,
    groups: store.groups,
    integrations: idsOf(integrations.filter((one) => !isProgram(one))),
    waiting: idsOf(integrations),
    suppressed: () => suppression.ofAll(),
  });
}
