/** `GET /`: what needs somebody, and the fleet at a glance; also as a wall display, and the lists, page by page. */
import type { Alert } from "../../health/alert.ts";
import { totalOf } from "../../health/shard-counts.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Incident } from "../../store/incidents.ts";
import { listingOf } from "../paging.ts";
import { alertSortKey, alertTable } from "./alert-table.ts";
import { boardOf, boardSection, wallBoard } from "./board.ts";
import { fleetMap } from "./fleet-map.ts";
import { type FleetHeadline, headlineOf } from "./headline.ts";
import { recentIncidents } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink } from "./links.ts";
import { pager } from "./listing.ts";
import { locationsPage } from "./locations-page.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { countBadges, type FleetSummary, shareBar, summarize } from "./summary.ts";
import type { Visitor } from "./visitor.ts";

const ALERTS_A_PAGE = 50;

const ROOT = "./";

/** The first page: what needs somebody, with its buttons, every location as a tile, and the incidents of a day or more. */
export function* overviewPage(
  data: PageData,
  visitor: Visitor,
  incidents: readonly Incident[],
): Generator<void, HtmlPage> {
  const { board, summary, headline } = yield* read(data);
  return {
    here: "overview",
    mood: headline.mood,
    title: headline.title,
    body: html`${unreachableNotice(data)}${lead(headline, summary.counts)}${boardSection(board, data, visitor)}
${yield* fleetMap(summary)}${yield* recentIncidents(incidents, data, ROOT)}`,
  };
}

/** The same for a display that nobody touches. */
export function* wallPage(data: PageData): Generator<void, HtmlPage> {
  const { board, summary, headline } = yield* read(data);
  return {
    isWall: true,
    mood: headline.mood,
    title: headline.title,
    parameters: { view: "board" },
    body: html`${unreachableNotice(data)}${lead(headline, summary.counts)}${wallBoard(board, data)}
${yield* fleetMap(summary)}`,
  };
}

/** Every location, filtered and sorted. */
export function* allLocationsPage(data: PageData, query: HomeQuery): Generator<void, HtmlPage> {
  const { summary } = yield* read(data);
  return yield* locationsPage(data, query, summary);
}

/** Every firing alert: those that need somebody first, then the worst. */
export function* allAlertsPage(data: PageData, query: HomeQuery): Generator<void, HtmlPage> {
  const { board, headline } = yield* read(data);
  const needed = new Set(board.needed);
  const keyOf = (alert: Alert) => `${needed.has(alert) ? 0 : 1}${alertSortKey(alert)}`;
  const alerts = yield* listingOf(data.alerts, { limit: ALERTS_A_PAGE, cursor: query.cursor }, keyOf);
  const more = pager(alerts, "alerts", (cursor) => homeLink(ROOT, { show: "alerts", cursor }));
  const words = alerts.total === 0 ? "No active alerts" : counted(alerts.total, "active alert");
  const table = alertTable(alerts.items, data, { root: ROOT, caption: "Active alerts" });
  return {
    here: "alerts",
    mood: headline.mood,
    title: `${headline.title} · Alerts`,
    parameters: { show: "alerts" },
    path: "?show=alerts",
    body: html`<h1>${words}</h1>${unreachableNotice(data)}
<p class="soft">${headline.sentence}.</p>${more}${alerts.total === 0 ? nothing : table}${more}`,
  };
}

function* read(data: PageData) {
  const board = yield* boardOf(data);
  const summary = yield* summarize(data.fleet, board.needed);
  const { locations } = summary;
  return { board: { ...board, locations }, summary, headline: headlineOf(summary, { ...board, locations }, data) };
}

function lead({ mood, sentence, asides }: FleetHeadline, counts: FleetSummary["counts"]): Markup {
  const total = totalOf(counts);
  const badges = html`<p>${countBadges(counts)} <span class="soft">of ${counted(total, "recording")}</span></p>`;
  return html`<div class="lead ${mood}">
<h1>${sentence}.</h1>${shareBar(counts)}${total === 0 ? nothing : badges}${asides.map((aside) => html`<p>${aside}</p>`)}</div>`;
}
