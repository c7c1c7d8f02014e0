/** The times when recordings are known not to have recorded in the last eight weeks, by episodes and by uptime. */
import type { ProblemKind } from "../health/alert.ts";
import type { RecordingState } from "../health/shard-state.ts";
import { unrecordedIn } from "../health/uptime.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { keptFor } from "../lib/kept.ts";
import { createYielder } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";

const PAST_MS = 8 * 7 * 24 * HOUR_MS;
const MOST_EPISODES = 50_000;
const OUTAGES: ReadonlySet<ProblemKind | undefined> = new Set(["offline", "missing", "location_offline"]);

/** By recording id. */
export type PastOutages = ReadonlyMap<string, readonly Interval[]>;

type PastOutagesDeps = Pick<PollContext, "clock"> & Pick<Store, "uptime" | "episodes">;

/** Gives the outages of a shard's recordings, gathered once an hour. */
export function createPastOutages({ clock, uptime, episodes }: PastOutagesDeps) {
  const known = new Map<number, { readonly at: Instant; readonly outages: PastOutages }>();
  const ended = keptFor(HOUR_MS, (now) => episodes.latest(now - PAST_MS, MOST_EPISODES));

  return async (shard: number, recordings: ReadonlyMap<string, RecordingState>): Promise<PastOutages> => {
    const now = clock.now();
    const before = known.get(shard);
    if (before && now - before.at < HOUR_MS) return before.outages;
    const outages = new Map<string, Interval[]>();
    const add = (id: string, more: readonly Interval[]) => outages.set(id, [...(outages.get(id) ?? []), ...more]);
    const atLocation = Map.groupBy(recordings.values(), ({ locationId }) => locationId);
    for (const { subject, problem, startsAt, endsAt } of (await ended(now)) ?? []) {
      if (!OUTAGES.has(problem) || endsAt === undefined) continue;
      const affected = subject.kind === "location" ? (atLocation.get(subject.id) ?? []) : [recordings.get(subject.id)];
      for (const one of affected) if (one) add(one.id, [{ from: startsAt, to: endsAt }]);
    }
    const maybeYield = createYielder();
    for (const [id, history] of await uptime.histories(shard, [...recordings.keys()])) {
      add(id, unrecordedIn(history.buckets, now));
      await maybeYield();
    }
    known.set(shard, { at: now, outages });
    return outages;
  };
}
