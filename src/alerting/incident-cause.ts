/** What explains an incident, by the numbers of recordings of the fleet: pages, the API and messages say the same. */
import { type Alert, type GroupLabel, groupNouns, sharedOutages } from "../health/alert.ts";
import { briefId, count, counted, nameOf } from "../lib/format.ts";
import type { IncidentCause } from "./incident.ts";

type Countable = Pick<Alert, "id" | "subject" | "labels" | "startsAt" | "facts">;

/** The number of recordings with a label, and of those offline among them. */
export interface GroupSize {
  readonly known: number;
  readonly offline: number;
}

/** The fleet by label. */
export interface GroupSizes {
  readonly fleet: GroupSize & { readonly unknown: number };
  of(label: string, value: string): GroupSize | undefined;
  /** True if a recording has the label now: those of its alert are as they were when that began. */
  has(recordingId: string, label: string, value: string): boolean;
}

/** What explains an incident: a label that its recordings share, with nine in ten of those that have it and not the whole fleet. */
export interface SharedCause {
  readonly label: string;
  readonly value: string;
  /** The name of a location or a group, as its alerts have it. */
  readonly name?: string | undefined;
  readonly affected: number;
  readonly known: number;
  /** All of them are offline, and no other recording is, or may be. */
  readonly isAlone: boolean;
}

export const FEWEST_EXPLAINED = 3;
/** The share of a label's recordings that must be affected: a weaker cause would split one outage. */
const CAUSE_SHARE = 0.9;

/** The cause of an incident, where these alerts of it are about nine in ten of its recordings. */
export function sharedCause(
  cause: IncidentCause | undefined,
  alerts: readonly Countable[],
  { fleet, of, has }: GroupSizes,
): SharedCause | undefined {
  if (!cause) return undefined;
  const { label, value } = cause;
  const size = of(label, value);
  if (!size || alerts.length < FEWEST_EXPLAINED || size.known >= fleet.known) return undefined;
  // Only who is offline is known of the whole fleet.
  const isOutage = alerts.every(({ facts }) => facts.problem === "offline" || sharedOutages.has(facts.problem));
  const most = isOutage ? size.offline : size.known;
  const affected = Math.min(
    most,
    affectedBy(alerts, (id) => has(id, label, value)),
  );
  if (affected === 0 || affected < CAUSE_SHARE * size.known) return undefined;
  const isAlone = isOutage && fleet.unknown === 0 && fleet.offline === affected;
  const name = alerts[0]?.labels[label === "location_id" ? "location" : `${label}_name`];
  return { label, value, ...(name && { name }), affected, known: size.known, isAlone };
}

/** Recordings that alerts are about, or count as offline; those of an offline location once. */
function affectedBy(alerts: readonly Countable[], isIn: (recordingId: string) => boolean): number {
  const counted = alerts.filter(({ facts }) => sharedOutages.has(facts.problem));
  const [locations, groups] = [true, false].map((is) =>
    counted.filter((one) => (one.subject.kind === "location") === is),
  );
  const sizes = new Map(locations?.map(({ subject, facts }) => [subject.id, facts.offline ?? 0]));
  const own = alerts.filter(
    ({ subject, labels }) => subject.kind === "recording" && !sizes.has(labels.location_id ?? "") && isIn(subject.id),
  );
  const apart = new Set(own.map(({ subject }) => subject.id)).size;
  const together = sizes.values().reduce((sum, size) => sum + size, apart);
  return Math.max(together, ...(groups ?? []).map(({ facts }) => facts.offline ?? 0));
}

/** `all 38 recordings of camera server edge-7, no other`. */
export function causePhrase({ label, value, name = "", affected, known, isAlone }: SharedCause): string {
  const extent =
    affected < known ? `${count(affected)} of ${counted(known, "recording")}` : `all ${counted(known, "recording")}`;
  const group = Object.hasOwn(groupNouns, label) ? groupNouns[label as GroupLabel] : undefined;
  const where = group ? `of ${group} ${nameOf(name || briefId(value), "")}` : `at ${nameOf(name, value)}`;
  return `${extent} ${where}${isAlone ? ", no other" : ""}`;
}

const MOST_CAUSES = 3;

/**
 * Causes of the alerts of one message, the same as everywhere else: those of which it has several, the
 * widest first. A message about one location names that anyway.
 */
export function causesIn(
  explained: readonly { readonly cause?: SharedCause | undefined; readonly alerts: readonly Countable[] }[],
  alerts: readonly Countable[],
): SharedCause[] {
  const ids = new Set(alerts.map(({ id }) => id));
  const isSpread = new Set(alerts.map(({ labels }) => labels.location_id)).size > 1;
  const found = explained.flatMap(({ cause, alerts: of }) => {
    const own = of.filter(({ id }) => ids.has(id)).length;
    if (!cause || own < FEWEST_EXPLAINED || (cause.label === "location_id" && !isSpread)) return [];
    return [{ cause, own }];
  });
  found.sort((a, b) => b.own - a.own);
  return found.slice(0, MOST_CAUSES).map(({ cause }) => cause);
}
