/** Counts of a backtest: episodes by rule, location and week, and by recording; messages by receiver and week. */
import { DateTime } from "luxon";
import type { NotifyReason } from "../alerting/notification.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import type { ReplayedMessage } from "./messages.ts";
import type { TimeSpan } from "./setup.ts";

/** Episodes that began to fire, their total firing time and the longest of them. */
export interface EpisodeCount {
  readonly episodes: number;
  readonly firingMs: number;
  readonly longestMs: number;
}

/** A week in which an alert of the rule fired at the location; an episode counts in the week it began to fire. */
export interface RuleRow extends EpisodeCount {
  /** The rule's id: its alert's name, with `#2` and so on where several share one. */
  readonly rule: string;
  readonly locationId: string;
  readonly location: string;
  readonly week: string;
}

export interface RecordingCount extends EpisodeCount {
  readonly recordingId: string;
  readonly recording: string;
  readonly location: string;
}

export interface ReceiverRow {
  readonly receiver: string;
  readonly week: string;
  readonly messages: number;
  readonly byReason: Readonly<Partial<Record<NotifyReason, number>>>;
}

export interface BacktestCounts {
  /** Ids of the rules and names of the receivers, as configured. */
  readonly order: { readonly rules: readonly string[]; readonly receivers: readonly string[] };
  /** In order of rule as configured, location by name, and week. */
  readonly rules: readonly RuleRow[];
  /** Most time firing first. */
  readonly recordings: readonly RecordingCount[];
  /** In order of receiver as configured, and week; without weeks that have no message. */
  readonly receivers: readonly ReceiverRow[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface TallyInput {
  /** In order of time. */
  readonly transitions: readonly Transition[];
  readonly messages: readonly ReplayedMessage[];
  readonly span: TimeSpan;
  readonly ruleIds: readonly string[];
  readonly receivers: readonly string[];
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export function countEpisodes({ transitions, messages, span, ruleIds, receivers }: TallyInput): BacktestCounts {
  const rules = new Map<string, Writable<RuleRow>>();
  const recordings = new Map<string, Writable<RecordingCount>>();
  for (const { alert, firedAt, endedAt } of episodesOf(transitions, span)) {
    const { labels, subject, ruleId } = alert;
    const locationId = labels.location_id ?? "";
    const base = { rule: ruleId, locationId, location: labels.location ?? locationId };
    const began = weekOf(firedAt);
    for (const { week, ms } of byWeek({ from: firedAt, to: endedAt })) {
      const row = take(rules, JSON.stringify([ruleId, locationId, week]), { ...base, week, ...NONE });
      row.firingMs += ms;
      if (week === began) count(row, endedAt - firedAt);
    }
    if (subject.kind !== "recording") continue;
    const names = { recordingId: subject.id, recording: labels.recording ?? subject.id, location: base.location };
    const row = take(recordings, subject.id, { ...names, ...NONE });
    row.firingMs += endedAt - firedAt;
    count(row, endedAt - firedAt);
  }
  return {
    order: { rules: ruleIds, receivers },
    rules: [...rules.values()].sort(inOrderOf(ruleIds)),
    recordings: [...recordings.values()].sort(
      (a, b) => b.firingMs - a.firingMs || b.episodes - a.episodes || compare(a.recordingId, b.recordingId),
    ),
    receivers: receiversOf(messages, receivers),
  };
}

const NONE: EpisodeCount = { episodes: 0, firingMs: 0, longestMs: 0 };

function take<Row>(rows: Map<string, Row>, key: string, fresh: Row): Row {
  const row = rows.get(key) ?? fresh;
  rows.set(key, row);
  return row;
}

function count(row: Writable<EpisodeCount>, lastedMs: number): void {
  row.episodes++;
  row.longestMs = Math.max(row.longestMs, lastedMs);
}

interface Episode {
  readonly alert: Transition["alert"];
  readonly firedAt: Instant;
  /** The span's end where it still fires. */
  readonly endedAt: Instant;
}

function* episodesOf(transitions: readonly Transition[], span: TimeSpan): Generator<Episode> {
  const open = new Map<string, Transition["alert"]>();
  for (const { kind, alert } of transitions) {
    if (kind === "firing") open.set(alert.id, alert);
    if (kind !== "resolved") continue;
    open.delete(alert.id);
    yield { alert, firedAt: alert.firedAt, endedAt: alert.updatedAt };
  }
  for (const alert of open.values()) yield { alert, firedAt: alert.firedAt, endedAt: span.to };
}

function receiversOf(messages: readonly ReplayedMessage[], receivers: readonly string[]): ReceiverRow[] {
  const rows = new Map<string, Writable<ReceiverRow> & { byReason: Partial<Record<NotifyReason, number>> }>();
  for (const { at, receiver, reason } of messages) {
    const week = weekOf(at);
    const row = take(rows, JSON.stringify([receiver, week]), { receiver, week, messages: 0, byReason: {} });
    row.messages++;
    row.byReason[reason] = (row.byReason[reason] ?? 0) + 1;
  }
  return [...rows.values()].sort(inOrderOfReceivers(receivers));
}

/** Rules as configured, locations by name, weeks in time. */
export function inOrderOf(
  ruleIds: readonly string[],
): (a: Omit<RuleRow, keyof EpisodeCount>, b: Omit<RuleRow, keyof EpisodeCount>) => number {
  return (a, b) =>
    ruleIds.indexOf(a.rule) - ruleIds.indexOf(b.rule) ||
    collator.compare(a.location, b.location) ||
    compare(a.locationId, b.locationId) ||
    compare(a.week, b.week);
}

/** Receivers as configured, weeks in time. */
export function inOrderOfReceivers(
  receivers: readonly string[],
): (a: Pick<ReceiverRow, "receiver" | "week">, b: Pick<ReceiverRow, "receiver" | "week">) => number {
  return (a, b) => receivers.indexOf(a.receiver) - receivers.indexOf(b.receiver) || compare(a.week, b.week);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
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
