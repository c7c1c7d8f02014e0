/** Incidents of a recording or a location. */
import type { EndReason } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import { nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { span } from "../../lib/when.ts";
import type { Listing } from "../paging.ts";
import type { ApiIncident } from "../v1/incidents.ts";
import { type Root, recordingLink } from "./links.ts";
import { type TableColumn, tableOf } from "./table.ts";
import { type Moment, timeAt } from "./when.ts";

/** How far back incidents and uptime are shown. */
export const PERIOD_DAYS = 30;

/** Start of the incidents that are shown. */
export function incidentsSince(now: Instant): Instant {
  return now - PERIOD_DAYS * 86_400_000;
}

interface IncidentSectionOptions {
  readonly moment: Moment;
  /** IANA zone of its times. */
  readonly timezone: string;
  /** The newest are among these. */
  readonly isFirst: boolean;
  link(cursor: string | undefined): string;
  /** Given where incidents are of several recordings, which are linked then. */
  readonly recordingRoot?: Root;
}

const COLUMNS: readonly TableColumn[] = [
  { head: "Alert" },
  { head: "Began", label: "began" },
  { head: "Ended", label: "ended" },
  { head: "Lasted", label: "lasted", brief: true },
  { head: "Reason" },
];

const REASONS: Readonly<Record<EndReason, string>> = {
  recovered: "recovered",
  no_longer_watched: "no longer watched",
  rule_removed: "its rule was removed",
  expired: "expired; whether it recovered is not known",
};

/** One page of them, the newest first. */
export function incidentSection(
  { items, nextCursor }: Pick<Listing<ApiIncident>, "items" | "nextCursor">,
  { moment, timezone, isFirst, link, recordingRoot }: IncidentSectionOptions,
): Markup {
  const rows = items.map((row) => {
    const [from, to] = [Date.parse(row.startsAt), row.endsAt === null ? undefined : Date.parse(row.endsAt)];
    return [
      html`${nameOf(row.alertname, "alert", 80)}${recordingOf(row, recordingRoot)}`,
      timeAt(from, timezone, moment),
      to === undefined ? nothing : timeAt(to, timezone, moment),
      html`${span(from, to ?? moment.now)}`,
      html`${row.endReason === null ? "not over" : REASONS[row.endReason]}`,
    ];
  });
  const none = html`<p class="soft">No incidents${isFirst ? "" : " from here on"}.</p>`;
  const table = rows.length === 0 ? none : tableOf("Incidents, the newest first", COLUMNS, rows);
  const first = html`<a href="${link(undefined)}" rel="first">Back to the newest</a>`;
  const next = html`<a href="${link(nextCursor ?? undefined)}" rel="next">Older incidents</a>`;
  return html`<section aria-labelledby="incidents"><h2 id="incidents">Incidents of the last ${PERIOD_DAYS} days</h2>
${table}<p class="pager">${isFirst ? nothing : first}${nextCursor === null ? nothing : next}</p></section>
`;
}

function recordingOf({ recording, subject: { id } }: ApiIncident, root: Root | undefined): Markup {
  if (root === undefined || recording === null) return nothing;
  return html` <small><a href="${recordingLink(root, id)}"><bdi>${nameOf(recording, id)}</bdi></a></small>`;
}
