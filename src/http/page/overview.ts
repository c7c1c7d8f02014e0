/** `GET /`: how it is, what fires, and where the trouble is; also all locations and all alerts, page by page. */
import type { Alert } from "../../health/alert.ts";
import { ROWS_PER_STEP } from "../../health/fleet-snapshot.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { type Listing, PageCollector } from "../paging.ts";
import { alertKey, alertTable } from "./alert-table.ts";
import { type Headline, headlineOf } from "./headline.ts";
import type { Page } from "./layout.ts";
import { homeLink } from "./links.ts";
import { pager } from "./listing.ts";
import { isServiceUnreachable, type PageData, refreshOf } from "./page-data.ts";
import type { HomeQuery } from "./query.ts";
import { shareBar } from "./status.ts";
import { type FleetSummary, type Place, placeKey, standingOf, summarize } from "./summary.ts";
import { tiles } from "./tiles.ts";

const ALERTS_AT_FIRST = 20;
const TILES_AT_FIRST = 60;
const ALERTS_A_PAGE = 100;
const TILES_A_PAGE = 200;

const ROOT = "./";

/** The first page: trouble in full, what is fine as a number. */
export function* overviewPage(data: PageData, query: HomeQuery): Generator<void, Page> {
  const summary = yield* summarize(data.fleet, data.alerts);
  const headline = headlineFrom(summary, data);
  const folded = foldAlerts(data.alerts);
  const alerts = yield* listAlerts(folded.alerts, { limit: ALERTS_AT_FIRST });
  const onlyTroubled = summary.places.size > TILES_AT_FIRST;
  const shown = yield* listPlaces(summary, { limit: TILES_AT_FIRST }, onlyTroubled);
  return {
    title: headline.title,
    mood: headline.mood,
    root: ROOT,
    here: "overview",
    madeAt: data.moment.now,
    refresh: refreshOf(query),
    body: html`${lead(headline, summary.counts)}${alertSection(alerts, folded, data)}${placeSection(summary, shown, onlyTroubled)}`,
  };
}

/** Every location, the worst first. */
export function* locationsPage(data: PageData, query: HomeQuery): Generator<void, Page> {
  const summary = yield* summarize(data.fleet, data.alerts);
  const headline = headlineFrom(summary, data);
  const places = yield* listPlaces(summary, { limit: TILES_A_PAGE, cursor: query.cursor }, false);
  const link = (cursor: string | undefined) => homeLink(ROOT, { show: "locations", cursor });
  const more = pager(places, { noun: "locations", link });
  return {
    title: `${headline.title} · Locations`,
    mood: headline.mood,
    root: ROOT,
    here: "locations",
    parameters: { show: "locations" },
    path: "?show=locations",
    madeAt: data.moment.now,
    refresh: refreshOf(query),
    body: html`<h1>${counted(places.total, "location")}</h1>
<p class="soft">${headline.sentence}.</p>${more}${tiles(places.items, ROOT)}${more}`,
  };
}

/** Every alert that fires, the worst first. */
export function* alertsPage(data: PageData, query: HomeQuery): Generator<void, Page> {
  const summary = yield* summarize(data.fleet, data.alerts);
  const headline = headlineFrom(summary, data);
  const alerts = yield* listAlerts(data.alerts, { limit: ALERTS_A_PAGE, cursor: query.cursor });
  const link = (cursor: string | undefined) => homeLink(ROOT, { show: "alerts", cursor });
  const more = pager(alerts, { noun: "alerts", link });
  const words = alerts.total === 1 ? "1 alert fires" : `${count(alerts.total)} alerts fire`;
  const { moment, suppressed } = data;
  const table = alertTable(alerts.items, { root: ROOT, moment, caption: "Alerts that fire", suppressed });
  return {
    title: `${headline.title} · Alerts`,
    mood: headline.mood,
    root: ROOT,
    here: "alerts",
    parameters: { show: "alerts" },
    path: "?show=alerts",
    madeAt: data.moment.now,
    refresh: refreshOf(query),
    body: html`<h1>${alerts.total === 0 ? "No alert fires" : words}</h1>
<p class="soft">${headline.sentence}.</p>${more}${alerts.total === 0 ? nothing : table}${more}`,
  };
}

function headlineFrom(summary: FleetSummary, data: PageData): Headline {
  return headlineOf({
    counts: summary.counts,
    firing: summary.firing,
    readAt: summary.readAt,
    now: data.moment.now,
    statusIntervalMs: data.fleet.statusIntervalMs,
    unreachable: data.alerts.filter(isServiceUnreachable),
  });
}

function lead({ mood, sentence, asides }: Headline, counts: FleetSummary["counts"]): Markup {
  return html`<div class="lead ${mood}"><h1>${sentence}.</h1>${shareBar(counts)}${asides.map((aside) => html`<p>${aside}</p>`)}</div>
`;
}

interface FoldedAlerts {
  readonly alerts: readonly Alert[];
  /** By location, how many alerts of its recordings are left out. */
  readonly within: ReadonlyMap<string, number>;
}

/** Where a location as a whole is in trouble, the alerts of its recordings are counted beside that one. */
function foldAlerts(alerts: readonly Alert[]): FoldedAlerts {
  const places = new Set(
    alerts.filter(({ subject }) => subject.kind === "location").map(({ subject }) => subject.id),
  );
  const within = new Map<string, number>();
  const kept = alerts.filter(({ subject, labels: { location_id: place = "" } }) => {
    if (subject.kind !== "recording" || !places.has(place)) return true;
    within.set(place, (within.get(place) ?? 0) + 1);
    return false;
  });
  return { alerts: kept, within };
}

function alertSection(alerts: Listing<Alert>, { within }: FoldedAlerts, data: PageData): Markup {
  const total = data.alerts.length;
  if (total === 0) return nothing;
  const { moment, suppressed } = data;
  const table = { root: ROOT, moment, caption: "Alerts that fire, the worst first", suppressed } as const;
  const left = alerts.total - alerts.items.length;
  const rest = left === 0 ? "" : `${count(left)} more fire. `;
  const all = html`<p class="pager"><span>${rest}<a href="${homeLink(ROOT, { show: "alerts" })}">All ${counted(total, "alert")}</a></span></p>`;
  return html`<section aria-labelledby="alerts"><h2 id="alerts">Alerts</h2>
${alertTable(alerts.items, table, within)}${total === alerts.items.length ? nothing : all}</section>
`;
}

/** Every location of a small fleet; of a large one those in trouble, and how many there are of the others. */
function placeSection(summary: FleetSummary, shown: Listing<Place>, onlyTroubled: boolean): Markup {
  const total = summary.places.size;
  if (total === 0) return nothing;
  const left = shown.total - shown.items.length;
  const more =
    left === 0
      ? nothing
      : html`<p class="pager"><a href="${homeLink(ROOT, { show: "locations", cursor: shown.nextCursor ?? undefined })}">${count(left)} more ${left === 1 ? "location" : "locations"} in trouble</a></p>`;
  return html`<section aria-labelledby="locations"><h2 id="locations">Locations</h2>
${tiles(shown.items, ROOT)}${more}${onlyTroubled ? fine(total - shown.total, total) : nothing}</section>
`;
}

function fine(without: number, total: number): Markup {
  const all = html`<a href="${homeLink(ROOT, { show: "locations" })}">All ${counted(total, "location")}</a>`;
  if (without === 0) return html`<p>${all}</p>`;
  const who = without === total ? counted(total, "location") : `The other ${counted(without, "location")}`;
  const verb = without === 1 ? "has" : "have";
  return html`<p>${who} ${verb} nothing to report. ${all}</p>`;
}

interface Part {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

function* listAlerts(alerts: readonly Alert[], part: Part): Generator<void, Listing<Alert>> {
  const collector = new PageCollector<Alert>(part);
  let seen = 0;
  for (const alert of alerts) {
    collector.offer(alertKey(alert), alert);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return collector.page();
}

function* listPlaces(
  summary: FleetSummary,
  part: Part,
  onlyTroubled: boolean,
): Generator<void, Listing<Place>> {
  const collector = new PageCollector<Place>(part);
  let seen = 0;
  for (const place of summary.places.values()) {
    if (!onlyTroubled || isTroubled(place)) collector.offer(placeKey(place), place);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return collector.page();
}

function isTroubled(place: Place): boolean {
  const standing = standingOf(place);
  return standing !== "online" && standing !== "empty";
}
