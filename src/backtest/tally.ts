/**
 * Counts of a backtest: episodes by rule, location and week, and by recording; messages by receiver and week. Those of
 * two configurations side by side have a row for each key of either.
 */
import { DateTime } from "luxon";
import type { NotifyReason } from "../alerting/notification.ts";
import type { Alert } from "../health/alert.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import { compareText } from "../lib/text.ts";
import type { ReplayedMessage } from "./messages.ts";
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

interface ReceiverRow {
  readonly receiver: string;
  readonly week: string;
  readonly messages: number;
  readonly byReason: Readonly<Partial<Record<NotifyReason, number>>>;
}

export type BacktestCounts = ReturnType<typeof countEpisodes>;

/** `transitions` are in order of time. */
export function countEpisodes(
  transitions: readonly Transition[],
  messages: readonly ReplayedMessage[],
  { setup, span }: { readonly setup: Pick<ReplaySetup, "rules" | "receivers">; readonly span: TimeSpan },
) {
  const order = { rules: setup.rules.map(({ id }) => id), receivers: setup.receivers.map(({ name }) => name) };
  const episodes = [...episodesOf(transitions, span)];
  return {
    /** Ids of the rules and names of the receivers, as configured. */
    order,
    /** In order of rule as configured, location by name, and week. */
    rules: summedBy(ruleKey, episodes.flatMap(ruleRowsOf)).sort(inOrderOf(order.rules)),
    /** Of alerts that name figures: what they said when they began to fire, in order of time. */
    said: episodes.flatMap(saidBy).sort((a, b) => a.firedAt - b.firedAt),
    /** Most time firing first. */
    recordings: summedBy(recordingKey, episodes.flatMap(recordingCountOf)).sort(
      (a, b) => b.firingMs - a.firingMs || b.episodes - a.episodes || compareText(a.recordingId, b.recordingId),
    ),
    /** In order of receiver as configured, and week; without weeks that have no message. */
    receivers: receiversOf(messages).sort(inOrderOfReceivers(order.receivers)),
  };
}

/** What makes two rows one. */
const ruleKey = ({ rule, locationId, week }: RuleRow) => JSON.stringify([rule, locationId, week]);
const recordingKey = ({ recordingId }: RecordingCount) => recordingId;
const receiverKey = ({ receiver, week }: Pick<ReceiverRow, "receiver" | "week">) => JSON.stringify([receiver, week]);

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

function receiversOf(messages: readonly ReplayedMessage[]): ReceiverRow[] {
  const sent = messages.map(({ at, ...message }) => ({ ...message, week: weekOf(at) }));
  return [...Map.groupBy(sent, receiverKey).values()].flatMap((own) => {
    const reasons = [...Map.groupBy(own, ({ reason }) => reason)].map(([reason, some]) => [reason, some.length]);
    const { receiver, week } = own[0] ?? { receiver: "", week: "" };
    return { receiver, week, messages: own.length, byReason: Object.fromEntries(reasons) };
  });
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

/** Receivers as configured, weeks in time. */
function inOrderOfReceivers(receivers: readonly string[]): (a: ReceiverRow, b: ReceiverRow) => number {
  return (a, b) => receivers.indexOf(a.receiver) - receivers.indexOf(b.receiver) || compareText(a.week, b.week);
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

/** Counts of the first configuration and, where there is one, of the second. */
export type Beside<Figures> = { readonly first: Figures; readonly second: Figures | undefined };

export type Messages = Pick<ReceiverRow, "messages" | "byReason">;

export type Comparison = ReturnType<typeof compareCounts>;

const NONE: EpisodeCount = { episodes: 0, firingMs: 0, longestMs: 0 };
const NO_MESSAGES: Messages = { messages: 0, byReason: {} };

/** Rules and receivers in the order of the first, then the second; recordings only the second has come last. */
export function compareCounts(first: BacktestCounts, second?: BacktestCounts) {
  const union = (of: keyof BacktestCounts["order"]) => [...new Set([...first.order[of], ...(second?.order[of] ?? [])])];
  const [one, other] = [first, second].map((counts) => counts && summedBy(({ rule }) => rule, counts.rules));
  return {
    rules: beside(ruleKey, NONE, first.rules, second?.rules).sort(inOrderOf(union("rules"))),
    /** Summed over locations and weeks. */
    totals: beside(({ rule }) => rule, NONE, one ?? [], other).sort(inOrderOf(union("rules"))),
    recordings: beside(recordingKey, NONE, first.recordings, second?.recordings),
    receivers: beside(receiverKey, NO_MESSAGES, first.receivers, second?.receivers).sort(
      inOrderOfReceivers(union("receivers")),
    ),
  };
}

function beside<Row extends Figures, Figures>(
  keyOf: (row: Row) => string,
  none: Figures,
  first: readonly Row[],
  second: readonly Row[] | undefined,
): (Row & Beside<Figures>)[] {
  const firsts = new Map(first.map((row) => [keyOf(row), row]));
  const seconds = second && new Map(second.map((row) => [keyOf(row), row]));
  const rows = new Map([...firsts, ...(seconds ?? []), ...firsts]);
  return [...rows].map(([key, row]) => ({
    ...row,
    first: firsts.get(key) ?? none,
    second: seconds && (seconds.get(key) ?? none),
  }));
}
