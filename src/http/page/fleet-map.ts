/** All locations of the fleet as small tiles, the worst first, by organisation; and the short ids in their links. */
import { alertsByLocation, type LocationSummary, locationSortKey, summaryOf } from "../../alerting/overview.ts";
import type { Tone } from "../../alerting/tone.ts";
import type { FleetOverview, LocationOverview } from "../../health/shard-overview.ts";
import { totalOf } from "../../health/status-counts.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { listingOf } from "../paging.ts";
import { homeLink } from "./links.ts";
import type { PageData } from "./page-data.ts";

/** More are on the page of locations: a thousand fit on a screen, and a page is to stay below 60 kB. */
const TILES = 1_000;
/** So few have their names beside them. */
const NAMED = 30;
const MOST_GROUPS = 12;
const NAME_LENGTH = 24;

/** The words for the locations of a tone. */
const WORDS: Readonly<Record<Tone, string>> = {
  critical: "with a critical alert",
  warning: "with a warning",
  unknown: "with an unknown recording",
  info: "not all online, needing nobody",
  good: "all online",
};

export function fleetMap({ locations, inventory }: FleetOverview, data: PageData): Markup {
  if (locations.size === 0) return nothing;
  const shown = tilesOf({ locations, inventory }, alertsByLocation(data));
  const ids = shortIds(shown, locations);
  const groups = Map.groupBy(shown, ({ organisation }) => organisation);
  const isGrouped = groups.size > 1 && groups.size <= MOST_GROUPS;
  const parts = isGrouped ? [...groups].sort(([a], [b]) => (a < b ? -1 : 1)) : [["", shown] as const];
  const all = html`<a href="${homeLink("./", { show: "locations" })}">All ${counted(locations.size, "location")}</a>`;
  const left = locations.size - shown.length;
  const more = left === 0 ? nothing : html`${count(left)} more are not shown. `;
  const head = (name: string, of: readonly unknown[]) =>
    html`<h3><bdi>${nameOf(name, "No organisation")}</bdi> <small>${counted(of.length, "location")}</small></h3>`;
  return html`<section aria-labelledby="locations"><h2 id="locations">Locations</h2>
${parts.map(([name, of]) => html`${isGrouped ? head(name, of) : nothing}<div class="map${locations.size > NAMED ? "" : " named"}">${runsOf(of, ids)}</div>`)}
${shown.some(({ isLast }) => isLast) ? HATCHED : nothing}<p class="pager">${more}${all}</p></section>`;
}

const HATCHED = html`<p class="soft">Hatched: as last known, not read since.</p>\n`;

/** The worst locations, and others where there is room: no more of them are named and sorted than are shown. */
function tilesOf(fleet: Pick<FleetOverview, "locations" | "inventory">, alerts: ReturnType<typeof alertsByLocation>) {
  const isWell = ({ id, counts }: LocationOverview) =>
    counts.online > 0 && counts.online === totalOf(counts) && !alerts.has(id);
  const unwell = [...fleet.locations.values().filter((one) => !isWell(one))];
  const well = fleet.locations.values().filter(isWell);
  const some = [...unwell, ...well.take(Math.max(0, TILES - unwell.length))];
  const summaries = some.values().map((one) => summaryOf(one, fleet, alerts));
  return listingOf(summaries, { limit: TILES }, locationSortKey).items;
}

function runsOf(locations: readonly LocationSummary[], ids: ReadonlyMap<string, string>): Markup[] {
  const runs = Map.groupBy(locations, ({ tone, isLast }) => `${tone}${isLast ? " last" : ""}`);
  return [...runs].map(([classes, of]) => {
    const words = `${WORDS[of[0]?.tone ?? "unknown"]}${of[0]?.isLast ? ", last known" : ""}`;
    const tiles = of.map(({ id, name }) => {
      return html`<a href="?l=${encodeURIComponent((ids.get(id) ?? id).toWellFormed())}">${nameOf(name, id, NAME_LENGTH)}</a>`;
    });
    return html`<div class="${classes}" role="group" aria-label="${counted(of.length, "location")} ${words}">
${tiles}</div>`;
  });
}

/** An ending of this length names nearly every location, and is a link of its length. */
const SHORT = 6;

/** By id: its ending where no other location has the same, else the whole. */
function shortIds(shown: readonly LocationSummary[], all: FleetOverview["locations"]): ReadonlyMap<string, string> {
  const endings = new Map(shown.map(({ id }) => [id.slice(-SHORT), 0]));
  for (const id of all.keys()) {
    const ending = id.slice(-SHORT);
    const known = endings.get(ending);
    if (known !== undefined) endings.set(ending, known + 1);
  }
  const isOnly = (ending: string) => endings.get(ending) === 1;
  return new Map(shown.map(({ id }) => [id, isOnly(id.slice(-SHORT)) ? id.slice(-SHORT) : id]));
}

/** The id of a location of which a link has the whole or the ending; what is given where none or several have it. */
export function fullLocationId(all: FleetOverview["locations"], given: string): string {
  if (all.has(given)) return given;
  const [only = given, ...others] = [...all.keys()].filter((id) => id.endsWith(given));
  return others.length === 0 ? only : given;
}
