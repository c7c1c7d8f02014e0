/** The worker of uptime figures, in a queue of its own: a Core API that hangs must not hold up the judging of blindness. */

import type { Queues } from "../cluster/queues.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";

const SHARDS_AT_ONCE = 3;

export interface UptimeWorkDeps {
  readonly queues: Pick<Queues, "work" | "add">;
  readonly assigned: Pick<Assigned, "shards">;
  /** A shard that was not swept yet is asked for again after this long. */
  readonly statusIntervalMs: number;
  /** False where the shard was not swept yet. */
  refresh(shard: number): Promise<boolean>;
}

export function startUptimeWork(deps: UptimeWorkDeps): Promise<void> {
  const { queues, assigned, statusIntervalMs } = deps;
  return queues.work("uptime", SHARDS_AT_ONCE, async ({ data }) => {
    const shard = Number(data.shard);
    if ((await deps.refresh(shard)) || !assigned.shards().includes(shard)) return;
    await queues.add("uptime", { shard }, { delayMs: statusIntervalMs });
  });
}
