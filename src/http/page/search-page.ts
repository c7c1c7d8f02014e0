/** `GET /?q=`: alerts found by their labels, locations and recordings found by name, and how recordings are listed. */
import type { Alert } from "../../health/alert.ts";
import { type FleetLocation, type FleetRow, rowsAt, wholeOf } from "../../health/fleet-locations.ts";
import type { RecordingState } from "../../health/shard-state.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { type Listing, listingOf } from "../paging.ts";
import { recordingMatcher, textMatcher } from "../search.ts";
import { alertSortKey, alertTable } from "./alert-table.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink, type Root } from "./links.ts";
import { pager } from "./listing.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { recordingSortKey, recordingTable } from "./recording-table.ts";
import { locationSortKey, locationTable, summarize } from "./summary.ts";

const RECORDINGS_A_PAGE = 100;
const LOCATIONS_FOUND = 12;
const ALERTS_FOUND = 12;

const ROOT = "./";

/** The search results, or the empty form. */
export function* searchPage(data: PageData, query: HomeQuery): Generator<void, HtmlPage> {
  const { q } = query;
  const top = html`<h1>Search</h1>${unreachableNotice(data)}${searchForm(ROOT, q)}`;
  const page = { here: "search", refresh: "never" } as const;
  if (q === undefined) return { ...page, title: "Search", body: top };
  const { fleet } = data;
  const summary = yield* summarize(fleet, data.alerts);
  const matches = textMatcher(q);
  const alerts = yield* listingOf(data.alerts, { limit: ALERTS_FOUND }, (alert) =>
    matches(Object.values(alert.labels)) ? alertSortKey(alert) : undefined,
  );
  const locations = yield* listingOf(summary.locations.values(), { limit: LOCATIONS_FOUND }, (location) =>
    matches([location.name, location.id]) ? locationSortKey(location) : undefined,
  );
  const listing = yield* recordingListingOf(summary.locations.values(), data, query, recordingMatcher(q, fleet));
  const left = locations.total - locations.items.length;
  const more = html`<p class="soft">and ${counted(left, "more location")}: add a word to narrow the search.</p>`;
  const found = html`<section aria-labelledby="locations"><h2 id="locations">${counted(locations.total, "location")}</h2>
${locationTable(locations.items)}${left === 0 ? nothing : more}</section>`;
  return {
    ...page,
    title: `${count(listing.total)} found`,
    body: html`${top}${query.cursor === undefined ? html`${alertsFound(alerts, data)}${locations.total > 0 ? found : nothing}` : nothing}
<section aria-labelledby="recordings"><h2 id="recordings">${counted(listing.total, "recording")}</h2>
${recordingsSection(listing, data, query, true)}</section>`,
  };
}

/** Active alerts that have the words in their labels. */
function alertsFound({ items, total }: Listing<Alert>, data: PageData): Markup {
  if (total === 0) return nothing;
  const left = total - items.length;
  const all = html`<p class="soft">and <a href="${homeLink(ROOT, { show: "alerts" })}">${counted(left, "more alert")}</a></p>`;
  return html`<section aria-labelledby="alerts"><h2 id="alerts">${counted(total, "active alert")}</h2>
${alertTable(items, data, { root: ROOT, caption: "Active alerts found" })}${left === 0 ? nothing : all}</section>`;
}

export function searchForm(root: Root, q = ""): Markup {
  return html`<form class="search" role="search" action="${root}" method="get">
<label>Part of a name, of a recording, a location or a camera server
<input type="search" name="q" value="${q}" maxlength="256" autofocus autocomplete="off" required></label>
<button>Search</button></form>`;
}

/** The recordings of one page of a list, with links to the others. */
export function recordingsSection(
  listing: Listing<RecordingState>,
  data: PageData,
  { location, q }: HomeQuery,
  withLocation: boolean,
): Markup {
  if (listing.total === 0) return html`<p class="soft">No recordings.</p>`;
  const link = (cursor: string | undefined) => homeLink(ROOT, { location, q, cursor });
  const more = pager(listing, "recordings", link);
  return html`${more}${recordingTable(listing.items, data, withLocation)}${more}`;
}

/** One page of the recordings that match, the worst first; yields every so many. */
export function* recordingListingOf(
  locations: Iterable<FleetLocation>,
  { fleet }: PageData,
  { cursor }: HomeQuery,
  matches: ReturnType<typeof recordingMatcher>,
): Generator<void, Listing<RecordingState>> {
  const keyOf = (row: FleetRow) => (matches(row) ? recordingSortKey(wholeOf(row), fleet) : undefined);
  const listing = yield* listingOf(rowsAt(locations), { limit: RECORDINGS_A_PAGE, cursor }, keyOf);
  return { ...listing, items: listing.items.map(wholeOf) };
}
