/** The locations of an alert about a group, on its page: how many of its recordings each has, and the statuses there. */
import { type Alert, groupName, groupNouns, groupOfSubject } from "../../health/alert.ts";
import { noCounts } from "../../health/status-counts.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { homeLink, type Root } from "./links.ts";
import { type ListingColumn, section, tableOf } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { countBadges } from "./summary.ts";

const PLACES_SHOWN = 40;
const COLUMNS: readonly ListingColumn[] = [["Location"], ["Of the group"], ["All at the location"]];

/** Nothing for an alert that is not about a group, or of which no recording is known. */
export function groupPlaces({ subject, labels }: Alert, { fleet }: PageData, root: Root): Markup {
  const { label, value } = groupOfSubject(subject) ?? {};
  if (label === undefined || value === undefined) return nothing;
  const { inventory, locations } = fleet;
  const places = [...inventory.labelled(label, value)].flatMap(([id, recordings]) => {
    const name = nameOf(inventory.location(id)?.name ?? "", id);
    const { counts = noCounts(), were = noCounts() } = locations.get(id) ?? {};
    return { id, name, recordings, counts, were };
  });
  if (places.length === 0) return nothing;
  places.sort((a, b) => b.counts.offline - a.counts.offline || (a.name < b.name ? -1 : 1));
  const rows = places
    .slice(0, PLACES_SHOWN)
    .map(({ id, name, recordings, ...tally }) => [
      html`<a href="${homeLink(root, { location: id })}"><bdi>${name}</bdi></a>`,
      html`${counted(recordings, "recording")}`,
      html`${countBadges(tally)}`,
    ]);
  const left = places.length - rows.length;
  const all = homeLink(root, { q: value.slice(0, 256) });
  const more = left > 0 ? html`<p><a href="${all}">${counted(left, "more location")}</a></p>` : nothing;
  const heading = html`${counted(places.length, "location")} of ${groupNouns[label]} <bdi>${cut(groupName({ label, value }, labels), 100)}</bdi>`;
  const table = tableOf("Locations, most recordings offline first", COLUMNS, rows);
  return section("places", heading, html`${table}${more}`);
}
