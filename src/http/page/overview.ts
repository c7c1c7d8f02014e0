/** `GET /`: what needs somebody, and the fleet at a glance. */
import { type FleetHeadline, headlineOf } from "../../alerting/headline.ts";
import { type Overview, overviewOf } from "../../alerting/overview.ts";
import { totalOf } from "../../health/shard-counts.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Incident } from "../../store/incidents.ts";
import { boardSection } from "./board.ts";
import { fleetMap } from "./fleet-map.ts";
import { recentIncidents } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import type { HomeQuery } from "./links.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { countBadges, shareBar } from "./summary.ts";
import type { Visitor } from "./visitor.ts";

const ROOT = "./";

/** The first page: what needs somebody, with its buttons, every location as a tile, and the incidents of a day or more. */
export function* overviewPage(
  data: PageData,
  { cursor }: Pick<HomeQuery, "cursor">,
  visitor: Visitor,
  incidents: readonly Incident[],
): Generator<void, HtmlPage> {
  const overview = yield* overviewOf(data);
  const headline = headlineOf(overview, data.fleet, data.moment.times);
  return {
    here: "overview",
    mood: headline.mood,
    title: headline.title,
    body: html`${unreachableNotice(data)}${lead(headline, overview.counts)}${yield* boardSection(overview, data, cursor, visitor)}
${yield* fleetMap(overview.locations)}${yield* recentIncidents(incidents, data, ROOT)}`,
  };
}

function lead({ mood, sentence, asides }: FleetHeadline, counts: Overview["counts"]): Markup {
  const total = totalOf(counts);
  const badges = html`<p>${countBadges(counts)} <span class="soft">of ${counted(total, "recording")}</span></p>`;
  return html`<div class="lead ${mood}">
<h1>${sentence}.</h1>${shareBar(counts)}${total === 0 ? nothing : badges}${asides.map((aside) => html`<p>${aside}</p>`)}</div>`;
}
