/** All locations of the fleet as small tiles, the worst first, by organisation; and the short ids in their links. */
import {
  type FleetCounts,
  type LocationSummary,
  locationSortKey,
  type Standing,
  standingOf,
} from "../../alerting/overview.ts";
import type { FleetLocations } from "../../health/fleet-locations.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { eachRow } from "../../lib/yield.ts";
import { listingOf } from "../paging.ts";
import { homeLink } from "./links.ts";

/** More are on the page of locations: a thousand fit on a screen, and a page is to stay below 60 kB. */
const TILES = 1_000;
/** So few have their names beside them. */
const NAMED = 30;
const MOST_GROUPS = 12;
const NAME_LENGTH = 24;

/** The words for the locations of a standing. */
const WORDS: Readonly<Record<Standing, string>> = {
  offline: "with an offline recording",
  unknown: "with an unknown recording",
  degraded: "with a degraded recording",
  alerts: "online with an alert",
  empty: "without a recording",
  online: "all online",
};

export function* fleetMap(locations: FleetCounts["locations"]): Generator<void, Markup> {
  if (locations.size === 0) return nothing;
  const shown = yield* listingOf(locations.values(), { limit: TILES }, locationSortKey);
  const ids = yield* shortIds(
    shown.items.map(({ id }) => id),
    locations,
  );
  const groups = Map.groupBy(shown.items, ({ organisation }) => organisation);
  const isGrouped = groups.size > 1 && groups.size <= MOST_GROUPS;
  const parts = isGrouped ? [...groups].sort(([a], [b]) => (a < b ? -1 : 1)) : [["", shown.items] as const];
  const all = html`<a href="${homeLink("./", { show: "locations" })}">All ${counted(shown.total, "location")}</a>`;
  const left = shown.total - shown.items.length;
  const more = left === 0 ? nothing : html`${count(left)} more are not shown. `;
  const head = (name: string, of: readonly unknown[]) =>
    html`<h3><bdi>${nameOf(name, "No organisation")}</bdi> <small>${counted(of.length, "location")}</small></h3>`;
  return html`<section aria-labelledby="locations"><h2 id="locations">Locations</h2>
${parts.map(([name, of]) => html`${isGrouped ? head(name, of) : nothing}<div class="map${shown.total > NAMED ? "" : " named"}">${runsOf(of, ids)}</div>`)}
<p class="pager">${more}${all}</p></section>`;
}

function runsOf(locations: readonly LocationSummary[], ids: ReadonlyMap<string, string>): Markup[] {
  return [...Map.groupBy(locations, standingOf)].map(([standing, of]) => {
    const tiles = of.map(({ id, name }) => {
      return html`<a href="?l=${encodeURIComponent((ids.get(id) ?? id).toWellFormed())}">${nameOf(name, id, NAME_LENGTH)}</a>`;
    });
    return html`<div class="${standing}" role="group" aria-label="${counted(of.length, "location")} ${WORDS[standing]}">
${tiles}</div>`;
  });
}

const SHORTEST = 4;
const SHORT_ALREADY = 8;
/** Without such an ending a link has the whole id. */
const LONGEST = 16;

/** By id: its shortest ending that no other of `all` has, from 4 to 16 characters. Yields every so many rows. */
function* shortIds(
  ids: readonly string[],
  all: { keys(): Iterable<string> },
): Generator<void, ReadonlyMap<string, string>> {
  const short = new Map(ids.map((id) => [id, id]));
  let left = ids.filter((id) => id.length > SHORT_ALREADY);
  for (let length = SHORTEST; left.length > 0 && length <= LONGEST; length++) {
    const endings = new Map(left.map((id) => [id.slice(-length), 0]));
    yield* eachRow(all.keys(), (id) => {
      const known = endings.get(id.slice(-length));
      if (known !== undefined) endings.set(id.slice(-length), known + 1);
    });
    const isOnly = (id: string) => id.length <= length || endings.get(id.slice(-length)) === 1;
    for (const id of left.filter(isOnly)) short.set(id, id.slice(-length));
    left = left.filter((id) => !isOnly(id));
  }
  return short;
}

/** The id of a location of which a link has the whole or the ending; what is given where none or several have it. */
export function fullLocationId(all: FleetLocations, given: string): string {
  if (all.has(given) || given.length < SHORTEST) return given;
  const [only = given, ...others] = [...all.keys()].filter((id) => id.endsWith(given));
  return others.length === 0 ? only : given;
}
