/** `GET /?location=` and `GET /?q=`: the recordings of one location, or those whose names have the words asked for. */
import { ROWS_PER_STEP } from "../../health/fleet.ts";
import type { RecordingState } from "../../health/state.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { count, counted, nameOf } from "../../lib/words.ts";
import { HttpError } from "../errors.ts";
import { alertCard } from "./alert-card.ts";
import type { Mood, Page } from "./frame.ts";
import { homeLink } from "./links.ts";
import { type Listing, ListingCollector, pager } from "./listing.ts";
import { blindnessNotice, type Look, refreshOf } from "./look.ts";
import type { HomeQuery } from "./query.ts";
import { locationNameOf, recordingKey, recordingNameOf, recordingTable } from "./recording-table.ts";
import { textMatcher } from "./search.ts";
import { countBadges, totalOf } from "./status.ts";
import { type Place, placeKey, type Standing, type Survey, standingOf, surveyOf } from "./survey.ts";
import { tiles } from "./tiles.ts";
import type { Visitor } from "./visitor.ts";

const RECORDINGS_A_PAGE = 100;
const PLACES_FOUND = 12;
const ALERTS_OF_PLACE = 20;

const ROOT = "./";

/** One location. Throws HttpError `not_found` where there is none with this id. */
export function* locationPage(
  look: Look,
  query: HomeQuery,
  id: string,
  visitor: Visitor,
): Generator<void, Page> {
  const survey = yield* surveyOf(look.fleet, look.alerts);
  const place = survey.places.get(id);
  if (!place) {
    throw new HttpError(
      "not_found",
      "There is no watched location with this id; it may have left the fleet, or the link may be cut off.",
    );
  }
  const wanted = query.q === undefined ? undefined : textMatcher(query.q);
  const listing = yield* listRecordings(
    survey,
    look,
    query,
    (state) =>
      state.locationId === id && (wanted?.([recordingNameOf(state.id, look.fleet), state.id]) ?? true),
  );
  const name = nameOf(place.name, id);
  const standing = standingOf(place);
  const found = query.q === undefined ? nothing : html`<p>${matches(listing)}: “${query.q}”.</p>`;
  return {
    title: `${TITLES[standing](place)} · ${name}`,
    mood: MOODS[standing],
    root: ROOT,
    parameters: { location: id },
    path: pathOf(id),
    madeAt: look.moment.now,
    refresh: refreshOf(query),
    body: html`<div class="lead ${MOODS[standing]}"><h1><bdi>${name}</bdi></h1>
<p>${countBadges(place.counts)}<span class="soft">of ${counted(totalOf(place.counts), "recording")}</span></p></div>${blindnessNotice(look)}
${placeAlerts(look, id, visitor)}<section aria-labelledby="recordings"><h2 id="recordings">Recordings</h2>${found}${recordings(listing, look, query, false)}</section>`,
  };
}

/** What was searched for, or the empty form. */
export function* searchPage(look: Look, query: HomeQuery): Generator<void, Page> {
  const { q } = query;
  const form = searchForm(q);
  const page = { root: ROOT, here: "search", madeAt: look.moment.now, refresh: "never" } as const;
  if (q === undefined) {
    const body = html`<h1>Search</h1>${blindnessNotice(look)}${form}`;
    return { ...page, title: "Search", mood: "unknown", body };
  }
  const survey = yield* surveyOf(look.fleet, look.alerts);
  const wanted = textMatcher(q);
  const places = yield* listPlaces(survey, (place) => wanted([place.name, place.id]));
  const listing = yield* listRecordings(survey, look, query, (state) =>
    wanted([recordingNameOf(state.id, look.fleet), locationNameOf(state, look.fleet), state.id]),
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
    body: html`<h1>Search</h1>${blindnessNotice(look)}${form}${query.cursor === undefined && places.total > 0 ? found : nothing}
<section aria-labelledby="recordings"><h2 id="recordings">${counted(listing.total, "recording")}</h2>${recordings(listing, look, query, true)}</section>`,
  };
}

const TITLES: Readonly<Record<Standing, (place: Place) => string>> = {
  offline: ({ counts }) => `${count(counts.offline)} offline`,
  unknown: ({ counts }) => `${count(counts.unknown)} unknown`,
  degraded: ({ counts }) => `${count(counts.degraded)} degraded`,
  alerts: ({ firing }) => counted(firing, "alert"),
  online: () => "All online",
  empty: () => "? No recording seen",
};

const MOODS: Readonly<Record<Standing, Mood>> = {
  offline: "bad",
  unknown: "unknown",
  degraded: "warn",
  alerts: "warn",
  online: "good",
  empty: "unknown",
};

function searchForm(q: string | undefined): Markup {
  return html`<form class="search" role="search" action="${ROOT}" method="get"><label>Part of a name, of a recording or a location
<input type="search" name="q" value="${q ?? ""}" maxlength="256" autofocus autocomplete="off" required></label><button>Search</button></form>`;
}

function pathOf(id: string): string {
  return `?${new URLSearchParams({ location: id })}`;
}

/** Alerts about the location as a whole; those of its recordings stand beside these. */
function placeAlerts(look: Look, id: string, visitor: Visitor): Markup {
  const own = look.alerts.filter(({ subject }) => subject.kind === "location" && subject.id === id);
  if (own.length === 0) return nothing;
  const place = { look, root: ROOT, visitor, path: pathOf(id) } as const;
  const cards = own.slice(0, ALERTS_OF_PLACE).flatMap(({ key }) => {
    const active = look.held.get(key);
    return active ? [alertCard(active, place)] : [];
  });
  return html`<section aria-labelledby="alerts"><h2 id="alerts">Alerts about the location as a whole</h2><ul class="cards">${cards}</ul></section>`;
}

function matches(listing: Listing<unknown>): string {
  return `${counted(listing.total, "recording")} found here`;
}

function recordings(
  listing: Listing<RecordingState>,
  { fleet, moment }: Look,
  { location, q }: HomeQuery,
  withLocation: boolean,
): Markup {
  if (listing.total === 0) return html`<p class="soft">No recording.</p>`;
  const link = (cursor: string | undefined) => homeLink(ROOT, { location, q, cursor });
  const more = pager(listing, { noun: "recordings", link });
  const table = { root: ROOT, moment, caption: "Recordings, the worst first", withLocation } as const;
  return html`${more}${recordingTable(listing.items, fleet, table)}${more}`;
}

function* listRecordings(
  { recordings }: Survey,
  { fleet }: Look,
  { cursor }: HomeQuery,
  wanted: (state: RecordingState) => boolean,
): Generator<void, Listing<RecordingState>> {
  const collector = new ListingCollector<RecordingState>({ limit: RECORDINGS_A_PAGE, cursor });
  let seen = 0;
  for (const state of recordings.values()) {
    if (wanted(state)) collector.offer(recordingKey(state, fleet), state);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return collector.listing();
}

function* listPlaces({ places }: Survey, wanted: (place: Place) => boolean): Generator<void, Listing<Place>> {
  const collector = new ListingCollector<Place>({ limit: PLACES_FOUND });
  let seen = 0;
  for (const place of places.values()) {
    if (wanted(place)) collector.offer(placeKey(place), place);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return collector.listing();
}
