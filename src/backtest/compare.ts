/** The counts of two configurations side by side, one row for each key of either. */
import {
  type BacktestCounts,
  type EpisodeCount,
  inOrderOf,
  inOrderOfReceivers,
  type ReceiverRow,
  type RecordingCount,
  type RuleRow,
} from "./tally.ts";

/** Counts of the first configuration and, where there is one, of the second. */
export interface Beside<Figures> {
  readonly first: Figures;
  readonly second: Figures | undefined;
}

type RuleBeside = Pick<RuleRow, "rule" | "locationId" | "location" | "week"> & Beside<EpisodeCount>;
type RecordingBeside = Pick<RecordingCount, "recordingId" | "recording" | "location"> & Beside<EpisodeCount>;
export type Messages = Pick<ReceiverRow, "messages" | "byReason">;
type ReceiverBeside = Pick<ReceiverRow, "receiver" | "week"> & Beside<Messages>;

export interface Comparison {
  readonly rules: readonly RuleBeside[];
  readonly recordings: readonly RecordingBeside[];
  readonly receivers: readonly ReceiverBeside[];
}

const NONE: EpisodeCount = { episodes: 0, firingMs: 0, longestMs: 0 };
const NO_MESSAGES: Messages = { messages: 0, byReason: {} };

/** Rules and receivers in the order of the first, then the second; recordings only the second has come last. */
export function compareCounts(first: BacktestCounts, second?: BacktestCounts): Comparison {
  const union = (of: keyof BacktestCounts["order"]) => [...new Set([...first.order[of], ...(second?.order[of] ?? [])])];
  const ruleKey = ({ rule, locationId, week }: RuleRow) => [rule, locationId, week];
  return {
    rules: besideEachOther(first.rules, second?.rules, NONE, ruleKey).sort(inOrderOf(union("rules"))),
    recordings: besideEachOther(first.recordings, second?.recordings, NONE, ({ recordingId }) => [recordingId]),
    receivers: besideEachOther(first.receivers, second?.receivers, NO_MESSAGES, ({ receiver, week }) => [
      receiver,
      week,
    ]).sort(inOrderOfReceivers(union("receivers"))),
  };
}

function besideEachOther<Row extends Figures, Figures>(
  first: readonly Row[],
  second: readonly Row[] | undefined,
  none: Figures,
  keyOf: (row: Row) => readonly string[],
): (Row & Beside<Figures>)[] {
  const key = (row: Row) => JSON.stringify(keyOf(row));
  if (!second) return first.map((row) => ({ ...row, first: row, second: undefined }));
  const others = new Map(second.map((row) => [key(row), row]));
  const both = first.map((row) => ({ ...row, first: row, second: others.get(key(row)) ?? none }));
  const known = new Set(first.map(key));
  const alone = second.filter((row) => !known.has(key(row))).map((row) => ({ ...row, first: none, second: row }));
  return [...both, ...alone];
}

/** One row for each rule: sums of episodes and time, and the longest episode. */
export function byRule(rows: readonly RuleBeside[]): ({ readonly rule: string } & Beside<EpisodeCount>)[] {
  return [...Map.groupBy(rows, ({ rule }) => rule)].map(([rule, own]) => ({
    rule,
    first: sum(own.map(({ first }) => first)),
    second: own[0]?.second && sum(own.map(({ second }) => second ?? NONE)),
  }));
}

function sum(counts: readonly EpisodeCount[]): EpisodeCount {
  return {
    episodes: counts.reduce((all, { episodes }) => all + episodes, 0),
    firingMs: counts.reduce((all, { firingMs }) => all + firingMs, 0),
    longestMs: Math.max(0, ...counts.map(({ longestMs }) => longestMs)),
  };
}
