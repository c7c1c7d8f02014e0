/** The words for what alerts report: messages, pages and the command line name and count with the same. */
import {
  type Alert,
  groupLabels,
  groupNouns,
  groupOfSubject,
  recordingProblems,
  sharedOutages,
} from "../health/alert.ts";
import { count, counted, nameOf } from "../lib/format.ts";
import { areMixed, extentOf, extentPhrase, isOutage } from "./extent.ts";
import { severityRank } from "./tone.ts";

export type Described = Pick<Alert, "subject" | "labels" | "facts">;

interface Words {
  /** Follows a name or a number: `offline`. */
  readonly state: string;
  /** Stands before the time that it took: `was offline`. */
  readonly was: string;
  /** A sentence on what it means for the reader. */
  readonly meaning?: string;
}

const OFFLINE: Words = { state: "offline", was: "was offline" };

const WORDS: ReadonlyMap<string | undefined, Words> = new Map<string, Words>([
  ...Object.entries(recordingProblems).map(([key, { adjective, was }]) => [key, { state: adjective, was }] as const),
  ["location_offline", OFFLINE],
  ...groupLabels.map((label) => [`${label}_offline`, OFFLINE] as const),
  ["counts_together", { state: "counting too little together", was: "counted less at most locations" }],
  [
    "service_unreachable",
    {
      state: "unreachable",
      was: "was unreachable",
      meaning:
        "The status of recordings is unknown until they can be read again: no alert does not mean that a recording is online.",
    },
  ],
  [
    "service_partly_unreachable",
    {
      state: "partly unreachable",
      was: "was partly unreachable",
      meaning:
        "Some recordings or uptime figures are not up to date: for those, no alert does not mean that all is well.",
    },
  ],
  [
    "notifications_failing",
    { state: "failing", was: "was failing", meaning: "Notifications to that receiver are not delivered." },
  ],
  [
    "directory_stale",
    {
      state: "cannot be read",
      was: "could not be read",
      meaning: "Labels and contacts of locations are those of the last one.",
    },
  ],
]);

/** The words of the problem that the alert's rule watches; without one, the alert's name: `camera down`. */
export function wordsOf({ facts, subject, labels }: Described): Words {
  const known = WORDS.get(facts.problem);
  if (known) return known;
  if (subject.kind === "external") return { state: "firing", was: "was firing" };
  const name = nameOf(labels.alertname ?? "", "alert").replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2");
  const state = name.replace(/[_\s]+/g, " ").toLowerCase();
  return { state, was: `was reported: ${state}` };
}

/** `offline`, `recovering`: the state that an alert reports now. */
export function stateOf(alert: Described): string {
  const { clearing, offline, problem } = alert.facts;
  const isRecovering = clearing || (offline === 0 && sharedOutages.has(problem));
  return isRecovering ? "recovering" : wordsOf(alert).state;
}

/** The state after a name or a number: ` offline`, ` still offline`, `: camera down`. */
export function afterName(alert: Described, still = false): string {
  const isRule = !WORDS.has(alert.facts.problem) && alert.subject.kind !== "external";
  return `${still ? " still" : ""}${isRule ? ":" : ""} ${stateOf(alert)}`;
}

/** `recording`, `camera server`, `DiskFull alert`: the noun by which the alert's subject is counted. */
export function nounOf({ subject, labels }: Described): string {
  const group = groupOfSubject(subject);
  if (group) return groupNouns[group.label];
  return subject.kind === "external" ? `${nameOf(labels.alertname ?? "", "unnamed")} alert` : subject.kind;
}

const KINDS_NAMED = 3;

interface PhraseOptions<A> {
  /** True: `2 recordings still offline`. */
  readonly still?: boolean;
  /** Counts the recordings that are offline, and their locations, whatever alerts they have. */
  readonly isWide?: boolean;
  /** A single subject with what it reports; undefined: it is counted. */
  readonly single?: (alert: A, still: boolean, isOnly: boolean) => string | undefined;
}

/** `20 locations offline, 2 recordings degraded`: what alerts report, each subject once, the most severe first. */
export function phraseOf<A extends Described>(alerts: readonly A[], options: PhraseOptions<A> = {}): string {
  const { still = false, isWide = areMixed(alerts) } = options;
  if (!isWide) return kindsPhrase(alerts, options);
  const extent = extentPhrase(extentOf(alerts), still);
  const others = kindsPhrase(
    alerts.filter((alert) => !isOutage(alert)),
    { ...options, still: still && extent === "" },
  );
  return [extent, others].filter((part) => part !== "").join(", ");
}

function kindsPhrase<A extends Described>(alerts: readonly A[], { still = false, single }: PhraseOptions<A>): string {
  const kinds = [...Map.groupBy(alerts, (alert) => nounOf(alert) + afterName(alert)).values()].flatMap((of) => {
    const rank = of.reduce((least, { labels }) => Math.min(least, severityRank(labels)), Number.POSITIVE_INFINITY);
    return of[0] ? [{ first: of[0], rank, subjects: sizeOf(of) }] : [];
  });
  kinds.sort((a, b) => a.rank - b.rank || b.subjects - a.subjects);
  const isOnly = sizeOf(alerts) === 1;
  const phrases = kinds.slice(0, KINDS_NAMED).map(({ first, subjects }, i) => {
    if (isOnly && i > 0 && single) return stateOf(first);
    const named = subjects === 1 ? single?.(first, still && i === 0, isOnly) : undefined;
    return named ?? counted(subjects, nounOf(first)) + afterName(first, still && i === 0);
  });
  const others = kinds.slice(KINDS_NAMED).reduce((sum, { subjects }) => sum + subjects, 0);
  return [...phrases, ...(others > 0 ? [`${count(others)} more`] : [])].join(", ");
}

/** The number of subjects of the alerts. */
export function sizeOf(alerts: readonly Described[]): number {
  return new Set(alerts.map(({ subject }) => subject.id)).size;
}
