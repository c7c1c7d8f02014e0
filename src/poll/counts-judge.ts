/** Judgement of the counts of the whole fleet: where most locations dropped together, none of them is at fault. */

import { createJudgement } from "../counts/together.ts";
import { evidenceBySubject } from "../counts/verdict.ts";
import { type CountsEvidence, type CountsLookup, type CountsTogether, countsKey } from "../health/counts.ts";
import type { CountsCondition } from "../health/model.ts";
import type { Instant } from "../lib/clock.ts";
import { mapYielding } from "../lib/yield.ts";
import type { JudgedCounts } from "../store/count-verdicts.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";

/** Older readings say nothing of now. */
export const FRESH_INTERVALS = 3;

interface JudgeDeps extends Pick<PollContext, "clock" | "assigned">, Pick<Store, "countVerdicts"> {
  readonly intervalMs: number;
  readonly conditions: readonly CountsCondition[];
}

/** Gives `judge()`: reads what the shards show, and stores what it comes to. */
export function createJudgeCounts({ clock, assigned, countVerdicts, intervalMs, conditions }: JudgeDeps) {
  // One that moved to another shard, or left, may still be in what its own showed.
  const isIn =
    (shard: number) =>
    ({ locationId }: { readonly locationId: string }) =>
      assigned.shardOf(locationId) === shard;
  return async (): Promise<void> => {
    const now = clock.now();
    const shards = new Set(assigned.shards());
    const fresh = [...(await countVerdicts.assessed())].filter(
      ([shard, { at }]) => shards.has(shard) && now - at <= FRESH_INTERVALS * intervalMs,
    );
    // After a pause, what the first shards show by themselves is not what the fleet shares.
    if (2 * fresh.length < shards.size) return;
    const rules: [string, JudgedCounts["rules"][string]][] = [];
    for (const when of conditions) {
      const key = countsKey(when);
      const sites = fresh.flatMap(([shard, { rules }]) => rules[key]?.filter(isIn(shard)) ?? []);
      const { judge, together } = createJudgement(sites, now);
      const verdicts = (await mapYielding(sites, judge)).flat();
      const stored = verdicts.map(({ subject, verdict }) => ({ subject, verdict }));
      rules.push([key, { together: together(), verdicts: stored }]);
    }
    const hours = fresh.flatMap(([shard, one]) => one.hours.filter(isIn(shard)));
    await countVerdicts.saveJudged({ at: now, rules: Object.fromEntries(rules), hours });
  };
}

/** Gives `follow(now)`: the look-up of a sweep. What the fleet came to too long ago shows nothing. */
export function createCountsLookup(
  { refreshJudged }: Pick<Store["countVerdicts"], "refreshJudged">,
  intervalMs: number,
) {
  const index = indexed();
  return async (now: Instant): Promise<CountsLookup | undefined> => {
    const judged = await refreshJudged();
    if (now - judged.at > FRESH_INTERVALS * intervalMs) return undefined;
    const byRule = index(judged);
    return (when, kind, id) => byRule.get(countsKey(when))?.get(`${kind}/${id}`);
  };
}

/** Gives the groups whose counts dropped together, by the most sensitive rule; undefined where that is not known. */
export function createFollowTogether(
  { refreshJudged }: Pick<Store["countVerdicts"], "refreshJudged">,
  conditions: readonly CountsCondition[],
  intervalMs: number,
) {
  const [keenest] = conditions.toSorted((a, b) => a.sensitivity - b.sensitivity);
  return async (now: Instant): Promise<CountsTogether[] | undefined> => {
    const judged = await refreshJudged();
    const found = keenest && judged.rules[countsKey(keenest)];
    if (!found || now - judged.at > FRESH_INTERVALS * intervalMs) return undefined;
    return found.together.map((one) => ({ ...one, dropped: one.dropped.length }));
  };
}

type Index = ReadonlyMap<string, ReadonlyMap<string, CountsEvidence>>;

/** Built once for each document. */
function indexed(): (judged: JudgedCounts) => Index {
  let known: { readonly of: JudgedCounts; readonly index: Index } | undefined;
  return (of) => {
    if (known?.of === of) return known.index;
    const rules = Object.entries(of.rules).map(([key, { verdicts }]) => [key, evidenceBySubject(verdicts)] as const);
    known = { of, index: new Map(rules) };
    return known.index;
  };
}
