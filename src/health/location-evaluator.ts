/** What a location's recordings, taken together, say about each rule. */
import type { AlertFacts } from "./alert.ts";
import { generatedOf, locationAnnotations, locationLabels } from "./annotations.ts";
import type { Evaluator } from "./apply-rules.ts";
import { type Count, emptyTally, type Tally } from "./census.ts";
import type { Rule } from "./rule.ts";
import type { Inventory } from "./shard-state.ts";

/** `count` is undefined when none of its recordings has a fresh reading. */
export function locationEvaluator(id: string, count: Count | undefined, inventory: Inventory): Evaluator {
  const timezone =
    inventory.location(id)?.timezone ?? (count && inventory.recording(count.sampleId)?.timezone);
  const extent = (rule: Rule) => {
    const { fresh: of, offlineSince } = tallyFor(rule, count);
    return { offline: offlineSince.length, of };
  };
  return {
    subject: { kind: "location", id },
    evidence: (rule, firing) => evidenceOf(rule, firing, extent(rule)),
    isPaused: ({ respectSchedule }) => respectSchedule && count?.fresh === 0 && count.outside !== undefined,
    startsAt: (rule) => darkSince(rule, tallyFor(rule, count)),
    facts: (rule): AlertFacts => ({
      timezone: timezone ?? "UTC",
      restated: generatedOf(rule, ["summary", "description"]),
      ...extent(rule),
      ...offlineNames(tallyFor(rule, count), inventory),
    }),
    describe(rule, startsAt) {
      const labels = locationLabels(rule, id, inventory, timezone);
      return { labels, annotations: locationAnnotations(rule, labels, { startsAt, ...extent(rule) }) };
    },
  };
}

/** Recordings within their schedule; all of them for a rule that does not respect schedules. */
function tallyFor({ respectSchedule }: Rule, count: Count | undefined): Tally {
  if (!count) return emptyTally();
  const { outside } = count;
  if (respectSchedule || !outside) return count;
  return {
    fresh: count.fresh + outside.fresh,
    offlineSince: [...count.offlineSince, ...outside.offlineSince],
    offlineIds: [...count.offlineIds, ...outside.offlineIds],
  };
}

/** So many are named. */
const NAMED = 12;

function offlineNames({ offlineIds }: Tally, inventory: Inventory): Pick<AlertFacts, "offlineNames"> {
  if (offlineIds.length === 0) return {};
  const names = offlineIds.slice(0, NAMED).map((id) => inventory.recording(id)?.name || id);
  return { offlineNames: names.sort() };
}

function evidenceOf(
  { when }: Rule,
  firing: boolean,
  { offline, of }: { readonly offline: number; readonly of: number },
): boolean | undefined {
  if (when.kind !== "location_offline" || of < Math.max(1, when.minRecordings)) return undefined;
  return offline / of >= (firing ? when.clearBelow : when.atLeast);
}

/** The moment so many were dark that the share was reached. */
function darkSince({ when }: Rule, { fresh, offlineSince }: Tally): number {
  const sinces = [...offlineSince].sort((a, b) => a - b);
  const atLeast = when.kind === "location_offline" ? when.atLeast : 1;
  const needed = Math.max(1, Math.ceil(atLeast * fresh - 1e-9));
  return sinces[Math.min(needed, sinces.length) - 1] ?? 0;
}
