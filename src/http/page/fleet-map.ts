/** All locations of the fleet as small tiles, the worst first, by organisation; and the short ids in their links. */
import type { FleetSnapshot } from "../../health/shard-state.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { listingOf } from "../paging.ts";
import { homeLink } from "./links.ts";
import { type FleetSummary, type LocationSummary, locationSortKey, type Standing, standingOf } from "./summary.ts";

/** More are on the page of locations: a thousand fit on a screen, and a page is to stay below 60 kB. */
const TILES = 1_000;
/** So few have their names beside them. */
const NAMED = 30;
const MOST_GROUPS = 12;
const NAME_LENGTH = 24;

/** What the tiles of a standing have in common, in the order of `Standing`. */
const WORDS: Readonly<Record<Standing, string>> = {
  offline: "with an offline recording",
  unknown: "with an unknown recording",
  degraded: "with a degraded recording",
  alerts: "online with an alert",
  empty: "without a recording",
  online: "all online",
};

export function* fleetMap({ locations }: FleetSummary): Generator<void, Markup> {
  if (locations.size === 0) return nothing;
  const shown = yield* listingOf(locations.values(), { limit: TILES }, locationSortKey);
  const ids = shortIds([...locations.keys()]);
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

const reverse = (text: string) => [...text].reverse().join("");

/** By id: its shortest ending that no other id has, of at least 4 characters. */
function shortIds(all: readonly string[]): Map<string, string> {
  const reversed = all.map((id) => reverse(id)).sort();
  const alike = (a: string, b = "") => {
    let n = 0;
    while (n < a.length && a[n] === b[n]) n += 1;
    return n;
  };
  return new Map(
    reversed.map((text, i) => {
      const length = Math.max(SHORTEST, 1 + Math.max(alike(text, reversed[i - 1]), alike(text, reversed[i + 1])));
      if (text.length <= SHORT_ALREADY) return [reverse(text), reverse(text)];
      return [reverse(text), reverse(text.slice(0, length))];
    }),
  );
}

/** The id of a location of which a link has the whole or the ending; what is given where none or several have it. */
export function fullLocationId({ shards }: FleetSnapshot, given: string): string {
  const all = new Set<string>();
  for (const { locations, recordings } of shards) {
    for (const id of locations.keys()) all.add(id);
    for (const { locationId } of recordings.values()) all.add(locationId);
  }
  if (all.has(given) || given.length < SHORTEST) return given;
  const [only = given, ...others] = [...all].filter((id) => id.endsWith(given));
  return others.length === 0 ? only : given;
}
