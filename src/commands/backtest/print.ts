/** Output of a backtest: tables, JSON or CSV. */
import { notShown } from "../../backtest/backtest.ts";
import type { Plan, TimeSpan } from "../../backtest/setup.ts";
import type { BacktestCounts, EpisodeCount } from "../../backtest/tally.ts";
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
  /** The configuration's path. */
  readonly file: string;
  readonly plan: Plan;
  readonly counted: BacktestCounts;
  /** The requests for rules about counts, and routes that the service refused; undefined where there were none. */
  readonly counts: { readonly requests: number; readonly refused: readonly string[] } | undefined;
}

const MONTH_MS = 30 * 24 * HOUR_MS;
const WORST = 10;

const episodeColumns: readonly TableColumn<EpisodeCount>[] = [
  { head: "EPISODES", align: "right", cell: ({ episodes }) => String(episodes) },
  { head: "HOURS", align: "right", cell: ({ firingMs }) => (firingMs / HOUR_MS).toFixed(1) },
  { head: "LONGEST", align: "right", cell: ({ longestMs: ms }) => (ms === 0 ? "–" : humanDuration(ms)) },
];

export function renderBacktest(report: BacktestReport, output: "table" | "json" | "csv", target: TableTarget): string {
  if (output === "json") return asJson(documentOf(report));
  return output === "csv" ? asCsv(report.counted) : asTables(report, target);
}

function asTables(report: BacktestReport, target: TableTarget): string {
  const { rules, totals, recordings, said } = report.counted;
  const rule = { head: "RULE", cell: (row: { rule: string }) => row.rule };
  const location = { head: "LOCATION", cell: (row: { location: string }) => row.location, wraps: true };
  const week = { head: "WEEK", cell: (row: { week: string }) => row.week };
  const recording = { head: "RECORDING", cell: (row: { recording: string }) => row.recording, wraps: true };
  const table = <Row>(title: string, columns: readonly TableColumn<Row>[], rows: readonly Row[]) =>
    rows.length === 0 ? "" : title + renderTable(columns, rows, target);
  const saidTitle = "What alerts with figures said when they began to fire, in the location's time\n\n";
  const weeksTitle = "By rule, location and week; an episode counts in the week it started to fire\n\n";
  const worstTitle = `The ${WORST} recordings with the most firing time\n\n`;
  const sections = [
    headOf(report),
    table("", [rule, ...episodeColumns], totals) || "No alert would have fired.\n",
    leftOut(report)
      .map(({ rule: { id }, why }) => `${id} is not evaluated: ${why}.\n`)
      .join(""),
    ratesOf(report).join(""),
    table(saidTitle, saidColumns, said),
    table(weeksTitle, [rule, location, week, ...episodeColumns], rules),
    table(worstTitle, [recording, location, ...episodeColumns], recordings.slice(0, WORST)),
    `Limits:\n${limitsOf(report)
      .map((line) => `- ${line}\n`)
      .join("")}`,
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function headOf({ span, locations, recordings, withoutHistory, file }: BacktestReport): string {
  const days = `${dayOf(span.from, "utc")} to ${dayOf(span.to - 1, "utc")} (UTC)`;
  const silent = withoutHistory > 0 ? `, ${withoutHistory} of them without any history` : "";
  const fleet = `${counted(recordings, "recording")} at ${counted(locations, "location")}${silent}`;
  return `Backtest of ${stripControls(file)}, ${days}: ${fleet}.\n`;
}

function leftOut({ plan, counts }: BacktestReport): Plan["notShown"] {
  return [...plan.notShown, ...(counts ? [] : plan.counts.map((rule) => ({ rule, why: "--no-counts leaves it out" })))];
}

/** Rates at which rules about counts fire, true and false; none of less than a camera-month. */
function ratesOf(report: BacktestReport): string[] {
  const months = (report.recordings * (report.span.to - report.span.from)) / MONTH_MS;
  if (!report.counts || months <= 0) return [];
  return report.plan.counts.map(({ id }) => {
    const episodes = report.counted.totals.find(({ rule }) => rule === id)?.episodes ?? 0;
    const rate =
      months < 1 ? "" : `: ${((1_000 * episodes) / months).toFixed(1)} alerts per 1,000 camera-months, true or false`;
    return `${id}: ${counted(episodes, "alert")} in ${months.toFixed(1)} camera-months${rate}.\n`;
  });
}

type Said = BacktestCounts["said"][number];

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
  "Counts are evaluated once an hour, by what was usual at the beginning of the day (UTC), as the service has them now: the daemon evaluates every 10 minutes and finds" +
  " earlier, but without the corrections of the night. Sales are unknown where no entries were counted on that day and the one before.";

function limitsOf({ counts }: BacktestReport): readonly string[] {
  if (!counts) return notShown;
  const refused = counts.refused.map((route) => `The service refused ${route}: they are no witness.`);
  return [...notShown, COUNTS_LIMIT, ...refused];
}

/** Durations in seconds. */
function documentOf(report: BacktestReport): object {
  const { span, file, locations, recordings: total, withoutHistory } = report;
  const { rules, recordings, said } = report.counted;
  return {
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
    fleet: { locations, recordings: total, withoutHistory },
    file,
    notEvaluated: leftOut(report).map(({ rule, why }) => ({ rule: rule.id, why })),
    rules: rules.map(inSeconds),
    recordings: recordings.map(inSeconds),
    countsRequests: report.counts?.requests,
    said: said.map(({ timezone: _, startsAt, firedAt, until, ...one }) => {
      const iso = (at: Instant | undefined) => (at === undefined ? null : new Date(at).toISOString());
      return { ...one, startsAt: iso(startsAt), firedAt: iso(firedAt), until: iso(until) };
    }),
    limits: limitsOf(report),
  };
}

function inSeconds({ firingMs, longestMs, ...row }: EpisodeCount): object {
  return { ...row, firingSeconds: firingMs / 1000, longestSeconds: longestMs / 1000 };
}

/** One table: alerts by rule, location and week, then recordings. */
function asCsv({ rules, recordings }: BacktestCounts): string {
  const hours = (ms: number) => Math.round((ms / HOUR_MS) * 1_000) / 1_000;
  const figures = ({ episodes, firingMs, longestMs }: EpisodeCount) => [episodes, hours(firingMs), hours(longestMs)];
  return csvLines([
    ["kind", "name", "location_id", "location", "week", "count", "firing_hours", "longest_hours"],
    ...rules.map((row) => ["alerts", row.rule, row.locationId, row.location, row.week, ...figures(row)]),
    ...recordings.map((row) => ["recording", row.recording, "", row.location, "", ...figures(row)]),
  ]);
}
