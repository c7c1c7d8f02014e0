/** `GET /`: what needs somebody, and the fleet at a glance. */
import { totalOf } from "../../health/shard-counts.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Incident } from "../../store/incidents.ts";
import { boardOf, boardSection } from "./board.ts";
import { fleetMap } from "./fleet-map.ts";
import { type FleetHeadline, headlineOf } from "./headline.ts";
import { recentIncidents } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import type { HomeQuery } from "./links.ts";
import { locationsPage } from "./locations-page.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { countBadges, type FleetSummary, shareBar, summarize } from "./summary.ts";
import type { Visitor } from "./visitor.ts";

const ROOT = "./";

/** The first page: what needs somebody, with its buttons, every location as a tile, and the incidents of a day or more. */
export function* overviewPage(
  data: PageData,
  { cursor }: Pick<HomeQuery, "cursor">,
  visitor: Visitor,
  incidents: readonly Incident[],
): Generator<void, HtmlPage> {
  const { board, summary, headline } = yield* read(data);
  return {
    here: "overview",
    mood: headline.mood,
    title: headline.title,
    body: html`${unreachableNotice(data)}${lead(headline, summary.counts)}${yield* boardSection(board, data, cursor, visitor)}
${yield* fleetMap(summary)}${yield* recentIncidents(incidents, data, ROOT)}`,
  };
}

/** Every location, filtered and sorted. */
export function* allLocationsPage(data: PageData, query: HomeQuery): Generator<void, HtmlPage> {
  const { summary } = yield* read(data);
  return yield* locationsPage(data, query, summary);
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
