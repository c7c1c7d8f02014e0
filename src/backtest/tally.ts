/** Counts of a backtest: episodes by rule, by rule, location and week, and by recording. */
import { DateTime } from "luxon";
import type { Alert } from "../health/alert.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import { compareText } from "../lib/text.ts";
import type { ReplaySetup, TimeSpan } from "./setup.ts";

/** Episodes that began to fire, their total firing time and the longest of them. */
export type EpisodeCount = { readonly episodes: number; readonly firingMs: number; readonly longestMs: number };

/** A week in which an alert of the rule fired at the location; an episode counts in the week it began to fire. */
interface RuleRow extends EpisodeCount {
  /** The rule's id: its alert's name, with `#2` and so on where several share one. */
  readonly rule: string;
  readonly locationId: string;
  readonly location: string;
  readonly week: string;
}

type RecordingCount = EpisodeCount & Readonly<Record<"recordingId" | "recording" | "location", string>>;

export type BacktestCounts = ReturnType<typeof countEpisodes>;

/** `transitions` are in order of time. */
export function countEpisodes(
  transitions: readonly Transition[],
  { setup, span }: { readonly setup: Pick<ReplaySetup, "rules">; readonly span: TimeSpan },
) {
  const order = setup.rules.map(({ id }) => id);
  const episodes = [...episodesOf(transitions, span)];
  const rules = summedBy(ruleKey, episodes.flatMap(ruleRowsOf)).sort(inOrderOf(order));
  return {
    /** In order of rule as configured, location by name, and week. */
    rules,
    /** Summed over locations and weeks. */
    totals: summedBy(({ rule }) => rule, rules),
    /** Texts of alerts that name figures, as they began to fire, in order of time. */
    said: episodes.flatMap(saidBy).sort((a, b) => a.firedAt - b.firedAt),
    /** Most time firing first. */
    recordings: summedBy(recordingKey, episodes.flatMap(recordingCountOf)).sort(
      (a, b) => b.firingMs - a.firingMs || b.episodes - a.episodes || compareText(a.recordingId, b.recordingId),
    ),
  };
}

/** The key of a row: equal ones are added up. */
const ruleKey = ({ rule, locationId, week }: RuleRow) => JSON.stringify([rule, locationId, week]);
const recordingKey = ({ recordingId }: RecordingCount) => recordingId;

/** Up to the span's end where it still fires. */
type Episode = TimeSpan & { readonly alert: Alert; readonly began: Alert };

function* episodesOf(transitions: readonly Transition[], span: TimeSpan): Generator<Episode> {
  const open = new Map<string, Alert>();
  for (const { kind, alert } of transitions) {
    if (kind === "firing") open.set(alert.id, alert);
    if (kind !== "resolved") continue;
    yield { alert, began: open.get(alert.id) ?? alert, from: alert.firedAt, to: alert.updatedAt };
    open.delete(alert.id);
  }
  for (const alert of open.values()) yield { alert, began: alert, from: alert.firedAt, to: span.to };
}

function saidBy({ alert: { state, labels, ruleId: rule }, began, from: firedAt, to }: Episode) {
  const { startsAt, facts } = began;
  if (facts.detail === undefined) return [];
  const { location_id: locationId, location = "", recording_id: recordingId } = labels;
  const until = state === "resolved" ? to : undefined;
  const { detail: text, timezone } = facts;
  return [{ rule, locationId, location, recordingId, text, timezone, startsAt, firedAt, until }];
}

function ruleRowsOf({ alert: { labels, ruleId: rule }, from, to }: Episode): RuleRow[] {
  const locationId = labels.location_id ?? "";
  const location = labels.location ?? locationId;
  return [...byWeek({ from, to })].map(({ week, ms: firingMs }, i) => {
    const begun = i === 0 ? { episodes: 1, longestMs: to - from } : { episodes: 0, longestMs: 0 };
    return { rule, locationId, location, week, firingMs, ...begun };
  });
}

function recordingCountOf({ alert: { labels, subject }, from, to }: Episode): RecordingCount[] {
  if (subject.kind !== "recording") return [];
  const { recording = subject.id, location = labels.location_id ?? "" } = labels;
  return [{ recordingId: subject.id, recording, location, episodes: 1, firingMs: to - from, longestMs: to - from }];
}

/** One row for each key: sums of episodes and time, and the longest episode. */
function summedBy<Row extends EpisodeCount>(keyOf: (row: Row) => string, rows: readonly Row[]): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row)) ?? { ...row, episodes: 0, firingMs: 0, longestMs: 0 };
    sums.set(keyOf(row), {
      ...sum,
      episodes: sum.episodes + row.episodes,
      firingMs: sum.firingMs + row.firingMs,
      longestMs: Math.max(sum.longestMs, row.longestMs),
    });
  }
  return [...sums.values()];
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Rules as configured, locations by name, weeks in time. */
function inOrderOf(ruleIds: readonly string[]): (a: RuleRow, b: RuleRow) => number {
  return (a, b) =>
    ruleIds.indexOf(a.rule) - ruleIds.indexOf(b.rule) ||
    collator.compare(a.location, b.location) ||
    compareText(a.locationId, b.locationId) ||
    compareText(a.week, b.week);
}

/** The ISO week in UTC: `2026-W36`. */
function weekOf(at: Instant): string {
  return DateTime.fromMillis(at, { zone: "utc" }).toFormat("kkkk-'W'WW");
}

/** The part of the span in each ISO week it touches, in order, ms. */
export function* byWeek({ from, to }: TimeSpan): Generator<{ readonly week: string; readonly ms: number }> {
  let monday = DateTime.fromMillis(from, { zone: "utc" }).startOf("week");
  for (let start = from; start < to; start = monday.toMillis()) {
    monday = monday.plus({ weeks: 1 });
    yield { week: weekOf(start), ms: Math.min(to, monday.toMillis()) - start };
  }
}
