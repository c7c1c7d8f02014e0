/** The jobs of the role `notify`: deliveries, digests, the heartbeat, and the summary of a cold start. */
import { directReceivers, isProgram, isRoutedTo } from "../alerting/route.ts";
import { createAnnotate } from "../deliver/annotate.ts";
import { createCauses } from "../deliver/causes.ts";
import { createColdStart } from "../deliver/cold-start.ts";
import { createDeliver } from "../deliver/deliver.ts";
import { createHeartbeat } from "../deliver/heartbeat.ts";
import type { DeliverDeps } from "../deliver/model.ts";
import { createStaleness } from "../deliver/stale.ts";
import { createSuppression } from "../deliver/suppression.ts";
import { createDigestWork } from "../digest/schedule.ts";
import { createDigestJob } from "../digest/send.ts";
import { renderHtml } from "../notify/email/render.ts";
import type { Configured, JobContext } from "./job-context.ts";
import type { Runtime } from "./runtime.ts";

export type NotifyJobs = ReturnType<typeof createNotifyJobs>;

/** Nothing runs before `start`. */
export function createNotifyJobs(context: JobContext) {
  const { config, shards, integrations, inventory, queues, senders } = context;
  const suppression = createSuppression({ ...context, ...config, staleness: createStaleness(context) });
  const suppressed = suppression.ofAll;
  const direct = directReceivers(config.route);
  const checkActive = () => context.checkActive("notify");
  const delivery = createDeliver({
    ...context,
    ...deliveryOf(context),
    checkActive,
    stormMs: context.statusIntervalMs,
    suppressions: suppression.ofGroups,
    isRouted: (alert, integration, group) => isRoutedTo(alert, config.route, integration, group, inventory),
    annotate: createAnnotate(context, context),
    causes: createCauses({ ...context, suppressed }),
  });
  const heartbeat = heartbeatOf(context);
  const coldStart = createColdStart({
    ...context,
    checkActive,
    start: context.coldStart,
    store: shards,
    integrations: integrations
      .filter((one) => !isProgram(one) && !one.isPager && !one.columns && direct.has(one.receiver))
      .map(({ id }) => id),
    waiting: integrations.map(({ id }) => id),
    suppressed,
  });
  return {
    coldStart,
    suppression,
    /** Undefined without `heartbeat`. */
    heartbeat,
    async start(): Promise<void> {
      await queues.work("deliver", Math.max(4, integrations.length) + 1, async ({ data }) => {
        if (data.heartbeat) await heartbeat?.round();
        else await delivery.deliver(String(data.integration));
      });
      const send = createDigestJob({ ...context, ...senders, mail: senders.digestMail, renderHtml });
      await queues.work("digest", 1, createDigestWork({ ...context, send }));
    },
    isUnderWay: delivery.isUnderWay,
    /** A message under way is sent and settled, and no other is begun. */
    drain: delivery.drain,
    stop(): void {
      delivery.stop();
      heartbeat?.stop();
    },
  };
}

/** The integrations to deliver to, and what deliveries count. */
export function deliveryOf({ senders, config, metrics }: Pick<Runtime, "metrics"> & Configured) {
  return {
    senders: senders.byId,
    externalUrl: config.http.externalUrl,
    timezone: config.display.timezone,
    toRefusal: senders.toRefusal,
    notified: ({ receiver, type }, _reason, latency) => metrics.notified(receiver, type, latency),
    failed: ({ receiver, type }, code) => metrics.notifyFailed(receiver, type, code),
    suppressed: ({ receiver }, why) => metrics.suppressed(receiver, why),
  } satisfies Partial<DeliverDeps>;
}

function heartbeatOf(context: JobContext) {
  const { config, shards, heartbeatLease, metrics, heartbeat } = context;
  if (!config.heartbeat || !heartbeat) return undefined;
  return createHeartbeat({
    ...context,
    store: shards,
    intervalMs: config.heartbeat.intervalMs,
    takeLease: heartbeatLease,
    call: (signal) => heartbeat.call(signal),
    beat: metrics.heartbeat,
  });
}
