/** Tones: how bad things are, and the one colour and sign of each on every surface. Pure. */
import type { Alert } from "../health/alert.ts";
import type { RecordingStatus } from "../health/recording.ts";
import type { StatusCounts } from "../health/status-counts.ts";
import type { Attention } from "./attention.ts";

/**
 * The worst first. `info`: what fires needs nobody, or somebody has it; `good`: all is well, or has recovered; `unknown`:
 * it may be well or not.
 */
export const tones = ["critical", "warning", "unknown", "info", "good"] as const;
export type Tone = (typeof tones)[number];

interface Look {
  /** In messages: an emoji, as their markup has no colours. */
  readonly sign: string;
  /** In pages and terminals: a character of every font. */
  readonly mark: string;
  /** On white and on black, for channels that take a colour. */
  readonly colour: string;
  /** The same in Adaptive Cards. */
  readonly card: "attention" | "warning" | "default" | "accent" | "good";
  readonly terminal: "red" | "yellow" | "magenta" | "cyan" | "green";
}

export const looks: Readonly<Record<Tone, Look>> = {
  critical: { sign: "🔴", mark: "✕", colour: "#d32f2f", card: "attention", terminal: "red" },
  warning: { sign: "🟠", mark: "▲", colour: "#e08a00", card: "warning", terminal: "yellow" },
  unknown: { sign: "⚪", mark: "?", colour: "#7a808a", card: "default", terminal: "magenta" },
  info: { sign: "🔵", mark: "i", colour: "#2f6fb5", card: "accent", terminal: "cyan" },
  good: { sign: "✅", mark: "✓", colour: "#2e9e5b", card: "good", terminal: "green" },
};

/** The tone of a status by itself. An alert says how bad it is that a recording has it. */
export const statusTones: Readonly<Record<RecordingStatus, Tone>> = {
  offline: "critical",
  unknown: "unknown",
  degraded: "warning",
  online: "good",
};

/** The tone of recordings without an alert: one that is not online has not been so for long enough, or needs nobody. */
export function countsTone({ unknown, offline, degraded, online }: StatusCounts): Tone {
  if (unknown > 0) return "unknown";
  if (offline + degraded > 0) return "info";
  return online > 0 ? "good" : "unknown";
}

export function worstTone(all: Iterable<Tone>): Tone {
  const found = new Set(all);
  return tones.find((tone) => found.has(tone)) ?? "good";
}

/** Severities as people write them, by how bad they are. */
const SEVERITIES = [["critical", "page", "emergency"], ["error"], ["warning", "warn"], ["info", "none"]] as const;

type Severe = { readonly severity?: string | undefined };

/** 0 for critical; the highest for a severity that is none of the usual ones. */
export function severityRank({ severity = "" }: Severe): number {
  const rank = SEVERITIES.findIndex((words) => (words as readonly string[]).includes(severity.toLowerCase()));
  return rank < 0 ? SEVERITIES.length : rank;
}

const RANKED: readonly Tone[] = ["critical", "critical", "warning"];

export function severityTone(of: Severe): Tone {
  return RANKED[severityRank(of)] ?? "info";
}

/** A firing alert, and whether it needs somebody. */
export type Rated = readonly [alert: Pick<Alert, "labels" | "subject">, attention: Attention];

/** Wider alerts inhibit those of what is within. */
export const breadths = {
  service: 0,
  integration: 1,
  group: 2,
  location: 3,
  recording: 4,
  external: 5,
  directory: 6,
} as const;

/**
 * The tone of firing alerts: that of the worst one that needs somebody. An inhibited one counts by its severity, unless
 * the alert that stands for it is among them.
 */
export function toneOf(rated: Iterable<Rated>): Tone {
  const all = [...rated];
  const own = all.filter(([, attention]) => attention !== "inhibited");
  const subjects = new Set(own.map(([{ subject }]) => subject.id));
  const widest = Math.min(...own.map(([{ subject }]) => breadths[subject.kind]));
  const isCovered = ({ subject }: Rated[0]) => subjects.has(subject.id) || widest < breadths[subject.kind];
  return worstTone(
    all.flatMap(([alert, attention]) => {
      if (attention === "inhibited") return isCovered(alert) ? [] : severityTone(alert.labels);
      return attention === "needed" ? severityTone(alert.labels) : "info";
    }),
  );
}
