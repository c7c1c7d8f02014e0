/** Evaluates rules about recordings that share a label, over all shards, by what the last sweep of each counted. */

import type { Instant } from "../lib/clock.ts";
import { capital, cut } from "../lib/text.ts";
import { type Alert, type AlertFacts, type GroupLabel, groupLabels, groupNouns, groupOfSubject } from "./alert.ts";
import type { AlertStates } from "./alert-machine.ts";
import { applyRules, EVIDENCE_WAIT_MS, type Evaluator } from "./apply-rules.ts";
import type { CountsTogether } from "./counts.ts";
import { withTogether } from "./counts-evaluator.ts";
import { groupNameIn } from "./directory.ts";
import type { Outcomes } from "./evaluation.ts";
import { mergedCount, type ShardGroups } from "./group-counts.ts";
import type { GroupCount } from "./members.ts";
import type { GroupRule, Rule } from "./model.ts";
import { outageEvaluator } from "./outage-evaluator.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import type { Inventory } from "./shard-state.ts";

export interface GroupEvidence {
  /** A value for each shard; undefined where no sweep of it has counted groups yet. */
  readonly shards: readonly (ShardGroups | undefined)[];
  readonly inventory: Inventory;
  /** Groups whose counts dropped together; undefined: not known. */
  readonly together?: readonly CountsTogether[] | undefined;
}

export interface GroupMoment {
  readonly now: Instant;
  readonly rules: readonly Rule[];
  /** Between two sweeps, and between two calls of this, ms. */
  readonly intervalMs: number;
}

type Subject = Alert["subject"];
type Found = { readonly subject: Subject; readonly label: GroupLabel; readonly value: string };

/** The alerts of groups after this moment, by subject as `group/<label>/<value>`. `previous` may have other subjects too. */
export function evaluateGroups(
  previous: Readonly<Record<string, AlertStates>>,
  evidence: GroupEvidence,
  moment: GroupMoment,
  out: Outcomes,
): ReadonlyMap<string, AlertStates | undefined> {
  const { now, intervalMs } = moment;
  const rules = moment.rules.filter((rule): rule is GroupRule => rule.when.kind === "group_offline");
  const ofCounts = moment.rules.filter(({ when }) => when.kind === "counts_together");
  const maxGapMs = evidence.shards.reduce((gap, shard) => Math.max(gap, shard?.gapMs ?? 0), GAP_INTERVALS * intervalMs);
  const timing = { now, maxGapMs, sinceLastMs: intervalMs };
  const fleet = readFleet(evidence, { now, maxGapMs, intervalMs });
  const next = new Map<string, AlertStates | undefined>();
  for (const [key, found] of groupsToEvaluate(previous, evidence, rules)) {
    const before = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const own = [...rules.filter(({ when }) => when.by === found.label), ...ofCounts];
    const group = groupEvaluator(found, before, fleet, moment.rules);
    const isOwn = ({ label, value }: CountsTogether) => label === found.label && value === found.value;
    const counts = { found: evidence.together?.find(isOwn), isKnown: evidence.together !== undefined, now };
    const evaluator = withTogether(group, nameOf(found, evidence.inventory), counts);
    next.set(key, applyRules(evaluator, before, own, timing, out));
  }
  return next;
}

/** Groups with an alert, and those of which something is offline. */
function groupsToEvaluate(
  previous: Readonly<Record<string, AlertStates>>,
  { shards, together = [] }: GroupEvidence,
  rules: readonly GroupRule[],
): Map<string, Found> {
  const found = new Map<string, Found>();
  const add = (subject: Subject) => {
    const group = groupOfSubject(subject);
    if (group) found.set(`group/${subject.id}`, { ...group, subject });
  };
  for (const key of Object.keys(previous))
    if (key.startsWith("group/")) add({ kind: "group", id: key.slice("group/".length) });
  for (const { label, value } of together) add({ kind: "group", id: `${label}/${value}` });
  for (const label of new Set(rules.map(({ when }) => when.by)))
    for (const shard of shards)
      for (const [value, { locations }] of Object.entries(shard?.counts[label] ?? {}))
        if (locations > 0) add({ kind: "group", id: `${label}/${value}` });
  return found;
}

type Fleet = ReturnType<typeof readFleet>;

function readFleet(
  { shards, inventory }: GroupEvidence,
  { now, maxGapMs, intervalMs }: Pick<GroupMoment, "now" | "intervalMs"> & { readonly maxGapMs: number },
) {
  const isStale = ({ at, gapMs = GAP_INTERVALS * intervalMs }: ShardGroups) => now - at > gapMs;
  const isCountedBy = (label: GroupLabel) => shards.every((shard) => shard?.counts[label] !== undefined);
  const counted = new Set(shards.length > 0 ? groupLabels.filter(isCountedBy) : []);
  const byLabel = new Map<GroupLabel, ReadonlyMap<string, Part[]>>();
  const partsBy = (label: GroupLabel) => {
    const known = byLabel.get(label) ?? groupParts(shards, label);
    byLabel.set(label, known);
    return known;
  };
  return {
    inventory,
    maxGapMs,
    isWhole: shards.length > 0 && shards.every((shard) => shard !== undefined && !isStale(shard)),
    /** Not while a shard was not swept since a start, or since a rule by this label. */
    isCounted: (label: GroupLabel) => counted.has(label),
    offline: shards.reduce((sum, shard) => sum + (shard?.offline ?? 0), 0),
    /** The counts of a group by shard, and the time of its sweep where that is not too long ago. */
    partsOf: ({ label, value }: Found) =>
      (partsBy(label).get(value) ?? []).map(({ shard, count }) =>
        isStale(shard) ? { at: now, count: staleCount(count) } : { at: shard.at, count },
      ),
  };
}

interface Part {
  readonly shard: ShardGroups;
  readonly count: GroupCount;
}

/** By the value of the label: each shard is looked at once, however many groups there are. */
export function groupParts(shards: GroupEvidence["shards"], label: GroupLabel): ReadonlyMap<string, Part[]> {
  const parts = new Map<string, Part[]>();
  for (const shard of shards) {
    for (const [value, count] of Object.entries(shard?.counts[label] ?? {})) {
      const known = parts.get(value);
      if (shard && known) known.push({ shard, count });
      else if (shard) parts.set(value, [{ shard, count }]);
    }
  }
  return parts;
}

/** Nothing is known of them now. */
function staleCount({ known, outside, ...count }: GroupCount): GroupCount {
  const nothing = (of: number) => ({ known: of, fresh: 0, stale: of, offline: [] });
  return { ...count, ...nothing(known), ...(outside && { outside: nothing(outside.known) }), locations: 0 };
}

/** A group that has all of one location and nothing else is left to a rule on locations that is met whenever its own is. */
function groupEvaluator(
  found: Found,
  before: AlertStates | undefined,
  fleet: Fleet,
  rules: readonly Rule[],
): Evaluator {
  const { subject, label, value } = found;
  const parts = fleet.partsOf(found);
  const count = mergedCount(parts.map((part) => part.count));
  const readAt = Math.min(...parts.map(({ at }) => at));
  const timezone = label === "timezone" ? value : count?.shared.timezone;
  const offline = (count?.offline.length ?? 0) + (count?.outside?.offline.length ?? 0);
  const evaluator = outageEvaluator({
    subject,
    count,
    timezone,
    inventory: fleet.inventory,
    // A location that changes its shard is in none of the last sweeps.
    endsAfterMs: !count && fleet.isWhole && fleet.isCounted(label) ? fleet.maxGapMs : EVIDENCE_WAIT_MS,
    labels: () => labelsOf(count, { [label]: value }, fleet.inventory),
    locations: () => fleet.inventory.locationsOf?.(label, value),
    name: nameOf(found, fleet.inventory),
    facts: {
      locations: count?.locations,
      ...locationNames(count, fleet.inventory),
      ...(fleet.isWhole && !count?.stale && offline === fleet.offline && { isAlone: true }),
    },
  });
  return {
    ...evaluator,
    evidence(rule, firing) {
      // A count of a sweep is evidence once.
      if (parts.length > 0 && readAt <= (before?.[rule.id]?.evidenceAt ?? 0)) return undefined;
      if (!firing && !fleet.isCounted(label)) return undefined;
      if (!firing && count?.isWhole && rules.some((other) => coversWhole(other, rule))) return false;
      return evaluator.evidence(rule, firing);
    },
  };
}

function labelsOf(count: GroupCount | undefined, own: Readonly<Record<string, string>>, inventory: Inventory) {
  const shared = { ...count?.shared, ...own };
  const id = count?.shared.location_id;
  return id === undefined ? shared : { ...shared, location: inventory.location(id)?.name || id };
}

const NAMED = 3;

/** The locations of the offline recordings whose ids are counted. */
function locationNames(count: GroupCount | undefined, inventory: Inventory): Pick<AlertFacts, "locationNames"> {
  const offline = [...(count?.offline ?? []), ...(count?.outside?.offline ?? [])];
  const ids = new Set(offline.flatMap(({ id = "" }) => inventory.recording(id)?.locationId ?? []));
  const names = [...ids].map((id) => inventory.location(id)?.name || id);
  return names.length === 0 ? {} : { locationNames: names.sort().slice(0, NAMED) };
}

/** `Camera server edge-7`. */
function nameOf({ label, value }: Found, inventory: Inventory): string {
  return `${capital(groupNouns[label])} ${cut(groupNameIn(inventory, value), 100)}`;
}

/** A rule on locations is met whenever a rule on groups is, where the group is the location. */
export function coversWhole(other: Rule, rule: Rule): boolean {
  if (other.when.kind !== "location_offline" || rule.when.kind !== "group_offline") return false;
  const isAsEarly = other.forMs <= rule.forMs && other.respectSchedule === rule.respectSchedule;
  return isAsEarly && other.when.atLeast <= rule.when.atLeast && other.when.minRecordings <= rule.when.minRecordings;
}
