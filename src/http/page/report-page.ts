/** `GET /report`: a period in a sentence and three figures, and its lost time by cause; to be read, printed or passed on. */
import { formatMatcher } from "../../alerting/matcher.ts";
import { visitsRange } from "../../alerting/uncounted.ts";
import { humanDuration } from "../../lib/duration.ts";
import { columnPercent, count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { capital } from "../../lib/text.ts";
import { inZone, lastedText } from "../../lib/when.ts";
import { causeWords, lossCauses } from "../../report/attribute.ts";
import { type Report, reportPeriods } from "../../report/report.ts";
import type { AskedReport } from "../v1/report.ts";
import {
  answerOf,
  type ReportGroupRow,
  type ReportIncident,
  type ReportPage,
  rowOf,
  WORST,
} from "../v1/report-answer.ts";
import { filterForm, selectOf, textInput } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { type LinkParameters, sameLink } from "./links.ts";
import { tableOf } from "./listing.ts";
import { formToken } from "./visitor.ts";

const MOST_ROWS = 1_000;
const PERIODS = { "1d": "yesterday", "1w": "last week", "1mo": "last month" } as const;

/** `link`: one that was just made; `token`: of the form that makes one, undefined where nobody's token can sign it. */
export function reportPage(report: Report, query: AskedReport, token: string | undefined, link?: SharedLink): HtmlPage {
  const { matchers, ...shown } = query;
  const asked = { ...shown, matchers: matchersText(matchers) };
  const page = sharedReportPage(report, query);
  const path = `report${sameLink(asked)}`;
  const body = html`${page.body}${token === undefined ? nothing : linkMarkup(asked, token, link)}${form(report, query)}`;
  return { ...page, isAlone: false, here: "incidents", path, body };
}

/** The report alone, for readers who have no token. */
export function sharedReportPage(report: Report, query: Pick<AskedReport, "timezone" | "by">): HtmlPage {
  const title = `Report, ${report.period.label}`;
  const body = html`<h1>${title}</h1>${reportMarkup(report, query)}`;
  return { title, isAlone: true, refresh: "never", madeAt: report.now, body };
}

interface SharedLink {
  readonly url: string;
  readonly expires: string;
}

function linkMarkup(asked: LinkParameters, token: string, link: SharedLink | undefined): Markup {
  if (!link)
    return html`<form method="post" action="${sameLink(asked)}">${formToken({ formToken: token })}
<p class="actions"><button class="plain">Make a link for somebody without a token</button></p></form>`;
  const href = link.url.startsWith("/") ? `.${link.url}` : link.url;
  return html`<p class="actions"><a href="${href}">Link to this report</a> Everybody who has it can read this report until ${inZone(Date.parse(link.expires), asked.timezone ?? "UTC").toFormat("ccc d LLL HH:mm")}.</p>`;
}

function form({ groups }: Report, { period, from, to, by, timezone, matchers }: AskedReport): Markup {
  const periods = reportPeriods.map((name) => [name, PERIODS[name]] as const);
  const fields = filterForm("./report", [
    ["Period", selectOf("period", periods, period)],
    ["or from", textInput("from", from, "24h or 2026-01-31", 64)],
    ["to", textInput("to", to, "now", 64)],
    [
      "By",
      selectOf(
        "by",
        groups.map((name) => [name, groupWords(name)] as const),
        by,
      ),
    ],
    ["Time zone", textInput("timezone", timezone, "", 64)],
    ["Recordings", textInput("matchers", matchersText(matchers), 'location="Leeds"', 2_000)],
  ]);
  return html`<details class="asks"><summary>Another period, group or selection</summary>${fields}</details>`;
}

const matchersText = (matchers: AskedReport["matchers"]) => matchers.map(formatMatcher).join(",");
const groupWords = (by: string) => by.replaceAll("_", " ");

/** The sentence, the figures, the worst incidents and groups, and the others where a reader asks for them. */
function reportMarkup(report: Report, query: Pick<AskedReport, "timezone" | "by">): Markup {
  const { summary, figures, notes, incidents, total, before, period, madeAt } = answerOf(report, query);
  const all = {
    ...total,
    incidents: report.incidents.length,
    id: "",
    name: `All ${counted(total.recordings, "recording")}`,
  };
  const minuteOf = (iso: string) => inZone(Date.parse(iso), period.timezone).toFormat("yyyy-MM-dd HH:mm");
  const rows = report.rows.slice(0, MOST_ROWS).map(rowOf);
  const others = rows.slice(WORST);
  const left = report.rows.length - rows.length;
  const more =
    left > 0 ? html`<p class="soft">and ${count(left)} more, which <code>lenswatch report</code> lists</p>` : nothing;
  const words = groupWords(query.by);
  const table = (some: readonly ReportGroupRow[], caption: string) => groupTable(some, all, capital(words), caption);
  const named = incidents.map((one): TableRow => {
    const { began, lasted, visits } = incidentCells(one, { madeAt, period });
    return [html`<bdi>${one.title}</bdi> <small>${one.id}</small>`, began, lasted, visits];
  });
  const worst = report.incidents.length > WORST ? `The ${WORST} worst incidents` : "Incidents";
  return html`<p class="sentence">${summary}.</p><dl class="figures">${figures.map(figureMarkup)}</dl>
${named.length === 0 ? nothing : tableMarkup(worst, ["Incident", "began", "lasted", "visits uncounted"], named)}
${table([...rows.slice(0, WORST), all], others.length > 0 ? `The ${WORST} worst, by ${words}` : `By ${words}`)}
${others.length > 0 ? html`<details><summary>${count(report.rows.length - WORST)} more</summary>${table(others, "The others")}${more}</details>` : nothing}
<p class="soft">Time within the uploading schedule from ${minuteOf(period.from)} to ${minuteOf(period.to)}, ${period.timezone}, added up over
recordings; each second lost has one cause. Planned work is not in what was recorded or lost. “Was” is ${before.label}. ${notes.join(" ")}</p>`;
}

function figureMarkup({ name, value, was }: ReturnType<typeof answerOf>["figures"][number]): Markup {
  const small = was === "" ? nothing : html`<small>was ${was}</small>`;
  return html`<div><dt>${name}</dt><dd>${value || "not known"}${small}</dd></div>`;
}

/** Groups with the causes of lost time that occur in all of it. */
function groupTable(rows: readonly ReportGroupRow[], all: ReportGroupRow, first: string, caption: string): Markup {
  const causes = lossCauses.filter((cause) => all.causes[cause] > 0);
  const heads = [first, "recorded", "incidents", "lost", ...causes.map((cause) => causeWords[cause])];
  const lines = rows.map((row): TableRow => {
    const recorded = columnPercent(row.unplannedAvailability ?? undefined, 2);
    const lost = [unplannedSeconds(row), ...causes.map((cause) => row.causes[cause])].map(lossDuration);
    return [
      html`<bdi>${nameOf(row.name, row.id)}</bdi>`,
      recorded,
      row.incidents === 0 ? NO_TIME : count(row.incidents),
      ...lost,
    ];
  });
  return tableMarkup(caption, heads, lines);
}

type TableRow = readonly [name: Markup, ...cells: string[]];

function tableMarkup(caption: string, [first = "", ...heads]: readonly string[], rows: readonly TableRow[]): Markup {
  const columns = [[first] as const, ...heads.map((head) => [head, head, "n"] as const)];
  const lines = rows.map(([name, ...cells]) => [
    name,
    ...cells.map((text) => (text === NO_TIME ? nothing : html`${text}`)),
  ]);
  return html`<h2>${caption}</h2><div class="scroll">${tableOf(caption, columns, lines)}</div>`;
}

/** The begin of an incident in the zone of its report, how long it lasted, and what it cost. */
export function incidentCells(
  { startsAt, endsAt, durationSeconds, uncounted }: ReportIncident,
  { madeAt, period: { timezone } }: Pick<ReportPage, "madeAt" | "period">,
) {
  const lasted = lastedText(durationSeconds * 1000, Date.parse(startsAt), Date.parse(endsAt ?? madeAt));
  return {
    began: inZone(Date.parse(startsAt), timezone).toFormat("ccc d LLL HH:mm"),
    lasted: endsAt === null ? `${lasted}, open` : lasted,
    visits: visitsRange(uncounted) || NO_TIME,
  };
}

export function unplannedSeconds({ lostSeconds, causes }: Pick<ReportGroupRow, "lostSeconds" | "causes">): number {
  return lostSeconds - causes.maintenance;
}

const NO_TIME = "–";

/** `2 h 5 m`; a dash for nothing. */
export function lossDuration(seconds: number): string {
  return seconds === 0 ? NO_TIME : humanDuration(seconds * 1000);
}
