/** How many jobs wait, run and are delayed, as metrics. */
import type { Metrics } from "../metrics/metrics.ts";
import type { Queues } from "./queues.ts";

const COUNTED = ["waiting", "active", "delayed", "failed"] as const;

export async function countJobs(
  queues: Pick<Queues, "counts">,
  metrics: Pick<Metrics, "queueJobs">,
): Promise<void> {
  for (const [queue, counts] of await queues.counts()) {
    for (const state of COUNTED) metrics.queueJobs(queue, state, counts[state] ?? 0);
  }
}
