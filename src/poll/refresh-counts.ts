/** The counts of one shard: read, stored, assessed; then those of the fleet are judged. */

import type { Config } from "../config/config.ts";
import type { Attempt } from "../health/attempt.ts";
import type { Rule } from "../health/model.ts";
import type { Instant } from "../lib/clock.ts";
import { keptFor } from "../lib/kept.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";
import { createReadCounts } from "./counts.ts";
import { countsConditions, createAssessCounts } from "./counts-assess.ts";
import { createJudgeCounts } from "./counts-judge.ts";
import { createPastOutages } from "./past-outages.ts";
import { createFailureLog } from "./rounds.ts";

/** Shards are read by and by: the fleet is judged for all that were read meanwhile. */
const JUDGE_EVERY_MS = 15_000;

interface RefreshCountsDeps
  extends Pick<PollContext, "clock" | "log" | "assigned">,
    Pick<
      Store,
      "shards" | "counts" | "zones" | "inventory" | "countVerdicts" | "usualEntries" | "uptime" | "episodes"
    > {
  readonly service: Pick<Service, "entries" | "areaData" | "conversionRate">;
  readonly rules: readonly Rule[];
  readonly watch: Pick<Config["watch"], "locationsPerRequest">;
  readonly config: { readonly counts: Pick<Config["counts"], "intervalMs" | "closedDays"> };
}

export function createRefreshCounts(deps: RefreshCountsDeps) {
  const { clock, log, shards, rules, config } = deps;
  const { intervalMs, closedDays } = config.counts;
  const conditions = countsConditions(rules);
  const note = createFailureLog(log, "counts not read, keeping those known", "counts read again");
  const timezoneOf = createTimezoneOf(deps);
  const read = createReadCounts({ ...deps, store: deps, intervalMs, all: conditions.length > 0, timezoneOf });
  const pastOutages = createPastOutages(deps);
  const assess = createAssessCounts({ clock, rules, closedDays, store: deps, pastOutages });
  const judge = createJudgeCounts({ ...deps, intervalMs, conditions });
  let judgedFor: Instant = 0;

  return {
    /**
     * Reads a shard, after its zones; a failure is logged once, and what was read is kept. Ends between two requests once
     * the signal is aborted.
     */
    async refresh(shard: number, signal: AbortSignal): Promise<void> {
      const { state } = await shards.read(shard);
      if (state.sweptAt === 0) return;
      await deps.inventory.follow();
      timezoneOf.learn(state.recordings);
      const { each, finish } = await assess(shard, state);
      const outcome = await read(shard, each, signal);
      if (signal.aborted) return;
      const error = outcome === "paused" ? "the service is in trouble, counts are not read" : outcome?.message;
      try {
        if (outcome !== "paused") await finish();
      } finally {
        await shards.noteAttempt(`counts:${shard}`, clock.now(), error);
      }
      if (outcome !== "paused") note(shard, outcome);
    },

    judge,

    /** Judges the fleet if a shard was read since the last time, by any replica. */
    judgeWhenRead: keptFor(JUDGE_EVERY_MS, async () => {
      const readAt = newestOf(await shards.attempts());
      if (readAt <= judgedFor) return;
      await judge();
      judgedFor = readAt;
    }),
  };
}

function newestOf(attempts: ReadonlyMap<string, Attempt>): Instant {
  return attempts.entries().reduce((newest, [subject, { attemptedAt }]) => {
    return subject.startsWith("counts:") ? Math.max(newest, attemptedAt) : newest;
  }, 0);
}

/** A location's own time zone, else that of one of its recordings. */
function createTimezoneOf({ inventory }: Pick<Store, "inventory">) {
  const ofRecordings = new Map<string, string>();
  return Object.assign((id: string) => inventory.location(id)?.timezone ?? ofRecordings.get(id), {
    learn(recordings: ReadonlyMap<string, { readonly locationId: string }>) {
      for (const [id, { locationId }] of recordings) {
        const zone = inventory.recording(id)?.timezone;
        if (zone !== undefined) ofRecordings.set(locationId, zone);
      }
    },
  });
}
