/** Locations as tiles. */

import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { homeLink, type Root } from "./links.ts";
import { countBadges, shareBar, totalOf } from "./status.ts";
import { type Place, standingOf } from "./summary.ts";

export function tiles(places: readonly Place[], root: Root): Markup {
  if (places.length === 0) return nothing;
  const items = places.map((place) => tile(place, root));
  return html`<ul class="tiles">
${items}</ul>`;
}

function tile(place: Place, root: Root): Markup {
  const { id, name, counts, firing } = place;
  const total = totalOf(counts);
  const size = total === 0 ? "no recording seen" : `of ${counted(total, "recording")}`;
  const alerts = firing > 0 ? ` · ${counted(firing, "alert")}` : "";
  return html`<li class="${standingOf(place)}"><a href="${homeLink(root, { location: id })}"><bdi>${nameOf(name, id)}</bdi></a>
${shareBar(counts)}<p>${countBadges(counts)}</p><p class="soft">${size}${alerts}</p></li>
`;
}
