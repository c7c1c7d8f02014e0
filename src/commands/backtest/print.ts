/** Output of a backtest: tables, JSON or CSV. */
import { notShown } from "../../backtest/backtest.ts";
import type { Plan, TimeSpan } from "../../backtest/setup.ts";
import type { BacktestCounts, EpisodeCount } from "../../backtest/tally.ts";
import { type Beside, type Comparison, compareCounts, type Messages } from "../../backtest/tally.ts";
import { HOUR_MS, type Instant } from "../../lib/clock.ts";
import { csvLines } from "../../lib/csv.ts";
import { humanDuration } from "../../lib/duration.ts";
import { counted } from "../../lib/format.ts";
import { stripControls } from "../../lib/text.ts";
import { dayOf, inZone } from "../../lib/when.ts";
import { asJson } from "../cli/command.ts";
import { renderTable, type TableColumn, type TableTarget } from "../cli/table.ts";

export interface BacktestReport {
  readonly span: TimeSpan;
  readonly locations: number;
  readonly recordings: number;
  readonly withoutHistory: number;
  /** The configurations' paths; two where one is compared with another. */
  readonly files: readonly string[];
  readonly plans: readonly Plan[];
  readonly tallies: readonly BacktestCounts[];
  /** What was read for rules about counts, and routes that the service refused; undefined where nothing was. */
  readonly counts: { readonly requests: number; readonly refused: readonly string[] } | undefined;
}

const MONTH_MS = 30 * 24 * HOUR_MS;
const WORST = 10;

/** A figure of a table. With a second configuration it stands there for A and B, and the difference beside them. */
interface Figure<Counts> {
  readonly head: string;
  of(counts: Counts): number;
  text(value: number): string;
  readonly hasDifference?: boolean;
  /** Left out where there is a second configuration. */
  readonly isDetail?: boolean;
}

const episodeFigures: readonly Figure<EpisodeCount>[] = [
  { head: "EPISODES", of: ({ episodes }) => episodes, text: String, hasDifference: true },
  { head: "HOURS", of: ({ firingMs }) => firingMs, text: (ms) => (ms / HOUR_MS).toFixed(1), hasDifference: true },
  { head: "LONGEST", of: ({ longestMs }) => longestMs, text: (ms) => (ms === 0 ? "–" : humanDuration(ms)) },
];

const messageFigures: readonly Figure<Messages>[] = [
  { head: "MESSAGES", of: ({ messages }) => messages, text: String, hasDifference: true },
  { head: "FIRING", of: ({ byReason: { first = 0, more = 0 } }) => first + more, text: String, isDetail: true },
  { head: "RESOLVED", of: ({ byReason: { resolved = 0 } }) => resolved, text: String, isDetail: true },
  { head: "REMINDERS", of: ({ byReason: { reminder = 0 } }) => reminder, text: String, isDetail: true },
];

function figureColumns<Counts>(figures: readonly Figure<Counts>[], isBeside: boolean): TableColumn<Beside<Counts>>[] {
  return figures.flatMap(({ head, of, text, hasDifference, isDetail }): TableColumn<Beside<Counts>>[] => {
    const align = "right";
    const cell = ({ first }: Beside<Counts>) => text(of(first));
    if (!isBeside) return [{ head, align, cell }];
    if (isDetail) return [];
    const other = ({ second }: Beside<Counts>) => (second === undefined ? "" : text(of(second)));
    const difference = ({ first, second = first }: Beside<Counts>) => signed(of(second) - of(first), text);
    return [
      { head: `${head} A`, align, cell },
      { head: "B", align, cell: other },
      ...(hasDifference ? [{ head: "±", align, cell: difference } as const] : []),
    ];
  });
}

function signed(value: number, text: (value: number) => string): string {
  const shown = text(value);
  if (Number(shown) === 0) return "0";
  return value > 0 ? `+${shown}` : shown;
}

export function renderBacktest(report: BacktestReport, output: "table" | "json" | "csv", target: TableTarget): string {
  const [first, second] = report.tallies;
  if (!first) return "";
  const compared = compareCounts(first, second);
  if (output === "json") return asJson(documentOf(report, compared));
  if (output === "csv") return asCsv(compared, second !== undefined);
  return asTables(report, compared, target);
}

function asTables(report: BacktestReport, compared: Comparison, target: TableTarget): string {
  const { rules, totals, receivers, recordings } = compared;
  const episodes = figureColumns(episodeFigures, report.files.length > 1);
  const messages = figureColumns(messageFigures, report.files.length > 1);
  const rule = { head: "RULE", cell: (row: { rule: string }) => row.rule };
  const location = { head: "LOCATION", cell: (row: { location: string }) => row.location, wraps: true };
  const week = { head: "WEEK", cell: (row: { week: string }) => row.week };
  const receiver = { head: "RECEIVER", cell: (row: { receiver: string }) => row.receiver };
  const recording = { head: "RECORDING", cell: (row: { recording: string }) => row.recording, wraps: true };
  const table = <Row>(title: string, columns: readonly TableColumn<Row>[], rows: readonly Row[]) =>
    rows.length === 0 ? "" : title + renderTable(columns, rows, target);
  const weeksTitle = "By rule, location and week; an episode counts in the week it started to fire\n\n";
  const worstTitle = `The ${WORST} recordings with the most firing time\n\n`;
  const sections = [
    headOf(report),
    table("", [rule, ...episodes], totals) || "No alert would have fired.\n",
    notJudged(report),
    ratesOf(report).join(""),
    table(
      "What alerts with figures said when they began to fire, in the location's time\n\n",
      saidColumns,
      saidIn(report),
    ),
    table(weeksTitle, [rule, location, week, ...episodes], rules),
    table("Messages to each integration, by receiver and week\n\n", [receiver, week, ...messages], receivers),
    table(worstTitle, [recording, location, ...episodes], recordings.slice(0, WORST)),
    `Limits:\n${limitsOf(report)
      .map((line) => `- ${line}\n`)
      .join("")}`,
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function headOf({ span, locations, recordings, withoutHistory, files }: BacktestReport): string {
  const [file = "", other] = files.map(stripControls);
  const days = `${dayOf(span.from, "utc")} to ${dayOf(span.to - 1, "utc")} (UTC)`;
  const silent = withoutHistory > 0 ? `, ${withoutHistory} of them without any history` : "";
  const fleet = `${counted(recordings, "recording")} at ${counted(locations, "location")}${silent}`;
  const beside = other === undefined ? "" : `A is ${file}, B is ${other}, ± is B minus A.\n`;
  return `Backtest of ${other === undefined ? file : "two configurations"}, ${days}: ${fleet}.\n${beside}`;
}

const nameOf = ({ files }: BacktestReport, i: number) => (files.length > 1 ? `${"AB"[i]}: ` : "");

function notJudged(report: BacktestReport): string {
  const lines = report.plans.flatMap((plan, i) =>
    leftOut(plan, report).map(({ rule, why }) => `${nameOf(report, i)}${rule.id} is not evaluated: ${why}.\n`),
  );
  return lines.join("");
}

function leftOut(plan: Plan, { counts }: BacktestReport): Plan["notShown"] {
  return [...plan.notShown, ...(counts ? [] : plan.counts.map((rule) => ({ rule, why: "--no-counts leaves it out" })))];
}

/** How often rules about counts fire, true and false; of less than a camera-month no rate, as it would say nothing. */
function ratesOf(report: BacktestReport): string[] {
  const months = (report.recordings * (report.span.to - report.span.from)) / MONTH_MS;
  if (!report.counts || months <= 0) return [];
  return report.plans.flatMap((plan, i) =>
    plan.counts.map(({ id }) => {
      const own = report.tallies[i]?.rules.filter(({ rule }) => rule === id) ?? [];
      const episodes = own.reduce((sum, row) => sum + row.episodes, 0);
      const rate =
        months < 1 ? "" : `: ${((1_000 * episodes) / months).toFixed(1)} alerts per 1,000 camera-months, true or false`;
      return `${nameOf(report, i)}${id}: ${counted(episodes, "alert")} in ${months.toFixed(1)} camera-months${rate}.\n`;
    }),
  );
}

type Said = BacktestCounts["said"][number];

function saidIn(report: BacktestReport): Said[] {
  return report.tallies.flatMap(({ said }, i) => said.map((one) => ({ ...one, rule: nameOf(report, i) + one.rule })));
}

const localTime = (at: Instant, zone: string) => inZone(at, zone).toFormat("yyyy-MM-dd HH:mm");

const saidColumns: readonly TableColumn<Said>[] = [
  { head: "RULE", cell: ({ rule }) => rule },
  { head: "LOCATION", cell: ({ location }) => location, wraps: true },
  { head: "SINCE", cell: ({ startsAt, timezone }) => localTime(startsAt, timezone) },
  { head: "FIRED", cell: ({ firedAt, timezone }) => localTime(firedAt, timezone) },
  { head: "UNTIL", cell: ({ until, timezone }) => (until === undefined ? "–" : localTime(until, timezone)) },
  { head: "SAID", cell: ({ text }) => text, wraps: true },
];

const COUNTS_LIMIT =
  "Counts are evaluated once an hour, as the service has them now: the daemon evaluates every 10 minutes and finds" +
  " earlier, but without the corrections of the night. Sales are unknown where no entries were counted on that day and the one before.";

function limitsOf({ counts }: BacktestReport): readonly string[] {
  if (!counts) return notShown;
  const refused = counts.refused.map((route) => `The service refused ${route}: they are no witness.`);
  return [...notShown, COUNTS_LIMIT, ...refused];
}

/** Durations in seconds; with a second configuration, its counts under `compared` and the difference. */
function documentOf(report: BacktestReport, { rules, receivers, recordings }: Comparison): object {
  const { span, plans, files, locations, recordings: count, withoutHistory } = report;
  return {
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
    fleet: { locations, recordings: count, withoutHistory },
    configurations: files.map((file, i) => ({
      file,
      notJudged: (plans[i] ? leftOut(plans[i], report) : []).map(({ rule, why }) => ({ rule: rule.id, why })),
    })),
    rules: rules.map(({ rule, locationId, location, week, ...row }) => {
      return { rule, locationId, location, week, ...episodesAsJson(row) };
    }),
    receivers: receivers.map(({ receiver, week, first, second }) => {
      const difference = second && { messages: second.messages - first.messages };
      return { receiver, week, ...messagesAsJson(first), compared: second && messagesAsJson(second), difference };
    }),
    recordings: recordings.map(({ recordingId, recording, location, ...row }) => {
      return { recordingId, recording, location, ...episodesAsJson(row) };
    }),
    countsRequests: report.counts?.requests,
    said: saidIn(report).map(({ timezone: _, startsAt, firedAt, until, ...one }) => {
      const iso = (at: Instant | undefined) => (at === undefined ? null : new Date(at).toISOString());
      return { ...one, startsAt: iso(startsAt), firedAt: iso(firedAt), until: iso(until) };
    }),
    notShown: limitsOf(report),
  };
}

function messagesAsJson({ messages, byReason }: Messages): object {
  return { messages, byReason };
}

function episodesAsJson({ first, second }: Beside<EpisodeCount>): object {
  const countOf = ({ episodes, firingMs, longestMs }: EpisodeCount) => {
    return { episodes, firingSeconds: firingMs / 1000, longestSeconds: longestMs / 1000 };
  };
  if (!second) return countOf(first);
  const firingSeconds = (second.firingMs - first.firingMs) / 1000;
  const difference = { episodes: second.episodes - first.episodes, firingSeconds };
  return { ...countOf(first), compared: countOf(second), difference };
}

/** One table: alerts by rule, location and week, then messages by receiver and week, then recordings. */
function asCsv({ rules, receivers, recordings }: Comparison, isBeside: boolean): string {
  const figures = ["count", "firing_hours", "longest_hours"];
  const columns = [...figures, ...(isBeside ? figures.map((name) => `compared_${name}`) : [])];
  const hours = (ms: number) => Math.round((ms / HOUR_MS) * 1_000) / 1_000;
  const cells = <Counts>({ first, second }: Beside<Counts>, of: (counts: Counts) => (number | string)[]) =>
    [first, ...(second ? [second] : [])].flatMap(of);
  const count = (row: Beside<EpisodeCount>) =>
    cells(row, ({ episodes, firingMs, longestMs }) => [episodes, hours(firingMs), hours(longestMs)]);
  const sent = (row: Beside<Messages>) => cells(row, ({ messages }) => [messages, "", ""]);
  return csvLines([
    ["kind", "name", "location_id", "location", "week", ...columns],
    ...rules.map((row) => ["alerts", row.rule, row.locationId, row.location, row.week, ...count(row)]),
    ...receivers.map((row) => ["messages", row.receiver, "", "", row.week, ...sent(row)]),
    ...recordings.map((row) => ["recording", row.recording, "", row.location, "", ...count(row)]),
  ]);
}
