/** `report`: the lost time of a period by cause, of a running daemon. */
import { Command, Option } from "commander";
import { incidentCells, lossDuration, unplannedSeconds } from "../http/page/report-page.ts";
import { isoTime } from "../http/query.ts";
import { type ReportGroupRow, type ReportIncident, ReportPage, WORST } from "../http/v1/report-answer.ts";
import { ReportLink } from "../http/v1/report-link.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type CsvColumns, csvTable } from "../lib/csv.ts";
import { columnPercent, count, counted, nameOf } from "../lib/format.ts";
import { PAST_EXAMPLES } from "../lib/moment.ts";
import { causeWords, type LossCause, lossCauses } from "../report/attribute.ts";
import { reportGroups, reportPeriods } from "../report/report.ts";
import { asJson, type CommandIo, type PastIn, pastOption } from "./cli/command.ts";
import { asksDaemon, type Daemon, type DaemonOptions, readerZone, withDaemon } from "./cli/daemon.ts";
import { fitLines, renderTable, type TableColumn, tableTarget } from "./cli/table.ts";

type ReportOptions = DaemonOptions & { readonly output: "table" | "csv" | "json"; readonly link?: true } & Readonly<
    Partial<Record<"period" | "timezone" | "by" | "matchers", string> & Record<"from" | "to", PastIn>>
  >;

/** Exit code 0. Throws DaemonError or ConfigError. */
export function reportCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("report")
    .description("Print how much of a period was recorded, and where and why time was lost.")
    .addOption(new Option("--period <period>", "the last whole one").choices(reportPeriods).default("1mo"))
    .addOption(pastOption("--from <day or time>", `instead of a period: ${PAST_EXAMPLES}`, clock.now()))
    .addOption(pastOption("--to <day or time>", "with --from: the end; a day is included (default: now)", clock.now()))
    .option("--timezone <zone>", "of the period's days (default: `display.timezone`, or this machine's)")
    .option("--by <group>", `what a row is about: ${reportGroups.join(", ")} or a label of the directory`, "location")
    .option("--matchers <matchers>", 'only these recordings, such as organisation="acme"')
    .option("--link", "print a link to the report that needs no token, for 7 days");
  const asking = asksDaemon(command, "lenswatch report --period 1w --by camera_server", "table", "csv");
  return asking.action(
    async ({
      output,
      period = "1mo",
      from,
      to,
      timezone,
      by = "location",
      matchers,
      link,
      ...options
    }: ReportOptions) => {
      const text = await withDaemon(options, io, async (daemon) => {
        const zone = timezone ?? (await readerZone(daemon, io));
        const span = { from: from && isoTime(from(zone).start), to: to && isoTime(to(zone).end) };
        const wanted = { period, ...span, timezone: zone, by, matchers };
        const given = Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined);
        const parameters = Object.fromEntries(given);
        return link ? linkOf(daemon, parameters) : WRITTEN[output](await readReport(daemon, parameters), io);
      });
      io.stdout.write(text);
    },
  );
}

async function linkOf(daemon: Daemon, parameters: Readonly<Record<string, string>>): Promise<string> {
  const path = `/api/v1/report/links?${new URLSearchParams(parameters)}`;
  const { url } = await daemon.send("POST", path, {}, ReportLink);
  return `${url.startsWith("/") ? daemon.url : ""}${url}\n`;
}

/** All pages as one. */
async function readReport(daemon: Daemon, parameters: Readonly<Record<string, string>>): Promise<ReportPage> {
  const pages = await Array.fromAsync(daemon.pages("/api/v1/report", parameters, ReportPage));
  const items = pages.flatMap((page) => page.items);
  return { ...(pages[0] as ReportPage), items, nextCursor: null };
}

const WRITTEN: Readonly<Record<ReportOptions["output"], (report: ReportPage, io: CommandIo) => string>> = {
  table: (report, io) => {
    const { period, summary, figures, notes, incidents, total, before, items } = report;
    const all = { ...total, id: "", name: `All ${counted(total.recordings, "recording")}` };
    const target = tableTarget(io);
    const rows = renderTable(COLUMNS, [...items.slice(0, WORST), all], target);
    const left = items.length - WORST;
    const more = left > 0 ? `and ${count(left)} more, which --output csv lists\n` : "";
    const shown = figures.map(({ name, value, was }) => {
      return `${`${name}:`.padEnd(14)}${value || "not known"}${was && `, was ${was}`}`;
    });
    const worst = incidents.map((one) => ({ ...one, ...incidentCells(one, report) }));
    const named = worst.length > 0 ? `${renderTable(INCIDENT_COLUMNS, worst, target)}\n` : "";
    const lead = [`${period.label}: ${summary}.`, "", ...shown, "", ""].join("\n");
    const note =
      `Times are added up over recordings. "Was" is ${before.label}; days in ${period.timezone}. ${notes.join(" ")}`.trimEnd();
    return `${fitLines(lead, target)}${named}${rows}${more}\n${fitLines(`${note}\n`, target)}`;
  },
  csv: ({ items }) => [...csvTable(CSV_COLUMNS, items)].join(""),
  json: ({ nextCursor: _, ...report }) => asJson(report),
};

const INCIDENT_COLUMNS: readonly TableColumn<ReportIncident & ReturnType<typeof incidentCells>>[] = [
  { head: "INCIDENT", cell: ({ title }) => title, wraps: true },
  { head: "ID", cell: ({ id }) => id },
  { head: "BEGAN", cell: ({ began }) => began },
  { head: "LASTED", cell: ({ lasted }) => lasted, align: "right" },
  { head: "VISITS UNCOUNTED", cell: ({ visits }) => visits, align: "right" },
];

const COLUMNS: readonly TableColumn<Omit<ReportGroupRow, "incidents">>[] = [
  { head: "NAME", cell: ({ name, id }) => nameOf(name, id), wraps: true },
  { head: "RECORDED", cell: (row) => columnPercent(row.unplannedAvailability ?? undefined, 2), align: "right" },
  { head: "LOST", cell: (row) => lossDuration(unplannedSeconds(row)), align: "right" },
  { head: "BY CAUSE", cell: causesText, wraps: true },
];

/** `location 9 h 20 m, recording 40 m`: the most first. */
function causesText({ causes }: Pick<ReportGroupRow, "causes">): string {
  const known = Object.entries(causes).filter(([, seconds]) => seconds > 0);
  known.sort(([, a], [, b]) => b - a);
  return known.map(([cause, seconds]) => `${causeWords[cause as LossCause]} ${lossDuration(seconds)}`).join(", ");
}

const CSV_COLUMNS: CsvColumns<ReportGroupRow> = {
  name: ({ name }) => name,
  id: ({ id }) => id,
  recordings: ({ recordings }) => recordings,
  incidents: ({ incidents }) => incidents,
  expected_seconds: ({ expectedSeconds }) => expectedSeconds,
  known_seconds: ({ knownSeconds }) => knownSeconds,
  lost_seconds: ({ lostSeconds }) => lostSeconds,
  ...Object.fromEntries(lossCauses.map((cause) => [`${cause}_seconds`, ({ causes }: ReportGroupRow) => causes[cause]])),
  availability_ratio: ({ availability }) => availability ?? undefined,
  unplanned_availability_ratio: ({ unplannedAvailability }) => unplannedAvailability ?? undefined,
};
