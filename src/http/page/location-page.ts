/** `GET /?location=`: one location, its recordings, and what befell it. */
import type { LogLine } from "../../alerting/decision-log.ts";
import type { FleetSnapshot } from "../../health/shard-state.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { UptimeKept } from "../../poll/uptime-reader.ts";
import type { Incident } from "../../store/incidents.ts";
import { HttpError } from "../errors.ts";
import type { Listing } from "../paging.ts";
import { incidentListing } from "../v1/incidents.ts";
import { alertCard } from "./alert-card.ts";
import { decisionLogSection } from "./decision-log.ts";
import { incidentSection, PERIOD_DAYS } from "./incident-section.ts";
import type { Mood, Page } from "./layout.ts";
import { type PageData, refreshOf, unreachableNotice } from "./page-data.ts";
import type { HomeQuery } from "./query.ts";
import { recordingNameOf } from "./recording-table.ts";
import { listRecordings, recordingsSection } from "./recordings-page.ts";
import { textMatcher } from "./search.ts";
import { countBadges, totalOf } from "./status.ts";
import { type FleetSummary, type Place, type Standing, standingOf, summarize } from "./summary.ts";
import { uptimeDays, uptimeOfAll } from "./uptime-days.ts";
import { uptimeSection } from "./uptime-strip.ts";
import type { Visitor } from "./visitor.ts";
import { knownZone } from "./when.ts";
import { zonesInWords } from "./zones.ts";

const ALERTS_OF_PLACE = 20;
const INCIDENTS_SHOWN = 20;

const ROOT = "./";

/** What was read beside the fleet. */
export interface PlaceSeen {
  readonly visitor: Visitor;
  /** By recording id, as far as anything is kept. */
  readonly uptimes: ReadonlyMap<string, UptimeKept>;
  /** Those its recordings cover, as far as they are known. */
  readonly zones: readonly string[];
  readonly incidents: readonly Incident[];
  /** What was decided about it, oldest first. */
  readonly lines: readonly LogLine[];
}

/** The recordings at a location, as far as they are known. */
export function recordingsAt(id: string, { shards }: FleetSnapshot): string[] {
  return shards.flatMap(({ recordings }) =>
    [...recordings.values()].filter(({ locationId }) => locationId === id).map((state) => state.id),
  );
}

/** One location. Throws HttpError `not_found` where there is none with this id. */
export function* locationPage(
  data: PageData,
  query: HomeQuery,
  id: string,
  { visitor, uptimes, zones, incidents, lines }: PlaceSeen,
): Generator<void, Page> {
  const summary = yield* summarize(data.fleet, data.alerts);
  const place = summary.places.get(id);
  if (!place) {
    throw new HttpError(
      "not_found",
      "There is no watched location with this id; it may have left the fleet, or the link may be cut off.",
    );
  }
  const wanted = query.q === undefined ? undefined : textMatcher(query.q);
  const listing = yield* listRecordings(
    summary,
    data,
    query,
    (state) =>
      state.locationId === id && (wanted?.([recordingNameOf(state.id, data.fleet), state.id]) ?? true),
  );
  const name = nameOf(place.name, id);
  const standing = standingOf(place);
  const found = query.q === undefined ? nothing : html`<p>${matches(listing)}: “${query.q}”.</p>`;
  const { moment, fleet } = data;
  const timezone = zoneOfPlace(place, summary, fleet);
  const all = [...uptimes.values()].map((kept) => uptimeDays(kept, moment.now, PERIOD_DAYS, timezone));
  const page = yield* incidentListing(
    incidents,
    { limit: INCIDENTS_SHOWN, location: id },
    fleet.inventory,
    moment.now,
  );
  const table = { moment, timezone, isFirst: true, link: () => pathOf(id), whose: ROOT } as const;
  const covered = zones.length === 0 ? nothing : html`<p class="soft">Zones: ${zonesInWords(zones)}</p>`;
  const history = html`${uptimeSection({ days: uptimeOfAll(all), timezone, title: `Uptime of the last ${PERIOD_DAYS} days` })}${incidentSection({ ...page, nextCursor: null }, table)}${decisionLogSection(lines, { moment, timezone, title: "What was decided about the location, and why", of: "location" })}`;
  return {
    title: `${TITLES[standing](place)} · ${name}`,
    mood: MOODS[standing],
    root: ROOT,
    parameters: { location: id },
    path: pathOf(id),
    madeAt: data.moment.now,
    refresh: refreshOf(query),
    body: html`<div class="lead ${MOODS[standing]}"><h1><bdi>${name}</bdi></h1>
<p>${countBadges(place.counts)}<span class="soft">of ${counted(totalOf(place.counts), "recording")}</span></p>${covered}</div>${unreachableNotice(data)}
${placeAlerts(data, id, visitor, lines)}<section aria-labelledby="recordings"><h2 id="recordings">Recordings</h2>${found}${recordingsSection(listing, data, query, false)}</section>${history}`,
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

function pathOf(id: string): string {
  return `?${new URLSearchParams({ location: id })}`;
}

/** Alerts about the location as a whole; those of its recordings stand beside these. */
function placeAlerts(data: PageData, id: string, visitor: Visitor, lines: readonly LogLine[]): Markup {
  const own = data.alerts.filter(({ subject }) => subject.kind === "location" && subject.id === id);
  if (own.length === 0) return nothing;
  const place = { data, root: ROOT, visitor, path: pathOf(id), lines } as const;
  const cards = own.slice(0, ALERTS_OF_PLACE).flatMap(({ key }) => {
    const active = data.suppressed.get(key);
    return active ? [alertCard(active, place)] : [];
  });
  return html`<section aria-labelledby="alerts"><h2 id="alerts">Alerts about the location as a whole</h2><ul class="cards">${cards}</ul></section>`;
}

function matches(listing: Listing<unknown>): string {
  return `${counted(listing.total, "recording")} found here`;
}

/** The location's own zone, else that of one of its recordings. */
function zoneOfPlace({ id }: Place, { recordings }: FleetSummary, { inventory }: FleetSnapshot): string {
  const own = inventory.location(id)?.timezone;
  if (own !== undefined) return own;
  for (const state of recordings.values()) {
    if (state.locationId === id) return knownZone(inventory.recording(state.id)?.timezone);
  }
  return "UTC";
}
