/** The extent of several alerts: each recording counted once, and the alerts that name all of them. Pure. */
import { type Alert, groupLabels, scopeOf, sharedOutages } from "../health/alert.ts";
import { count, counted } from "../lib/format.ts";

type Countable = Pick<Alert, "subject" | "labels" | "facts">;

export interface Extent {
  /** Recordings offline now. Not exact: at least so many, as it is not known what some of the alerts have in common. */
  readonly offline: number;
  readonly isExact: boolean;
  /** Locations of the alerts, or of their recordings. */
  readonly locations: number;
  readonly areLocationsExact: boolean;
}

/** Names in a list: more are counted. */
export const MOST_NAMED = 8;

/** True if it is the alert of a location or a group, of which some recordings are offline. */
export function isSharedOutage({ facts }: Countable): boolean {
  return sharedOutages.has(facts.problem) && !!facts.offline;
}

function isOfflineNow({ facts }: Countable): boolean {
  return facts.problem === "offline" && !facts.clearing;
}

/** True if the alert says that recordings are offline now: its own, or some of a location or a group. */
export function isOutage(alert: Countable): boolean {
  return isSharedOutage(alert) || isOfflineNow(alert);
}

const offlineOf = ({ facts }: Countable) => facts.offline ?? 0;
const labelOf = ({ subject }: Countable) => scopeOf(subject)?.label ?? "";
const keyOf = ({ subject }: Countable) => `${scopeOf(subject)?.label}/${scopeOf(subject)?.value}`;
const LABELS = ["location_id", ...groupLabels];

/** The numbers of an outage's recordings known to be of other groups, by `label/value`. */
function sharesOf(outage: Countable): [key: string, recordings: number][] {
  const { labels, facts } = outage;
  const servers = Object.entries(facts.servers ?? {}).map(([name, n]): [string, number] => [
    `camera_server/${name}`,
    n,
  ]);
  const shared = LABELS.filter((label) => label !== labelOf(outage) && !(facts.servers && label === "camera_server"));
  const whole = shared.flatMap((label) => (labels[label] === undefined ? [] : [`${label}/${labels[label]}`]));
  return [...servers, ...whole.map((key): [string, number] => [key, offlineOf(outage)])];
}

const knows = ({ labels, facts }: Countable, label: string) =>
  labels[label] !== undefined || (label === "camera_server" && facts.servers !== undefined);

/** The recordings that each outage adds to those before it; undefined where that is not known. */
function eachLeft<T extends Countable>(outages: readonly T[]): (readonly [T, number | undefined])[] {
  const apart = new Set<string>();
  /** Recordings of the outages apart, by `label/value`, and the labels of which some do not know the value. */
  const within = new Map<string, number>();
  const unknown = new Map<string, Set<string>>();
  return outages.map((outage) => {
    const [key, label] = [keyOf(outage), labelOf(outage)];
    const shares = sharesOf(outage);
    const isKnown = (other: string) => knows(outage, other) || !unknown.get(other)?.has(label);
    const theirs = shares.reduce((sum, [share, n]) => sum + (apart.has(share) ? n : 0), within.get(key) ?? 0);
    const left = LABELS.every((other) => other === label || isKnown(other)) ? offlineOf(outage) - theirs : undefined;
    if (left === undefined || left <= 0) return [outage, left && 0] as const;
    apart.add(key);
    for (const [share, n] of shares) within.set(share, (within.get(share) ?? 0) + n);
    const lacking = LABELS.filter((other) => other !== label && !knows(outage, other));
    if (lacking.length > 0) unknown.set(label, new Set([...(unknown.get(label) ?? []), ...lacking]));
    return [outage, left] as const;
  });
}

/** True if a recording, or what else has labels, is of one of the outages. */
function isWithin({ labels }: Countable, outages: ReadonlySet<string>): boolean {
  return LABELS.some((label) => outages.has(`${label}/${labels[label]}`));
}

/** Wide groups first, camera servers last: what those have in common with locations is known. */
const RANKS: Readonly<Record<string, number>> = { location_id: 1, camera_server: 2 };

/** The outages among the alerts, one of each subject, in an order in which what each adds is known best. */
function outagesOf<T extends Countable>(alerts: readonly T[]): T[] {
  const most = alerts.filter(isSharedOutage).sort((a, b) => offlineOf(a) - offlineOf(b));
  const distinct = [...new Map(most.map((one) => [keyOf(one), one])).values()].reverse();
  return distinct.sort((a, b) => (RANKS[labelOf(a)] ?? 0) - (RANKS[labelOf(b)] ?? 0));
}

/** Each recording counted once, by what the alerts themselves know of their recordings. */
export function extentOf(alerts: readonly Countable[]): Extent {
  const outages = outagesOf(alerts);
  const lefts = eachLeft(outages);
  const open = lefts.flatMap(([one, left]) => (left === 0 || labelOf(one) === "location_id" ? [] : [one]));
  const isExact = lefts.every(([, left]) => left !== undefined);
  let offline = lefts.reduce((sum, [, left = 0]) => sum + left, 0);
  const keys = new Set(outages.map(keyOf));
  const apart = alerts.filter((alert) => isOfflineNow(alert) && !isWithin(alert, keys));
  offline += new Set(apart.map(({ subject }) => subject.id)).size;
  const least = outages.reduce((most, outage) => Math.max(most, offlineOf(outage)), offline);
  return { offline: least, isExact, ...locationsOf(alerts.filter(isOutage), outages, open) };
}

/** `open`: groups with recordings that no other alert counts, at locations that may be known from others. */
function locationsOf(alerts: readonly Countable[], outages: readonly Countable[], open: readonly Countable[]) {
  const known = new Set(alerts.flatMap(({ labels }) => labels.location_id || []));
  const counted = outages.filter((outage) => labelOf(outage) === "location_id");
  const areCounted = counted.length === known.size;
  const here = Map.groupBy(open.length === 0 ? [] : counted.flatMap(sharesOf).filter(([, n]) => n > 0), ([key]) => key);
  const unknown = open.filter(({ labels }) => labels.location_id === undefined);
  const added = unknown.map((group) => {
    const others = areCounted ? (here.get(keyOf(group))?.length ?? 0) : known.size;
    return Math.max(0, (group.facts.locations ?? 0) - others);
  });
  const isExact = unknown.length === 0 || (unknown.length === 1 && areCounted);
  return { locations: known.size + Math.max(0, ...added), areLocationsExact: isExact };
}

/** True if outages of several kinds are among them, which may be the same: their recordings are counted instead. */
export function areMixed(alerts: readonly Countable[]): boolean {
  const outages = alerts.filter(isOutage);
  return outages.some(isSharedOutage) && new Set(outages.map(({ facts }) => facts.problem)).size > 1;
}

/** `at least 240 recordings offline at 30 locations`; empty where none is. */
export function extentPhrase({ offline, isExact, locations, areLocationsExact }: Extent, still = false): string {
  if (offline === 0) return "";
  const what = `${isExact ? "" : "at least "}${counted(offline, "recording")}${still ? " still" : ""} offline`;
  const more = areLocationsExact ? "" : " or more";
  return locations === 0
    ? what
    : `${what} at ${count(locations)}${more} ${locations === 1 && !more ? "location" : "locations"}`;
}

/**
 * The alerts without those whose recordings others of them name: the same outage is named by its camera servers or by
 * its locations, whichever are fewer names of the few that are said.
 */
export function namedOnce<T extends Countable>(alerts: readonly T[]): readonly T[] {
  const outages = outagesOf(alerts);
  if (outages.length === 0) return alerts;
  const locations = outages.filter((one) => labelOf(one) === "location_id");
  const groups = outages.filter((one) => labelOf(one) !== "location_id");
  const byLocation = named([...locations, ...groups]);
  const byGroup = named([...groups, ...locations]);
  const isShorter = Math.min(byGroup.length, MOST_NAMED) < Math.min(byLocation.length, MOST_NAMED);
  const keys = new Set((isShorter ? byGroup : byLocation).map(keyOf));
  return alerts.filter((alert) => {
    if (isSharedOutage(alert)) return keys.has(keyOf(alert));
    return alert.facts.problem !== "offline" || !isWithin(alert, keys);
  });
}

/** The outages that have recordings beyond the ones before. */
function named<T extends Countable>(outages: readonly T[]): T[] {
  return eachLeft(outages).flatMap(([outage, left]) => (left === 0 ? [] : [outage]));
}
