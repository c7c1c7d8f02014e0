/** Two tallies side by side: a row for whatever either of them has. */
import {
  type Count,
  inOrderOf,
  inOrderOfReceivers,
  type ReceiverRow,
  type RecordingRow,
  type RuleRow,
  type Tally,
} from "./tally.ts";

/** What the first configuration counted and, where there is one, the second. */
export interface Beside<Figures> {
  readonly first: Figures;
  readonly second: Figures | undefined;
}

export type RuleBeside = Pick<RuleRow, "rule" | "locationId" | "location" | "week"> & Beside<Count>;
export type RecordingBeside = Pick<RecordingRow, "recordingId" | "recording" | "location"> & Beside<Count>;
export type Messages = Pick<ReceiverRow, "messages" | "byReason">;
export type ReceiverBeside = Pick<ReceiverRow, "receiver" | "week"> & Beside<Messages>;

export interface Comparison {
  readonly rules: readonly RuleBeside[];
  readonly recordings: readonly RecordingBeside[];
  readonly receivers: readonly ReceiverBeside[];
}

const NONE: Count = { episodes: 0, firingMs: 0, longestMs: 0 };
const SILENCE: Messages = { messages: 0, byReason: {} };

/** In the order of the first, what the second alone has where it would stand; recordings it alone has come last. */
export function compare(first: Tally, second?: Tally): Comparison {
  const union = (of: keyof Tally["order"]) => [
    ...new Set([...first.order[of], ...(second?.order[of] ?? [])]),
  ];
  const ruleKey = ({ rule, locationId, week }: RuleRow) => [rule, locationId, week];
  return {
    rules: besideEachOther(first.rules, second?.rules, NONE, ruleKey).sort(inOrderOf(union("rules"))),
    recordings: besideEachOther(first.recordings, second?.recordings, NONE, ({ recordingId }) => [
      recordingId,
    ]),
    receivers: besideEachOther(first.receivers, second?.receivers, SILENCE, ({ receiver, week }) => [
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
  const own = first.map((row) => ({ ...row, first: row, second: others.get(key(row)) ?? none }));
  const known = new Set(first.map(key));
  const alone = second
    .filter((row) => !known.has(key(row)))
    .map((row) => ({ ...row, first: none, second: row }));
  return [...own, ...alone];
}

/** The rows of each rule as one: episodes and time added up, the longest of the longest. */
export function byRule(rows: readonly RuleBeside[]): ({ readonly rule: string } & Beside<Count>)[] {
  return [...Map.groupBy(rows, ({ rule }) => rule)].map(([rule, own]) => ({
    rule,
    first: sum(own.map(({ first }) => first)),
    second: own[0]?.second && sum(own.map(({ second }) => second ?? NONE)),
  }));
}

function sum(counts: readonly Count[]): Count {
  return {
    episodes: counts.reduce((all, { episodes }) => all + episodes, 0),
    firingMs: counts.reduce((all, { firingMs }) => all + firingMs, 0),
    longestMs: Math.max(0, ...counts.map(({ longestMs }) => longestMs)),
  };
}
