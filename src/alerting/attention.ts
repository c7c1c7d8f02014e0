/**
 * Which active alerts need somebody, and clusters of those that began together or share a cause. The status page, the
 * API, the command line and messages count with it.
 */
import {
  type Alert,
  type GroupLabel,
  groupNouns,
  type Labels,
  problems,
  recordingProblems,
  sharedOutages,
} from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { count, counted, nameOf } from "../lib/format.ts";

/** What is done about an alert already, or why nobody is needed; in the order they are named where several apply. */
export const attentions = [
  "silenced",
  "inhibited",
  "acknowledged",
  "maintenance",
  "muted",
  "paused",
  "needed",
] as const;
export type Attention = (typeof attentions)[number];

/** What is known of an active alert's suppression; empty lists count as absent. */
export interface Suppressors {
  readonly silencedBy?: readonly unknown[] | undefined;
  readonly inhibitedBy?: readonly unknown[] | undefined;
  readonly mutedBy?: readonly unknown[] | undefined;
  readonly maintenance?: unknown;
  readonly acknowledgement?: unknown;
  readonly isPaused?: boolean | undefined;
}

/** An alert that is inhibited is explained by another one, and is not counted with those that need somebody. */
export function attentionOf(of: Suppressors): Attention {
  if (of.silencedBy?.length) return "silenced";
  if (of.inhibitedBy?.length) return "inhibited";
  if (of.acknowledgement) return "acknowledged";
  if (of.maintenance) return "maintenance";
  if (of.mutedBy?.length) return "muted";
  return of.isPaused ? "paused" : "needed";
}

/** As headlines and lists count them; one that is inhibited is explained by another alert. */
const HANDLED_WORDS: Readonly<Record<Exclude<Attention, "needed">, string>> = {
  acknowledged: "acknowledged",
  silenced: "silenced",
  maintenance: "in maintenance",
  muted: "muted",
  paused: "outside the schedule",
  inhibited: "explained by another alert",
};

/** `26 need attention`. */
export function neededPhrase(n: number): string {
  return `${count(n)} ${n === 1 ? "needs" : "need"} attention`;
}

/** `3 acknowledged, 12 explained by another alert`; empty where nothing is. */
export function handledPhrase(handled: ReadonlyMap<Attention, number>): string {
  const all = Object.entries(HANDLED_WORDS).map(
    ([kind, words]) => [handled.get(kind as Attention) ?? 0, words] as const,
  );
  return all.flatMap(([n, words]) => (n === 0 ? [] : [`${count(n)} ${words}`])).join(", ");
}

type Clusterable = Pick<Alert, "subject" | "labels" | "startsAt" | "facts">;

/** How many recordings have a label, and how many of them are offline. */
interface GroupSize {
  readonly known: number;
  readonly offline: number;
}

/** The fleet by label. */
export interface GroupSizes {
  readonly fleet: GroupSize & { readonly unknown: number };
  of(label: string, value: string): GroupSize | undefined;
}

/** What explains a cluster: a label that its recordings share, with most of those that have it and not the whole fleet. */
export interface SharedCause {
  readonly label: string;
  readonly value: string;
  readonly affected: number;
  readonly known: number;
  /** No other recording is offline. */
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
const FEWEST_TOGETHER = 3;

/**
 * Of alerts that need somebody: first those that began together, apart by what explains them, then those that share a
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

/** Of causes that explain as much, the first one. */
const CAUSES = ["camera_server", "location_id", "organisation", "timezone"] as const;
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
  { fleet, of }: GroupSizes,
) {
  const size = value === "" ? undefined : of(label, value);
  if (!size || alerts.length < FEWEST_TOGETHER || size.known >= fleet.known) return undefined;
  const affected = Math.min(size.known, affectedBy(alerts));
  if (affected <= size.known / 2) return undefined;
  const isAlone = fleet.unknown === 0 && fleet.offline === size.offline && affected >= size.offline;
  return { alerts, cause: { label, value, affected, known: size.known, isAlone } };
}

/** Recordings that alerts are about, or count as offline; those of an offline location once. */
function affectedBy(alerts: readonly Clusterable[]): number {
  const counted = alerts.filter(({ facts }) => sharedOutages.has(facts.problem));
  const [locations, groups] = [true, false].map((is) =>
    counted.filter((one) => (one.subject.kind === "location") === is),
  );
  const sizes = new Map(locations?.map(({ subject, facts }) => [subject.id, facts.offline ?? 0]));
  const own = alerts.filter(
    ({ subject, labels }) => subject.kind === "recording" && !sizes.has(labels.location_id ?? ""),
  );
  const apart = new Set(own.map(({ subject }) => subject.id)).size;
  const together = sizes.values().reduce((sum, size) => sum + size, apart);
  return Math.max(together, ...(groups ?? []).map(({ facts }) => facts.offline ?? 0));
}

/** `all 38 recordings of camera server edge-7, no other`; the name of a location is given. */
export function causePhrase({ label, value, affected, known, isAlone }: SharedCause, location = ""): string {
  const extent =
    affected < known ? `${count(affected)} of ${counted(known, "recording")}` : `all ${counted(known, "recording")}`;
  const group = Object.hasOwn(groupNouns, label) ? groupNouns[label as GroupLabel] : undefined;
  const name = group ? `of ${group} ${nameOf(value, "")}` : `at ${nameOf(location, value)}`;
  return `${extent} ${name}${isAlone ? ", no other" : ""}`;
}

/** When a burst began and ended, and without what. */
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

/** Alerts about lenswatch itself are the loudest, and never part of a cluster. */
export function isOfLenswatch({ subject }: Pick<Alert, "subject">): boolean {
  return subject.kind === "service" || subject.kind === "integration";
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

const SEVERITIES: readonly string[] = ["critical", "error", "warning", "info"];

/** 0 for critical; the highest for a severity that is none of the usual ones. */
export function severityRank({ severity = "" }: Labels): number {
  const rank = SEVERITIES.indexOf(severity);
  return rank < 0 ? SEVERITIES.length : rank;
}

/** `20 locations offline, 2 recordings degraded`: what alerts report, each subject once, the most severe first. */
export function phraseOf(alerts: readonly Clusterable[]): string {
  const kinds = [...Map.groupBy(alerts, (alert) => wordsOf(alert).join("\n"))].map(([words, of]) => {
    const [noun = "", rest = ""] = words.split("\n");
    const rank = of.reduce((least, { labels }) => Math.min(least, severityRank(labels)), SEVERITIES.length);
    return { noun, rest, rank, subjects: new Set(of.map(({ subject }) => subject.id)).size };
  });
  kinds.sort((a, b) => a.rank - b.rank || b.subjects - a.subjects);
  const phrases = kinds.slice(0, KINDS_NAMED).map(({ noun, rest, subjects }) => `${counted(subjects, noun)}${rest}`);
  const others = kinds.slice(KINDS_NAMED).reduce((sum, { subjects }) => sum + subjects, 0);
  return [...phrases, ...(others > 0 ? [`${count(others)} more`] : [])].join(", ");
}

const KINDS_NAMED = 3;

/** What is counted, and what is said of it. */
function wordsOf({ labels, facts: { problem }, subject: { kind } }: Clusterable): readonly [string, string] {
  if (problem === "location_offline") return ["location", " offline"];
  if (problem !== undefined && problem in recordingProblems)
    return ["recording", ` ${recordingProblems[problem as keyof typeof recordingProblems].adjective}`];
  if (kind === "integration") return [kind, " failing"];
  const name = (problem && problems[problem]?.name.toLowerCase()) ?? nameOf(labels.alertname ?? "", "unnamed", 40);
  if (kind === "service" && name.startsWith(kind)) return [kind, name.slice(kind.length)];
  return [kind === "recording" || kind === "location" ? kind : "alert", `: ${name}`];
}
