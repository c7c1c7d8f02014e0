/** `GET /audit`: the audit log, for principals with the scope admin. */
import { auditActions, type StoredAuditEntry } from "../../alerting/audit.ts";
import { actorText, auditText } from "../../alerting/audit-text.ts";
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { timesSeenAt } from "../../lib/when.ts";
import { auditListing } from "../v1/audit.ts";
import { optionsOf } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { type AuditQuery, auditLink, periods } from "./links.ts";
import { type ListingColumn, pager, tableOf } from "./listing.ts";
import { type Moment, timeAt } from "./when.ts";

const ENTRIES_A_PAGE = 100;

const COLUMNS: readonly ListingColumn[] = [["Time", "at", "t"], ["By", "by"], ["From", "from"], ["What"]];

/** `entries` are those of the days that the query asks for. */
export function* auditPage(
  entries: readonly StoredAuditEntry[],
  query: AuditQuery,
  now: Instant,
): Generator<void, HtmlPage> {
  const { person, action, days } = query;
  const listing = yield* auditListing(entries, { limit: ENTRIES_A_PAGE, ...query });
  const moment: Moment = { now, times: timesSeenAt(now) };
  const link = (cursor: string | undefined) => auditLink({ person, action, days, cursor });
  const rows = listing.items.map((entry) => rowOf(entry, moment));
  const table = tableOf("Changes and refused attempts", COLUMNS, rows);
  return {
    title: "Audit log",
    here: "audit",
    refresh: "never",
    madeAt: now,
    path: auditLink({ person, action, days }),
    body: html`<h1>Audit log</h1>${filterForm(query)}
${listing.items.length === 0 ? html`<p class="soft">Nothing in that time.</p>` : table}
${pager(listing, "entries", link, "the newest first")}`,
  };
}

function rowOf(entry: StoredAuditEntry, moment: Moment): Markup[] {
  const refused = entry.outcome === "refused" ? html` class="wrong"` : nothing;
  return [
    timeAt(entry.at, "UTC", moment),
    html`<bdi>${actorText(entry)}</bdi>`,
    html`<bdi>${entry.address ?? "–"}</bdi>`,
    html`<bdi${refused}>${auditText(entry)}</bdi>`,
  ];
}

function filterForm({ person = "", action, days }: AuditQuery): Markup {
  const actions = auditActions.map((one) => [one, one.replaceAll("_", " ")] as const);
  return html`<form class="search" role="search" action="audit" method="get">
<label>Person or token <input name="person" value="${person}" maxlength="256" autocomplete="off"></label>
<label>Action <select name="action">${optionsOf([["", "all"], ...actions], action)}</select></label>
<label>Last <select name="days">${optionsOf(Object.entries(periods), days)}</select></label>
<button>Filter</button></form>`;
}
