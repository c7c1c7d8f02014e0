/** What befell a recording or a location, episode by episode. */
import type { EndReason } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import { nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { span } from "../../lib/when.ts";
import type { Listing } from "../paging.ts";
import type { ApiIncident } from "../v1/incidents.ts";
import { type Root, recordingLink } from "./links.ts";
import { type Column, tableOf } from "./table.ts";
import { type Moment, timeAt } from "./when.ts";

/** How far back incidents and uptime are shown. */
export const PERIOD_DAYS = 30;

/** From when on incidents are shown. */
export function incidentsSince(now: Instant): Instant {
  return now - PERIOD_DAYS * 86_400_000;
}

export interface IncidentTable {
  readonly moment: Moment;
  /** IANA zone its times are told in. */
  readonly timezone: string;
  /** Whether the newest are among these. */
  readonly isFirst: boolean;
  link(cursor: string | undefined): string;
  /** Given where incidents are of several recordings: the way to `/`. */
  readonly whose?: Root;
}

const COLUMNS: readonly Column[] = [
  { head: "What" },
  { head: "Began", label: "began" },
  { head: "Ended", label: "ended" },
  { head: "Lasted", label: "lasted", brief: true },
  { head: "How it ended" },
];

/** One page of them, the newest first. */
export function incidentSection(
  { items, nextCursor }: Pick<Listing<ApiIncident>, "items" | "nextCursor">,
  table: IncidentTable,
): Markup {
  const { moment, timezone, isFirst, link, whose } = table;
  const rows = items.map((row) => {
    const [from, to] = [Date.parse(row.startsAt), row.endsAt === null ? undefined : Date.parse(row.endsAt)];
    return [
      html`${nameOf(row.alertname, "alert", 80)}${whoseOf(row, whose)}`,
      timeAt(from, timezone, moment),
      to === undefined ? nothing : timeAt(to, timezone, moment),
      html`${span(from, to ?? moment.now)}`,
      html`${reasonOf(row.endReason)}`,
    ];
  });
  const all = tableOf("Incidents, the newest first", COLUMNS, rows);
  const none = html`<p class="soft">None${isFirst ? "" : " from here on"}.</p>`;
  const first = isFirst ? nothing : html`<a href="${link(undefined)}" rel="first">Back to the newest</a>`;
  const next =
    nextCursor === null ? nothing : html`<a href="${link(nextCursor)}" rel="next">Older incidents</a>`;
  return html`<section aria-labelledby="incidents"><h2 id="incidents">Incidents of the last ${PERIOD_DAYS} days</h2>${items.length === 0 ? none : all}<p class="pager">${first}${next}</p></section>
`;
}

function whoseOf({ recording, subject }: ApiIncident, root: Root | undefined): Markup {
  if (root === undefined || recording === null) return nothing;
  return html` <small><a href="${recordingLink(root, subject.id)}"><bdi>${nameOf(recording, subject.id)}</bdi></a></small>`;
}

const REASONS: Readonly<Record<EndReason, string>> = {
  recovered: "recovered",
  no_longer_watched: "no longer watched",
  rule_removed: "its rule was removed",
  expired: "expired; whether it is back is not known",
};

function reasonOf(reason: EndReason | null): string {
  return reason === null ? "not over" : REASONS[reason];
}
