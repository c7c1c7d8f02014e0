/** When the service answers for a shard, and when it does not. */

import type { Attempt } from "../../src/health/attempt.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Fleet } from "./fleet.ts";
import type { Incident } from "./ledger.ts";
import type { Range } from "./mix.ts";

export type Failing = ReturnType<typeof createFailing>;

export function createFailing(
  ledger: readonly Incident[],
  { shards: count }: Pick<Fleet, "shards">,
  intervalMs: number,
) {
  const spans = ledger.flatMap(({ failing }) => failing).sort((a, b) => a.from - b.from);
  const edges = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const byShard = new Map<number, readonly Range[]>();
  const of = (shard: number): readonly Range[] => {
    const known = byShard.get(shard) ?? spans.filter(({ shards }) => shards.has(shard));
    byShard.set(shard, known);
    return known;
  };
  const isFailing = (shard: number, at: Instant) => of(shard).some(({ from, to }) => from <= at && at < to);
  /** The next sweep: shards are swept one after the other within an interval. */
  const tickFrom = (shard: number, at: Instant): Instant => {
    const offset = Math.floor((shard * intervalMs) / count);
    return Math.ceil((at - offset) / intervalMs) * intervalMs + offset;
  };
  return {
    of,
    at: isFailing,
    tickFrom,
    /** As the last sweeps of the shard ended. */
    attemptOf(shard: number, now: Instant): Attempt {
      const last = tickFrom(shard, now + 1) - intervalMs;
      let goodAt = last;
      while (isFailing(shard, goodAt)) goodAt -= intervalMs;
      return { goodAt, attemptedAt: last, ...(goodAt < last ? { error: "The service does not answer." } : {}) };
    },
    /** When it next begins or ends to fail anywhere. */
    nextFrom: (at: Instant) => edges.find((edge) => edge > at) ?? Number.POSITIVE_INFINITY,
  };
}
