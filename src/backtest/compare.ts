/** The counts of two configurations side by side, one row for each key of either. */
import {
  type BacktestCounts,
  type EpisodeCount,
  inOrderOf,
  inOrderOfReceivers,
  type ReceiverRow,
  type RecordingCount,
  type RuleRow,
  receiverKey,
  recordingKey,
  ruleKey,
  summedBy,
} from "./tally.ts";

/** Counts of the first configuration and, where there is one, of the second. */
export interface Beside<Figures> {
  readonly first: Figures;
  readonly second: Figures | undefined;
}

export type Messages = Pick<ReceiverRow, "messages" | "byReason">;

export interface Comparison {
  readonly rules: readonly (RuleRow & Beside<EpisodeCount>)[];
  /** Summed over locations and weeks. */
  readonly totals: readonly (RuleRow & Beside<EpisodeCount>)[];
  readonly recordings: readonly (RecordingCount & Beside<EpisodeCount>)[];
  readonly receivers: readonly (ReceiverRow & Beside<Messages>)[];
}

const NONE: EpisodeCount = { episodes: 0, firingMs: 0, longestMs: 0 };
const NO_MESSAGES: Messages = { messages: 0, byReason: {} };

/** Rules and receivers in the order of the first, then the second; recordings only the second has come last. */
export function compareCounts(first: BacktestCounts, second?: BacktestCounts): Comparison {
  const union = (of: keyof BacktestCounts["order"]) => [...new Set([...first.order[of], ...(second?.order[of] ?? [])])];
  const [one, other] = [first, second].map((counts) => counts && summedBy(({ rule }) => rule, counts.rules));
  return {
    rules: beside(ruleKey, NONE, first.rules, second?.rules).sort(inOrderOf(union("rules"))),
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
