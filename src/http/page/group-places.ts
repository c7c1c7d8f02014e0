/** The locations of an alert about a group, on its page: how many of its recordings are offline at each of them. */
import { type Alert, groupNouns, groupOfSubject } from "../../health/alert.ts";
import { locationsOf, statesAt, statusOf } from "../../health/fleet-locations.ts";
import { labelOf } from "../../health/members.ts";
import { ROWS_PER_STEP } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { homeLink, type Root } from "./links.ts";
import { type ListingColumn, section, tableOf } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { agoAt } from "./when.ts";

const PLACES_SHOWN = 40;
const COLUMNS: readonly ListingColumn[] = [["Location"], ["Offline", "offline"], ["Last seen", "last seen", "t"]];

interface Place {
  readonly id: string;
  readonly name: string;
  readonly offline: number;
  readonly of: number;
  /** The latest of its recordings that are offline. */
  readonly lastSeenAt: Instant | undefined;
}

type Group = NonNullable<ReturnType<typeof groupOfSubject>>;

/** Nothing for an alert that is not about a group, or of which no recording is known. */
export function* groupPlaces({ subject }: Alert, data: PageData, root: Root): Generator<void, Markup> {
  const group = groupOfSubject(subject);
  const places = group ? yield* placesOf(group, data) : [];
  if (!group || places.length === 0) return nothing;
  places.sort((a, b) => b.offline - a.offline || (a.name < b.name ? -1 : 1));
  const rows = places
    .slice(0, PLACES_SHOWN)
    .map(({ id, name, offline, of, lastSeenAt }) => [
      html`<a href="${homeLink(root, { location: id })}"><bdi>${name}</bdi></a>`,
      html`${count(offline)} of ${count(of)}`,
      agoAt(lastSeenAt, data.moment),
    ]);
  const left = places.length - rows.length;
  const all = homeLink(root, { q: group.value.slice(0, 256) });
  const more = left > 0 ? html`<p><a href="${all}">${counted(left, "more location")}</a></p>` : nothing;
  const heading = html`${counted(places.length, "location")} of ${groupNouns[group.label]} <bdi>${cut(group.value, 100)}</bdi>`;
  const table = tableOf("Locations, most recordings offline first", COLUMNS, rows);
  return section("places", heading, html`${table}${more}`);
}

function* placesOf({ label, value }: Group, { fleet }: PageData): Generator<void, Place[]> {
  const { inventory } = fleet;
  const places: Place[] = [];
  let looked = 0;
  for (const location of (yield* locationsOf(fleet)).values()) {
    const here = [...statesAt([location])];
    const own = here.filter(({ id }) => labelOf(inventory.recording(id), label) === value);
    const offline = own.filter((row) => statusOf(row, fleet) === "offline");
    const seen = offline.flatMap((row) => row.lastSeenAt ?? []);
    const name = nameOf(inventory.location(location.id)?.name ?? "", location.id);
    const lastSeenAt = seen.length > 0 ? Math.max(...seen) : undefined;
    if (own.length > 0) places.push({ id: location.id, name, offline: offline.length, of: own.length, lastSeenAt });
    looked += here.length;
    if (looked > ROWS_PER_STEP) {
      looked = 0;
      yield;
    }
  }
  return places;
}
