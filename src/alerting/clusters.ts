/** Alerts that began together or share a place, with what explains them. Pages, the API and messages have the same. */
import { type Alert, type GroupLabel, groupNouns, sharedOutages } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { count, counted, nameOf } from "../lib/format.ts";
import { isOfLenswatch } from "./attention.ts";

type Clusterable = Pick<Alert, "id" | "subject" | "labels" | "startsAt" | "facts">;

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

/** An explanation of a cluster: a label that its recordings share, with nine in ten of those that have it and not the whole fleet. */
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

/** Alerts that began together, with a cause or without, or are at one location or camera server; at least two. */
export interface Cluster<T extends Clusterable> {
  readonly cause?: SharedCause | undefined;
  /** Names it in a request about all of it: see `alertsOfCluster`. */
  readonly key: string;
  /** Oldest first. */
  readonly alerts: readonly T[];
  readonly since: Instant;
}

/** Starts no further apart than this belong together, as long as the whole takes no longer than `LONGEST_MS`. */
const GAP_MS = 120_000;
const LONGEST_MS = 600_000;
export const FEWEST_TOGETHER = 3;

/**
 * Clusters of alerts that need somebody: first those that began together, apart by cause, then those that share a
 * place. Without sizes nothing is explained.
 */
export function clustersOf<T extends Clusterable>(
  needed: readonly T[],
  sizes?: GroupSizes,
): { readonly clusters: readonly Cluster<T>[]; readonly single: readonly T[] } {
  const own = needed.filter(isOfLenswatch);
  const sorted = needed.filter((alert) => !isOfLenswatch(alert)).sort((a, b) => a.startsAt - b.startsAt);
  const bursts = burstsOf(sorted);
  const clusters: Cluster<T>[] = [];
  let rest: T[] = [];
  for (const burst of bursts) {
    const { explained, others } = explain(burst, sizes);
    clusters.push(...explained);
    if (others.length < FEWEST_TOGETHER) rest.push(...others);
    else clusters.push(clusterOf(burstKey(burst, explained), others));
  }
  for (const label of SHARED) {
    const groups = Map.groupBy(rest, ({ labels }) => labels[label] ?? "");
    const shared = [...groups].filter(([value, alerts]) => value !== "" && alerts.length > 1);
    clusters.push(...shared.map(([value, alerts]) => clusterOf(`${label}:${value}`, alerts)));
    const taken = new Set(shared.flatMap(([, alerts]) => alerts));
    rest = rest.filter((alert) => !taken.has(alert));
  }
  return { clusters, single: [...own, ...rest] };
}

const SHARED = ["location_id", "camera_server"] as const;

/** Labels that may be causes; of those that explain as much, the first one. A time zone fails nothing. */
const CAUSES = ["camera_server", "location_id", "organisation"] as const;
/** The share of a label's recordings that must be affected: a weaker cause would split one outage. */
const CAUSE_SHARE = 0.9;
/** Longer keys are not taken back from a form. */
const LONGEST_KEY = 500;

function explain<T extends Clusterable>(burst: readonly T[], sizes: GroupSizes | undefined) {
  const explained: Cluster<T>[] = [];
  let others = [...burst];
  while (sizes && others.length >= FEWEST_TOGETHER) {
    const found = CAUSES.flatMap((label) => {
      const groups = Map.groupBy(others, ({ labels }) => labels[label] ?? "");
      return [...groups].flatMap(([value, alerts]) => causeOf({ label, value }, alerts, sizes) ?? []);
    });
    const [first] = found.sort((a, b) => b.alerts.length - a.alerts.length);
    if (!first || burstKey(burst, [...explained, first]).length > LONGEST_KEY) break;
    explained.push(clusterOf(`${causeText(first.cause)}&${burstKey(burst, [])}`, first.alerts, first.cause));
    const taken = new Set(first.alerts);
    others = others.filter((alert) => !taken.has(alert));
  }
  return { explained, others };
}

function causeOf<T extends Clusterable>(
  { label, value }: Pick<SharedCause, "label" | "value">,
  alerts: readonly T[],
  sizes: GroupSizes,
): { readonly alerts: readonly T[]; readonly cause: SharedCause } | undefined {
  const { fleet, of, has } = sizes;
  const size = value === "" ? undefined : of(label, value);
  if (!size || alerts.length < FEWEST_TOGETHER || size.known >= fleet.known) return undefined;
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
  return { alerts, cause: { label, value, ...(name && { name }), affected, known: size.known, isAlone } };
}

/** Recordings that alerts are about, or count as offline; those of an offline location once. */
function affectedBy(alerts: readonly Clusterable[], isIn: (recordingId: string) => boolean): number {
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
  const where = group ? `of ${group} ${nameOf(name || value, "")}` : `at ${nameOf(name, value)}`;
  return `${extent} ${where}${isAlone ? ", no other" : ""}`;
}

const MOST_CAUSES = 3;

/**
 * Causes of the alerts of one message, the same as everywhere else: those of which it has several, the
 * widest first. A message about one location names that anyway.
 */
export function causesIn(clusters: readonly Cluster<Clusterable>[], alerts: readonly Clusterable[]): SharedCause[] {
  const ids = new Set(alerts.map(({ id }) => id));
  const isSpread = new Set(alerts.map(({ labels }) => labels.location_id)).size > 1;
  const found = clusters.flatMap(({ cause, alerts: of }) => {
    const own = of.filter(({ id }) => ids.has(id)).length;
    if (!cause || own < FEWEST_TOGETHER || (cause.label === "location_id" && !isSpread)) return [];
    return [{ cause, own }];
  });
  found.sort((a, b) => b.own - a.own);
  return found.slice(0, MOST_CAUSES).map(({ cause }) => cause);
}

/** The key of a burst: when it began and ended, and the causes taken out of it. */
function burstKey(
  burst: readonly Clusterable[],
  without: readonly { readonly cause?: SharedCause | undefined }[],
): string {
  const causes = without.map(({ cause }) => `&${cause ? causeText(cause) : ""}`);
  return `t:${burst[0]?.startsAt}-${burst.at(-1)?.startsAt}${causes.join("")}`;
}

function causeText({ label, value }: Pick<SharedCause, "label" | "value">): string {
  return `${label}=${encodeURIComponent(value.toWellFormed())}`;
}

function clusterOf<T extends Clusterable>(key: string, alerts: readonly T[], cause?: SharedCause): Cluster<T> {
  return { key, alerts, since: alerts[0]?.startsAt ?? 0, ...(cause && { cause }) };
}

function burstsOf<T extends Clusterable>(sorted: readonly T[]): T[][] {
  const bursts: T[][] = [];
  for (const alert of sorted) {
    const burst = bursts.at(-1);
    const [first, last] = [burst?.[0]?.startsAt ?? -Infinity, burst?.at(-1)?.startsAt ?? -Infinity];
    if (burst && alert.startsAt - last <= GAP_MS && alert.startsAt - first <= LONGEST_MS) burst.push(alert);
    else bursts.push([alert]);
  }
  return bursts;
}

/** The alerts among `needed` that a key means now: some may have ended, others may have joined the cluster since. */
export function alertsOfCluster<T extends Clusterable>(
  key: string,
  needed: readonly T[],
  sizes?: () => GroupSizes,
): readonly T[] {
  const [, of, from, to, without = ""] = /^(?:([^&]+)&)?t:(\d{1,16})-(\d{1,16})((?:&[^&]*)*)$/.exec(key) ?? [];
  if (from !== undefined && to !== undefined) {
    const others = new Set(without.split("&").slice(1));
    return needed.filter((one) => {
      if (isOfLenswatch(one) || one.startsAt < Number(from) || one.startsAt > Number(to)) return false;
      const causes = CAUSES.map((label) => causeText({ label, value: one.labels[label] ?? "" }));
      return of === undefined ? !causes.some((cause) => others.has(cause)) : causes.includes(of);
    });
  }
  const { clusters, single } = clustersOf(needed, sizes?.());
  const found = clusters.find((cluster) => cluster.key === key);
  return found?.alerts ?? single.filter(({ labels }) => SHARED.some((label) => `${label}:${labels[label]}` === key));
}
