/** The need of work that is done now and then, by its last attempt. Pure. */
import type { Attempts, FleetJob, Need, ShardJob } from "../cluster/own-ticks.ts";
import type { Instant } from "../lib/clock.ts";
import { bounded, DEADLINE_MS } from "./rounds.ts";

interface Work {
  readonly everyMs: number;
  /** After a failure it is due again after this long; at its next time unless given. */
  readonly retryMs?: number | undefined;
  /** True where the last attempt counts as failed whatever it was. */
  readonly isOwed?: boolean;
}

/** `at_once` the first time and to try a failed one again; else once half the interval is over since the last attempt. */
export function needOf(
  subject: string,
  { everyMs, retryMs = Infinity, isOwed = false }: Work,
  attempts: Attempts,
  now: Instant,
): Need {
  const last = attempts.get(subject);
  if (!last) return "at_once";
  const agoMs = now - last.attemptedAt;
  if ((isOwed || last.goodAt < last.attemptedAt) && agoMs >= retryMs) return "at_once";
  return agoMs >= everyMs / 2 ? "in_time" : "none";
}

interface ShardWork extends Pick<ShardJob, "name" | "everyMs" | "run"> {
  /** Another job, of which a shard must have an attempt first. */
  readonly after?: string;
  readonly retryMs?: number;
  /** True where it is due although it was done not long ago. */
  isLacking?(shard: number): boolean;
}

/** Work on a shard since its first good sweep, unless what is stored of it cannot be read. */
export function shardJob({ after, isLacking, ...job }: ShardWork): ShardJob {
  return {
    ...job,
    need(shard, attempts, now) {
      const swept = attempts.get(`shard:${shard}`);
      if (!swept?.goodAt || swept.fault === "unreadable") return "none";
      if (after !== undefined && !attempts.has(`${after}:${shard}`)) return "none";
      if (isLacking?.(shard)) return "at_once";
      return needOf(`${job.name}:${shard}`, job, attempts, now);
    },
  };
}

const LIST_RETRY_MAX_MS = 60_000;

interface ListWork {
  readonly watch: { readonly inventoryIntervalMs: number; readonly statusIntervalMs: number };
  refresh(): Promise<unknown>;
  /** True where no location is known. */
  isEmpty(): boolean;
}

/** Reads the location list when the job is new, as what is watched may differ; soon again one that failed or was rejected. */
export function inventoryJob({ watch, refresh, isEmpty }: ListWork): FleetJob {
  const everyMs = watch.inventoryIntervalMs;
  const retryMs = Math.min(LIST_RETRY_MAX_MS, watch.statusIntervalMs);
  let isNew = true;
  return {
    name: "inventory",
    everyMs,
    need(attempts, now) {
      return isNew ? "at_once" : needOf("inventory", { everyMs, retryMs, isOwed: isEmpty() }, attempts, now);
    },
    run: bounded(DEADLINE_MS, async () => {
      isNew = false;
      await refresh();
    }),
  };
}
