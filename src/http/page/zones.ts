/** Zones that recordings cover (`<Group>:<Subgroup>:<Name>`), as a page names them. */
import type { LocationZones } from "../../health/usual-entries.ts";
import { count, nameOf } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";

const ZONES_SHOWN = 20;

/** `Ground:Service:Tills, Ground:Fashion:Shoes and 3 more`. */
export function zonesInWords(zones: readonly string[]): Markup {
  const named = zones
    .slice(0, ZONES_SHOWN)
    .map((zone, i) => html`${i === 0 ? "" : ", "}<bdi>${nameOf(zone, "zone", 120)}</bdi>`);
  const left = zones.length - named.length;
  return html`${named}${left === 0 ? "" : ` and ${count(left)} more`}`;
}

/** The zones of all recordings of a location, each once. */
export function allZones(zones: LocationZones | undefined): readonly string[] {
  return [...new Set([...(zones?.values() ?? [])].flat())].sort();
}
