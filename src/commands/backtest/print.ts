/** Output of a backtest: tables, JSON or CSV. */
import { notShown } from "../../backtest/backtest.ts";
import { type Beside, byRule, type Comparison, compareCounts, type Messages } from "../../backtest/compare.ts";
import type { Plan, TimeSpan } from "../../backtest/setup.ts";
import type { BacktestCounts, EpisodeCount } from "../../backtest/tally.ts";
import { csvLines } from "../../lib/csv.ts";
import { humanDuration } from "../../lib/duration.ts";
import { counted } from "../../lib/format.ts";
import { stripControls } from "../../lib/text.ts";
import { asJson } from "../cli/command.ts";
import { renderTable, type TableColumn, type TableTarget } from "../cli/table.ts";

export interface BacktestReport {
  readonly span: TimeSpan;
  readonly locations: number;
  readonly recordings: number;
  /** The number of those without any history. */
  readonly withoutHistory: number;
  /** The configurations' paths; two where one is compared with another. */
  readonly files: readonly string[];
  readonly plans: readonly Plan[];
  readonly tallies: readonly BacktestCounts[];
}

const HOUR_MS = 3_600_000;
const WORST = 10;

export function renderBacktest(report: BacktestReport, output: "table" | "json" | "csv", target: TableTarget): string {
  const [first, second] = report.tallies;
  if (!first) return "";
  const compared = compareCounts(first, second);
  if (output === "json") return asJson(documentOf(report, compared));
  if (output === "csv") return asCsv(compared, second !== undefined);
  return asTables(report, compared, target);
}

function asTables(report: BacktestReport, compared: Comparison, target: TableTarget): string {
  const columns = countColumns(report.files.length > 1);
  const table = (heads: readonly (TableColumn | string)[], rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? "" : renderTable(heads, rows, target);
  const rules = table(
    ["RULE", ...columns],
    byRule(compared.rules).map((row) => [row.rule, ...countCells(row)]),
  );
  const weeks = table(
    ["RULE", shrinking("LOCATION"), "WEEK", ...columns],
    compared.rules.map((row) => [row.rule, row.location, row.week, ...countCells(row)]),
  );
  const messages = table(
    ["RECEIVER", "WEEK", ...messageColumns(report.files.length > 1)],
    compared.receivers.map((row) => [row.receiver, row.week, ...messageCells(row)]),
  );
  const worst = table(
    [shrinking("RECORDING"), shrinking("LOCATION"), ...columns],
    compared.recordings.slice(0, WORST).map((row) => [row.recording, row.location, ...countCells(row)]),
  );
  const sections = [
    head(report),
    rules || "No alert would have fired.\n",
    notJudged(report),
    titled("By rule, location and week; an episode counts in the week it started to fire", weeks),
    titled("Messages to each integration, by receiver and week", messages),
    titled(`The ${WORST} recordings with the most firing time`, worst),
    `Limits:\n${notShown.map((line) => `- ${line}\n`).join("")}`,
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function head({ span, locations, recordings, withoutHistory, files }: BacktestReport): string {
  const [file = "", other] = files.map(stripControls);
  const days = `${iso(span.from)} to ${iso(span.to - 1)} (UTC)`;
  const silent = withoutHistory > 0 ? `, ${withoutHistory} of them without any history` : "";
  const fleet = `${counted(recordings, "recording")} at ${counted(locations, "location")}${silent}`;
  const beside = other === undefined ? "" : `A is ${file}, B is ${other}, ± is B minus A.\n`;
  return `Backtest of ${other === undefined ? file : "two configurations"}, ${days}: ${fleet}.\n${beside}`;
}

function titled(title: string, table: string): string {
  return table === "" ? "" : `${title}\n\n${table}`;
}

/** The rules that history cannot evaluate, one line each. */
function notJudged({ plans, files }: BacktestReport): string {
  const lines = plans.flatMap(({ notShown: rules }, i) =>
    rules.map(({ rule, why }) => `${files.length > 1 ? `${"AB"[i]}: ` : ""}${rule.id} is not evaluated: ${why}.\n`),
  );
  return lines.join("");
}

const shrinking = (name: string): TableColumn => ({ head: name, canShrink: true });
const figure = (name: string): TableColumn => ({ head: name, align: "right" });

function countColumns(isBeside: boolean): TableColumn[] {
  const names = isBeside
    ? ["EPISODES A", "B", "±", "HOURS A", "B", "±", "LONGEST A", "B"]
    : ["EPISODES", "HOURS", "LONGEST"];
  return names.map(figure);
}

function countCells({ first, second }: Beside<EpisodeCount>): string[] {
  const longest = ({ longestMs }: EpisodeCount) => (longestMs === 0 ? "–" : humanDuration(longestMs));
  const hours = ({ firingMs }: EpisodeCount) => (firingMs / HOUR_MS).toFixed(1);
  if (!second) return [String(first.episodes), hours(first), longest(first)];
  return [
    String(first.episodes),
    String(second.episodes),
    signed(second.episodes - first.episodes, 0),
    hours(first),
    hours(second),
    signed((second.firingMs - first.firingMs) / HOUR_MS, 1),
    longest(first),
    longest(second),
  ];
}

function messageColumns(isBeside: boolean): TableColumn[] {
  const names = isBeside ? ["MESSAGES A", "B", "±"] : ["MESSAGES", "FIRING", "RESOLVED", "REMINDERS"];
  return names.map(figure);
}

function messageCells({ first, second }: Beside<Messages>): string[] {
  const { messages, byReason } = first;
  if (second) return [String(messages), String(second.messages), signed(second.messages - messages, 0)];
  const { first: begun = 0, more = 0, resolved = 0, reminder = 0 } = byReason;
  return [messages, begun + more, resolved, reminder].map(String);
}

function signed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  if (Number(text) === 0) return "0";
  return value > 0 ? `+${text}` : text;
}

/** Durations in seconds; with a second configuration, its counts under `compared` and the difference. */
function documentOf(report: BacktestReport, compared: Comparison): object {
  const { span, plans, files, locations, recordings, withoutHistory } = report;
  return {
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
    fleet: { locations, recordings, withoutHistory },
    configurations: files.map((file, i) => ({
      file,
      notJudged: (plans[i]?.notShown ?? []).map(({ rule, why }) => ({ rule: rule.id, why })),
    })),
    rules: compared.rules.map(({ rule, locationId, location, week, ...counted }) => ({
      rule,
      locationId,
      location,
      week,
      ...countsBeside(counted),
    })),
    receivers: compared.receivers.map(({ receiver, week, first, second }) => ({
      receiver,
      week,
      ...messagesAsJson(first),
      ...(second && { compared: messagesAsJson(second), difference: { messages: second.messages - first.messages } }),
    })),
    recordings: compared.recordings.map(({ recordingId, recording, location, ...counted }) => ({
      recordingId,
      recording,
      location,
      ...countsBeside(counted),
    })),
    notShown,
  };
}

function messagesAsJson({ messages, byReason }: Messages): object {
  return { messages, byReason };
}

function countsBeside({ first, second }: Beside<EpisodeCount>): object {
  if (!second) return countAsJson(first);
  const difference = {
    episodes: second.episodes - first.episodes,
    firingSeconds: (second.firingMs - first.firingMs) / 1000,
  };
  return { ...countAsJson(first), compared: countAsJson(second), difference };
}

function countAsJson({ episodes, firingMs, longestMs }: EpisodeCount): object {
  return { episodes, firingSeconds: firingMs / 1000, longestSeconds: longestMs / 1000 };
}

/** One table: alerts by rule, location and week, then messages by receiver and week, then recordings. */
function asCsv({ rules, receivers, recordings }: Comparison, isBeside: boolean): string {
  const figures = ["count", "firing_hours", "longest_hours"];
  const columns = [...figures, ...(isBeside ? figures.map((name) => `compared_${name}`) : [])];
  const cells = ({ first, second }: Beside<EpisodeCount>) => [first, ...(second ? [second] : [])].flatMap(csvOf);
  return csvLines([
    ["kind", "name", "location_id", "location", "week", ...columns],
    ...rules.map((row) => ["alerts", row.rule, row.locationId, row.location, row.week, ...cells(row)]),
    ...receivers.map(({ receiver, week, first, second }) => [
      ...["messages", receiver, "", "", week],
      ...[first, ...(second ? [second] : [])].flatMap(({ messages }) => [messages, "", ""]),
    ]),
    ...recordings.map((row) => ["recording", row.recording, "", row.location, "", ...cells(row)]),
  ]);
}

function csvOf({ episodes, firingMs, longestMs }: EpisodeCount): number[] {
  const hours = (ms: number) => Math.round((ms / HOUR_MS) * 1_000) / 1_000;
  return [episodes, hours(firingMs), hours(longestMs)];
}

function iso(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
