/** `report`: the lost time of a period by cause, of a running daemon. */
import { Command, Option } from "commander";
import { lossDuration, reportMarkup } from "../http/page/report-page.ts";
import { isoTime } from "../http/query.ts";
import { type ReportGroupRow, ReportPage } from "../http/v1/report.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type CsvColumns, csvTable } from "../lib/csv.ts";
import { columnPercent, counted, nameOf } from "../lib/format.ts";
import { html } from "../lib/markup.ts";
import { PAST_EXAMPLES, parsePast } from "../lib/moment.ts";
import { causeWords, type LossCause, lossCauses } from "../report/attribute.ts";
import { reportGroups, reportPeriods } from "../report/report.ts";
import { asJson, type CommandIo, fail, localZone } from "./cli/command.ts";
import { asksDaemon, type Daemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { renderTable, type TableColumn, tableTarget } from "./cli/table.ts";

type ReportOptions = DaemonOptions & { readonly output: "table" | "csv" | "json" | "html" } & Readonly<
    Partial<Record<"period" | "from" | "to" | "timezone" | "by" | "matchers", string>>
  >;

/** Exit code 0. Throws DaemonError or ConfigError. */
export function reportCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("report")
    .description("Print the lost time of a period by cause, most first.")
    .addOption(new Option("--period <period>", "the last whole one").choices(reportPeriods).default("1mo"))
    .option("--from <day or time>", "instead of a period: 2026-01-31, 2026-01-31T08:00Z, yesterday, 7d or 24h")
    .option("--to <day or time>", "with --from: the end; a day is included (default: now)")
    .option("--timezone <zone>", "of the period's days (default: this machine's)")
    .addOption(new Option("--by <group>", "what a row is about").choices(reportGroups).default("location"))
    .option("--matchers <matchers>", 'only these recordings, such as organisation="acme"');
  const asking = asksDaemon(command, "lenswatch report --period 1w --by camera_server", "table", "csv", "html");
  return asking.action(
    async ({ output, period = "1mo", from, to, timezone, by = "location", matchers, ...options }: ReportOptions) => {
      const zone = timezone ?? localZone(io.env);
      const [start, end] = [from, to].map((text) =>
        text === undefined ? undefined : parsePast(text, clock.now(), zone),
      );
      const wrong = from !== undefined && !start ? "--from" : to !== undefined && !end ? "--to" : undefined;
      if (wrong) return fail(io, 2, `${wrong}: expected a day or time such as ${PAST_EXAMPLES}`);
      const span = { from: start && isoTime(start.start), to: end && isoTime(end.end) };
      const wanted = { period, ...span, timezone: zone, by, matchers };
      const given = Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const report = await withDaemon(options, io, (daemon) => readReport(daemon, Object.fromEntries(given)));
      io.stdout.write(WRITTEN[output](report, io));
    },
  );
}

/** All pages as one. */
async function readReport(daemon: Daemon, parameters: Readonly<Record<string, string>>): Promise<ReportPage> {
  const pages = await Array.fromAsync(daemon.pages("/api/v1/report", parameters, ReportPage));
  const items = pages.flatMap((page) => page.items);
  return { ...(pages[0] as ReportPage), items, nextCursor: null };
}

const WRITTEN: Readonly<Record<ReportOptions["output"], (report: ReportPage, io: CommandIo) => string>> = {
  table: (report, io) => {
    const { period, total, items } = report;
    const all = { ...total, id: "", name: `All ${counted(total.recordings, "recording")}` };
    const unknown = total.expectedSeconds - total.knownSeconds;
    const gap = unknown > 0 ? ` Nothing is known of ${lossDuration(unknown)}, which is in no figure.` : "";
    const note = `\nTimes are added up over recordings.${gap}\n`;
    return `${period.label}, ${period.timezone}\n\n${renderTable(COLUMNS, [...items, all], tableTarget(io))}${note}`;
  },
  csv: ({ items }) => [...csvTable(CSV_COLUMNS, items)].join(""),
  json: ({ nextCursor: _, ...report }) => asJson(report),
  html: (report) =>
    html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Lost time, ${report.period.label}</title><style>${{ html: STYLE }}</style></head>
<body><h1>Lost time, ${report.period.label}</h1>${reportMarkup(report)}</body></html>
`.html,
};

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem}.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0}caption{text-align:left;font-weight:600}th,td{padding:.3rem .7rem;text-align:left}
tr{border-bottom:1px solid #8886}.n{text-align:right;white-space:nowrap}.offline{color:#c33}td i{display:none}.soft{opacity:.8}`;

const ratio = (value: number | null) => columnPercent(value ?? undefined, 2);

const COLUMNS: readonly TableColumn<ReportGroupRow>[] = [
  { head: "NAME", cell: ({ name, id }) => nameOf(name, id), wraps: true },
  { head: "AVAILABLE", cell: ({ availability }) => ratio(availability), align: "right" },
  { head: "UNPLANNED", cell: (row) => ratio(row.unplannedAvailability), align: "right", canDrop: true },
  { head: "LOST", cell: ({ lostSeconds }) => lossDuration(lostSeconds), align: "right" },
  { head: "BY CAUSE", cell: causesText, wraps: true },
];

/** `location 9 h 20 m, recording 40 m`: the most first. */
function causesText({ causes }: ReportGroupRow): string {
  const known = Object.entries(causes).filter(([, seconds]) => seconds > 0);
  known.sort(([, a], [, b]) => b - a);
  return known.map(([cause, seconds]) => `${causeWords[cause as LossCause]} ${lossDuration(seconds)}`).join(", ");
}

const CSV_COLUMNS: CsvColumns<ReportGroupRow> = {
  name: ({ name }) => name,
  id: ({ id }) => id,
  recordings: ({ recordings }) => recordings,
  expected_seconds: ({ expectedSeconds }) => expectedSeconds,
  known_seconds: ({ knownSeconds }) => knownSeconds,
  lost_seconds: ({ lostSeconds }) => lostSeconds,
  ...Object.fromEntries(lossCauses.map((cause) => [`${cause}_seconds`, ({ causes }: ReportGroupRow) => causes[cause]])),
  availability_ratio: ({ availability }) => availability ?? undefined,
  unplanned_availability_ratio: ({ unplannedAvailability }) => unplannedAvailability ?? undefined,
};
