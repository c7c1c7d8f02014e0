/** Which active alerts need somebody. The status page, the API, the command line and messages count with it. */
import {
  type Alert,
  groupNouns,
  groupOfSubject,
  type Labels,
  problems,
  recordingProblems,
  sharedOutages,
} from "../health/alert.ts";
import { count, counted, nameOf } from "../lib/format.ts";
import { areMixed, extentOf, extentPhrase, isOfflineNow, isSharedOutage } from "./extent.ts";

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

/** Of an alert with what suppresses it. */
export function attentionTo(
  active: Omit<Suppressors, "isPaused"> & { readonly alert: Pick<Alert, "facts"> },
): Attention {
  return attentionOf({ ...active, isPaused: active.alert.facts.paused });
}

/** The alerts that need somebody. */
export function neededOf<A extends Pick<Alert, "facts">>(
  active: readonly (Omit<Suppressors, "isPaused"> & { readonly alert: A })[],
): A[] {
  return active.filter((one) => attentionTo(one) === "needed").map(({ alert }) => alert);
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

/** Alerts about lenswatch itself are the loudest, and never part of a cluster. */
export function isOfLenswatch({ subject }: Pick<Alert, "subject">): boolean {
  return subject.kind === "service" || subject.kind === "integration";
}

const SEVERITIES: readonly string[] = ["critical", "error", "warning", "info"];

/** 0 for critical; the highest for a severity that is none of the usual ones. */
export function severityRank({ severity = "" }: Labels): number {
  const rank = SEVERITIES.indexOf(severity);
  return rank < 0 ? SEVERITIES.length : rank;
}

type Described = Pick<Alert, "subject" | "labels" | "facts">;

/** `20 locations offline, 2 recordings degraded`: what alerts report, each subject once, the most severe first. */
export function phraseOf(alerts: readonly Described[]): string {
  if (!areMixed(alerts)) return kindsPhrase(alerts);
  const others = alerts.filter((alert) => !isSharedOutage(alert) && !isOfflineNow(alert));
  return [extentPhrase(extentOf(alerts)), ...(others.length > 0 ? [kindsPhrase(others)] : [])].join(", ");
}

function kindsPhrase(alerts: readonly Described[]): string {
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
function wordsOf({ labels, facts: { problem, offline, clearing }, subject }: Described): readonly [string, string] {
  const { kind } = subject;
  if (sharedOutages.has(problem)) {
    const group = groupOfSubject(subject);
    return [group ? groupNouns[group.label] : "location", offline === 0 ? " recovering" : " offline"];
  }
  if (problem !== undefined && problem in recordingProblems)
    return clearing
      ? ["recording", " recovering"]
      : ["recording", ` ${recordingProblems[problem as keyof typeof recordingProblems].adjective}`];
  if (kind === "integration") return [kind, " failing"];
  const name = (problem && problems[problem]?.name.toLowerCase()) ?? nameOf(labels.alertname ?? "", "unnamed", 40);
  if (kind === "service" && name.startsWith(kind)) return [kind, name.slice(kind.length)];
  return [kind === "recording" || kind === "location" ? kind : "alert", ` (${name})`];
}
