/** `GET /?q=`: locations and recordings found by name, and how recordings are listed. */
import type { RecordingState } from "../../health/shard-state.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { type Listing, listingOf } from "../paging.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink, type Root } from "./links.ts";
import { pager } from "./listing.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { locationNameOf, recordingNameOf, recordingSortKey, recordingTable } from "./recording-table.ts";
import { type FleetSummary, locationSortKey, locationTable, summarize } from "./summary.ts";

const RECORDINGS_A_PAGE = 100;
const LOCATIONS_FOUND = 12;

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
  const locations = yield* listingOf(summary.locations.values(), { limit: LOCATIONS_FOUND }, (location) =>
    matches([location.name, location.id]) ? locationSortKey(location) : undefined,
  );
  const listing = yield* recordingListingOf(summary, data, query, (state) =>
    matches([recordingNameOf(state.id, fleet), locationNameOf(state, fleet), state.id, ...groupsOf(state.id, data, q)]),
  );
  const left = locations.total - locations.items.length;
  const more = html`<p class="soft">and ${counted(left, "more location")}: add a word to narrow the search.</p>`;
  const found = html`<section aria-labelledby="locations"><h2 id="locations">${counted(locations.total, "location")}</h2>
${locationTable(locations.items)}${left === 0 ? nothing : more}</section>`;
  return {
    ...page,
    title: `${count(listing.total)} found`,
    body: html`${top}${query.cursor === undefined && locations.total > 0 ? found : nothing}
<section aria-labelledby="recordings"><h2 id="recordings">${counted(listing.total, "recording")}</h2>
${recordingsSection(listing, data, query, true)}</section>`,
  };
}

/** What alerts of groups are about; a time zone is part of no other name only as a whole. */
function groupsOf(id: string, { fleet }: PageData, q: string): string[] {
  const { cameraServer = "", organisation = "", timezone = "" } = fleet.inventory.recording(id) ?? {};
  return [cameraServer, organisation, ...(timezone === q ? [timezone] : [])];
}

export function searchForm(root: Root, q = ""): Markup {
  return html`<form class="search" role="search" action="${root}" method="get">
<label>Part of a name, of a recording or a location
<input type="search" name="q" value="${q}" maxlength="256" autofocus autocomplete="off" required></label>
<button>Search</button></form>`;
}

/** Whether all words of `text` are in the given names together, whatever their case and accents. */
export function textMatcher(text: string): (names: readonly string[]) => boolean {
  const words = folded(text).split(/\s+/);
  return (names) => {
    const all = folded(names.map((name) => name.slice(0, 256)).join("\n"));
    return words.every((word) => all.includes(word));
  };
}

function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
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
export function recordingListingOf(
  { recordings }: FleetSummary,
  { fleet }: PageData,
  { cursor }: HomeQuery,
  matches: (state: RecordingState) => boolean,
): Generator<void, Listing<RecordingState>> {
  return listingOf(recordings.values(), { limit: RECORDINGS_A_PAGE, cursor }, (state) =>
    matches(state) ? recordingSortKey(state, fleet) : undefined,
  );
}
