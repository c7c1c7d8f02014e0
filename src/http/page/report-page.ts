/** `GET /report`: the lost time of a period by cause, as a table; and its markup for a document of its own. */
import { z } from "zod";
import { formatMatcher } from "../../alerting/matcher.ts";
import { humanDuration } from "../../lib/duration.ts";
import { columnPercent, count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { capital } from "../../lib/text.ts";
import { causeWords, lossCauses } from "../../report/attribute.ts";
import { type Report, reportGroups, reportPeriods } from "../../report/report.ts";
import { answerOf, type ReportGroupRow, type ReportPage, ReportQuery, rowOf } from "../v1/report.ts";
import { filterForm, selectOf, textInput } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { sameLink } from "./links.ts";

/** Unknown parameters are ignored, as mail programs add some to links. */
export const ReportPageQuery = z.object(ReportQuery.shape);
type ReportPageQuery = z.infer<typeof ReportPageQuery>;

const MOST_ROWS = 1_000;
const PERIODS = { "1d": "yesterday", "1w": "last week", "1mo": "last month" } as const;
const GROUPS = {
  location: "location",
  organisation: "organisation",
  camera_server: "camera server",
  recording: "recording",
};

export function reportPage(report: Report, query: ReportPageQuery): HtmlPage {
  const answer = { ...answerOf(report, query), items: report.rows.slice(0, MOST_ROWS).map(rowOf), nextCursor: null };
  const title = `Lost time, ${report.period.label}`;
  const left = report.rows.length - answer.items.length;
  const more =
    left > 0 ? html`<p class="soft">and ${count(left)} more: <code>lenswatch report</code> lists all.</p>` : nothing;
  const { matchers, ...asked } = query;
  const path = `report${sameLink({ ...asked, matchers: matchersText(matchers) })}`;
  const body = html`<h1>${title}</h1>${form(query)}${reportMarkup(answer)}${more}`;
  return { title, here: "incidents", path, refresh: "never", madeAt: report.now, body };
}

function form({ period, from, to, by, timezone, matchers }: ReportPageQuery): Markup {
  const periods = reportPeriods.map((name) => [name, PERIODS[name]] as const);
  const groups = reportGroups.map((name) => [name, GROUPS[name]] as const);
  return filterForm("./report", [
    ["Period", selectOf("period", periods, period)],
    ["or from", textInput("from", from, "24h or 2026-01-31", 64)],
    ["to", textInput("to", to, "now", 64)],
    ["By", selectOf("by", groups, by)],
    ["Time zone", textInput("timezone", timezone, "", 64)],
    ["Recordings", textInput("matchers", matchersText(matchers), 'location="Leeds"', 2_000)],
  ]);
}

const matchersText = (matchers: ReportPageQuery["matchers"]) => matchers.map(formatMatcher).join(",");

/** The table, and what its columns mean. */
export function reportMarkup({ total, items, by, period }: ReportPage): Markup {
  const heads = lossCauses.map((cause) => html`<th scope="col" class="n">${causeWords[cause]}</th>`);
  const unknown = total.expectedSeconds - total.knownSeconds;
  const note = unknown > 0 ? html` Nothing is known of ${lossDuration(unknown)}, which is in no figure.` : nothing;
  return html`<div class="scroll"><table><caption>By ${GROUPS[by]}</caption><thead><tr>
<th scope="col">${capital(GROUPS[by])}</th><th scope="col" class="n">Available</th><th scope="col" class="n">Unplanned</th>
<th scope="col" class="n">Lost</th>${heads}</tr></thead><tbody>${items.map((row) => rowMarkup(row, row))}
${rowMarkup({ name: `All ${counted(total.recordings, "recording")}`, id: "" }, total)}</tbody></table></div>
<p class="soft">Time within the uploading schedule from ${minuteOf(period.from)} to ${minuteOf(period.to)} UTC, days in ${period.timezone}, added up over
recordings; each second lost has one cause. Unplanned leaves maintenance out.${note}</p>`;
}

const minuteOf = (iso: string) => iso.slice(0, 16).replace("T", " ");

function rowMarkup(
  { name, id }: Pick<ReportGroupRow, "name" | "id">,
  row: Omit<ReportGroupRow, "name" | "id">,
): Markup {
  const causes = lossCauses.map((cause) => {
    const seconds = row.causes[cause];
    return html`<td class="n${seconds === 0 ? " none" : ""}"><i>${causeWords[cause]} </i>${lossDuration(seconds)}</td>`;
  });
  return html`<tr><th scope="row"><bdi>${nameOf(name, id)}</bdi></th><td class="n"><i>available </i>${columnPercent(row.availability ?? undefined, 2)}</td>
<td class="n"><i>unplanned </i>${columnPercent(row.unplannedAvailability ?? undefined, 2)}</td><td class="n"><i>lost </i>${lossDuration(row.lostSeconds)}</td>${causes}</tr>`;
}

/** `2 h 5 m`; a dash for nothing. */
export function lossDuration(seconds: number): string {
  return seconds === 0 ? "–" : humanDuration(seconds * 1000);
}
