/** What a location's recordings, taken together, say about each rule. */
import type { AlertFacts } from "./alert.ts";
import type { Count } from "./census.ts";
import type { Rule } from "./rule.ts";
import type { Inventory } from "./state.ts";
import type { Witness } from "./subject.ts";
import { locationAnnotations, locationLabels } from "./wording.ts";

/** `count` is undefined when none of its recordings has a fresh reading. */
export function locationWitness(id: string, count: Count | undefined, inventory: Inventory): Witness {
  const offline = count?.offlineSince.length ?? 0;
  const of = count?.fresh ?? 0;
  const timezone =
    inventory.location(id)?.timezone ?? (count && inventory.recording(count.sampleId)?.timezone);
  return {
    subject: { kind: "location", id },
    evidence: (rule, firing) => evidenceOf(rule, firing, offline, of),
    startsAt: (rule) => darkSince(rule, count),
    facts: (): AlertFacts => ({
      timezone: timezone ?? "UTC",
      offline,
      of,
      ...offlineNames(count, inventory),
    }),
    describe(rule, startsAt) {
      const labels = locationLabels(rule, id, inventory, timezone);
      return { labels, annotations: locationAnnotations(rule, labels, { startsAt, offline, of }) };
    },
  };
}

/** So many are named. */
const NAMED = 12;

function offlineNames(count: Count | undefined, inventory: Inventory): Pick<AlertFacts, "offlineNames"> {
  if (!count || count.offlineIds.length === 0) return {};
  const names = count.offlineIds.slice(0, NAMED).map((id) => inventory.recording(id)?.name || id);
  return { offlineNames: names.sort() };
}

function evidenceOf({ when }: Rule, firing: boolean, offline: number, of: number): boolean | undefined {
  if (when.kind !== "location_offline" || of < Math.max(1, when.minRecordings)) return undefined;
  return offline / of >= (firing ? when.clearBelow : when.atLeast);
}

/** The moment so many were dark that the share was reached. */
function darkSince({ when }: Rule, count: Count | undefined): number {
  const sinces = [...(count?.offlineSince ?? [])].sort((a, b) => a - b);
  const atLeast = when.kind === "location_offline" ? when.atLeast : 1;
  const needed = Math.max(1, Math.ceil(atLeast * (count?.fresh ?? 0) - 1e-9));
  return sinces[Math.min(needed, sinces.length) - 1] ?? 0;
}
