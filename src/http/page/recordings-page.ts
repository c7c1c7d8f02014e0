/** `GET /?q=`: locations and recordings whose names have the words asked for, and how recordings are listed. */
import { ROWS_PER_STEP } from "../../health/fleet-snapshot.ts";
import type { RecordingState } from "../../health/shard-state.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { type Listing, PageCollector } from "../paging.ts";
import type { Page } from "./layout.ts";
import { homeLink } from "./links.ts";
import { pager } from "./listing.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import type { HomeQuery } from "./query.ts";
import { locationNameOf, recordingKey, recordingNameOf, recordingTable } from "./recording-table.ts";
import { textMatcher } from "./search.ts";
import { type FleetSummary, type Place, placeKey, summarize } from "./summary.ts";
import { tiles } from "./tiles.ts";

const RECORDINGS_A_PAGE = 100;
const PLACES_FOUND = 12;

const ROOT = "./";

/** What was searched for, or the empty form. */
export function* searchPage(data: PageData, query: HomeQuery): Generator<void, Page> {
  const { q } = query;
  const form = searchForm(q);
  const page = { root: ROOT, here: "search", madeAt: data.moment.now, refresh: "never" } as const;
  if (q === undefined) {
    const body = html`<h1>Search</h1>${unreachableNotice(data)}${form}`;
    return { ...page, title: "Search", mood: "unknown", body };
  }
  const summary = yield* summarize(data.fleet, data.alerts);
  const wanted = textMatcher(q);
  const places = yield* listPlaces(summary, (place) => wanted([place.name, place.id]));
  const listing = yield* listRecordings(summary, data, query, (state) =>
    wanted([recordingNameOf(state.id, data.fleet), locationNameOf(state, data.fleet), state.id]),
  );
  const left = places.total - places.items.length;
  const more =
    left === 0
      ? nothing
      : html`<p class="soft">and ${counted(left, "more location")}: add a word to find fewer.</p>`;
  const found = html`<section aria-labelledby="locations"><h2 id="locations">${counted(places.total, "location")}</h2>${tiles(places.items, ROOT)}${more}</section>`;
  return {
    ...page,
    title: `${count(listing.total)} found`,
    mood: "unknown",
    body: html`<h1>Search</h1>${unreachableNotice(data)}${form}${query.cursor === undefined && places.total > 0 ? found : nothing}
<section aria-labelledby="recordings"><h2 id="recordings">${counted(listing.total, "recording")}</h2>${recordingsSection(listing, data, query, true)}</section>`,
  };
}

function searchForm(q: string | undefined): Markup {
  return html`<form class="search" role="search" action="${ROOT}" method="get"><label>Part of a name, of a recording or a location
<input type="search" name="q" value="${q ?? ""}" maxlength="256" autofocus autocomplete="off" required></label><button>Search</button></form>`;
}

/** The recordings of one page of a list, with the way to the others. */
export function recordingsSection(
  listing: Listing<RecordingState>,
  { fleet, moment }: PageData,
  { location, q }: HomeQuery,
  withLocation: boolean,
): Markup {
  if (listing.total === 0) return html`<p class="soft">No recording.</p>`;
  const link = (cursor: string | undefined) => homeLink(ROOT, { location, q, cursor });
  const more = pager(listing, { noun: "recordings", link });
  const table = { root: ROOT, moment, caption: "Recordings, the worst first", withLocation } as const;
  return html`${more}${recordingTable(listing.items, fleet, table)}${more}`;
}

/** One page of the recordings that are wanted, the worst first; yields every so many. */
export function* listRecordings(
  { recordings }: FleetSummary,
  { fleet }: PageData,
  { cursor }: HomeQuery,
  wanted: (state: RecordingState) => boolean,
): Generator<void, Listing<RecordingState>> {
  const collector = new PageCollector<RecordingState>({ limit: RECORDINGS_A_PAGE, cursor });
  let seen = 0;
  for (const state of recordings.values()) {
    if (wanted(state)) collector.offer(recordingKey(state, fleet), state);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return collector.page();
}

function* listPlaces(
  { places }: FleetSummary,
  wanted: (place: Place) => boolean,
): Generator<void, Listing<Place>> {
  const collector = new PageCollector<Place>({ limit: PLACES_FOUND });
  let seen = 0;
  for (const place of places.values()) {
    if (wanted(place)) collector.offer(placeKey(place), place);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return collector.page();
}
