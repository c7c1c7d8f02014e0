/** `GET /`: the fleet's state, firing alerts and locations; also all locations and all alerts, page by page. */
import type { Alert } from "../../health/alert.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Incident } from "../../store/incidents.ts";
import { type Listing, listingOf, type PageQuery } from "../paging.ts";
import { alertSortKey, alertTable } from "./alert-table.ts";
import { type FleetHeadline, headlineOf } from "./headline.ts";
import { recentIncidents } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink } from "./links.ts";
import { pager } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import {
  type FleetSummary,
  type LocationSummary,
  locationSortKey,
  shareBar,
  standingOf,
  summarize,
  tiles,
} from "./summary.ts";

const ALERTS_AT_FIRST = 20;
const TILES_AT_FIRST = 60;
const ALERTS_A_PAGE = 100;
const TILES_A_PAGE = 200;

const ROOT = "./";

/** The first page: trouble in full, everything else as a number. `incidents`: at least those of the last 24 hours. */
export function* overviewPage(
  data: PageData,
  query: HomeQuery,
  incidents: readonly Incident[],
): Generator<void, HtmlPage> {
  const { summary, headline, page } = yield* read(data, query);
  const folded = foldAlerts(data.alerts);
  const alerts = yield* listingOf(folded.alerts, { limit: ALERTS_AT_FIRST }, alertSortKey);
  const onlyTroubled = summary.locations.size > TILES_AT_FIRST;
  const shown = yield* listLocations(summary, { limit: TILES_AT_FIRST }, onlyTroubled);
  return {
    ...page,
    here: "overview",
    title: headline.title,
    body: html`${lead(headline, summary.counts)}${alertSection(alerts, folded.within, data)}
${locationSection(summary, shown, onlyTroubled)}${yield* recentIncidents(incidents, data, ROOT)}`,
  };
}

/** Every location, the worst first. */
export function* allLocationsPage(data: PageData, query: HomeQuery): Generator<void, HtmlPage> {
  const found = yield* read(data, query);
  const locations = yield* listLocations(found.summary, { limit: TILES_A_PAGE, cursor: query.cursor }, false);
  return listPage(found, "locations", locations, counted(locations.total, "location"), tiles(locations.items));
}

/** Every firing alert, the worst first. */
export function* allAlertsPage(data: PageData, query: HomeQuery): Generator<void, HtmlPage> {
  const found = yield* read(data, query);
  const alerts = yield* listingOf(data.alerts, { limit: ALERTS_A_PAGE, cursor: query.cursor }, alertSortKey);
  if (alerts.total === 0) return listPage(found, "alerts", alerts, "No active alerts", nothing);
  const table = alertTable(alerts.items, data, { root: ROOT, caption: "Active alerts" });
  return listPage(found, "alerts", alerts, counted(alerts.total, "active alert"), table);
}

type Found = { readonly headline: FleetHeadline; readonly page: Pick<HtmlPage, "mood" | "parameters" | "path"> };

function listPage(
  { headline, page }: Found,
  here: "locations" | "alerts",
  listing: Listing<unknown>,
  words: string,
  shown: Markup,
): HtmlPage {
  const more = pager(listing, here, (cursor) => homeLink(ROOT, { show: here, cursor }));
  return {
    ...page,
    here,
    title: `${headline.title} · ${here === "alerts" ? "Alerts" : "Locations"}`,
    body: html`<h1>${words}</h1>
<p class="soft">${headline.sentence}.</p>${more}${shown}${more}`,
  };
}

function* read(data: PageData, { show }: HomeQuery) {
  const summary = yield* summarize(data.fleet, data.alerts);
  const headline = headlineOf(summary, data);
  const shown = show === undefined ? {} : { parameters: { show }, path: `?show=${show}` };
  return { summary, headline, page: { mood: headline.mood, ...shown } };
}

function lead({ mood, sentence, asides }: FleetHeadline, counts: FleetSummary["counts"]): Markup {
  return html`<div class="lead ${mood}">
<h1>${sentence}.</h1>${shareBar(counts)}${asides.map((aside) => html`<p>${aside}</p>`)}</div>`;
}

/** Alerts of recordings are folded into that of their location, where it has one, and counted by location. */
function foldAlerts(alerts: readonly Alert[]) {
  const locations = new Set(
    alerts.filter(({ subject }) => subject.kind === "location").map(({ subject }) => subject.id),
  );
  const within = new Map<string, number>();
  const unfolded = alerts.filter(({ subject, labels: { location_id: id = "" } }) => {
    if (subject.kind !== "recording" || !locations.has(id)) return true;
    within.set(id, (within.get(id) ?? 0) + 1);
    return false;
  });
  return { alerts: unfolded, within };
}

function alertSection(alerts: Listing<Alert>, within: ReadonlyMap<string, number>, data: PageData): Markup {
  const total = data.alerts.length;
  if (total === 0) return nothing;
  const left = alerts.total - alerts.items.length;
  const more = left === 0 ? "" : `${count(left)} more alerts. `;
  const link = html`<a href="${homeLink(ROOT, { show: "alerts" })}">All ${counted(total, "alert")}</a>`;
  const table = { root: ROOT, caption: "Active alerts, the worst first", within } as const;
  return html`<section aria-labelledby="alerts"><h2 id="alerts">Alerts</h2>
${alertTable(alerts.items, data, table)}
${total === alerts.items.length ? nothing : html`<p class="pager"><span>${more}${link}</span></p>`}</section>`;
}

/** Every location of a small fleet; of a large one those in trouble, and the number of the others. */
function locationSection({ locations }: FleetSummary, shown: Listing<LocationSummary>, onlyTroubled: boolean): Markup {
  const total = locations.size;
  if (total === 0) return nothing;
  const left = shown.total - shown.items.length;
  const href = homeLink(ROOT, { show: "locations", cursor: shown.nextCursor ?? undefined });
  const more = html`<p class="pager"><a href="${href}">${counted(left, "more location")} in trouble</a></p>`;
  return html`<section aria-labelledby="locations"><h2 id="locations">Locations</h2>
${tiles(shown.items)}${left === 0 ? nothing : more}
${onlyTroubled ? untroubled(total - shown.total, total) : nothing}</section>`;
}

function untroubled(number: number, total: number): Markup {
  const link = html`<a href="${homeLink(ROOT, { show: "locations" })}">All ${counted(total, "location")}</a>`;
  if (number === 0) return html`<p>${link}</p>`;
  const subject = number === total ? counted(total, "location") : `The other ${counted(number, "location")}`;
  return html`<p>${subject} ${number === 1 ? "has" : "have"} nothing to report. ${link}</p>`;
}

function listLocations({ locations }: FleetSummary, query: PageQuery, onlyTroubled: boolean) {
  return listingOf(locations.values(), query, (location) => {
    const standing = standingOf(location);
    const isTroubled = standing !== "online" && standing !== "empty";
    return onlyTroubled && !isTroubled ? undefined : locationSortKey(location);
  });
}
