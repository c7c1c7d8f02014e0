/** Counts as badges, bars and a table of locations. */
import { type LocationSummary, occurring } from "../../alerting/overview.ts";
import { looks, statusTones } from "../../alerting/tone.ts";
import type { RecordingStatus } from "../../health/recording.ts";
import { type StatusCounts, totalOf } from "../../health/status-counts.ts";
import { count, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { homeLink } from "./links.ts";
import { type ListingColumn, tableOf } from "./listing.ts";

const COLUMNS: readonly ListingColumn[] = [["Location"], ["Recordings"], ["Need attention", "need attention", "n"]];

/** For pages at `/`. */
export function locationTable(locations: readonly LocationSummary[], caption = "Locations, the worst first"): Markup {
  if (locations.length === 0) return nothing;
  const rows = locations.map(({ id, name, organisation, counts, needed }) => [
    html`<a href="${homeLink("./", { location: id })}"><bdi>${nameOf(name, id)}</bdi></a>
<span class="soft"><bdi>${organisation && nameOf(organisation, "")}</bdi></span>`,
    html`${countBadges(counts)}<span class="soft">of ${count(totalOf(counts))}</span>`,
    needed === 0 ? nothing : html`${count(needed)}`,
  ]);
  return tableOf(caption, COLUMNS, rows);
}

/** A status in its colour, after its mark. */
export function badge(status: RecordingStatus, words: string = status): Markup {
  const tone = statusTones[status];
  return html`<span class="s ${tone}"><span aria-hidden="true">${looks[tone].mark} </span>${words}</span>`;
}

/** `2 offline`, `4 online`: badges of the statuses that occur, the worst first. */
export function countBadges(counts: StatusCounts): Markup[] {
  return occurring(counts).map((status) => html`${badge(status, `${count(counts[status])} ${status}`)} `);
}

/** The same as a bar, in addition to the words. */
export function shareBar(counts: StatusCounts): Markup {
  const total = totalOf(counts);
  if (total === 0) return nothing;
  let x = 0;
  const parts = occurring(counts).map((status) => {
    const width = (100 * counts[status]) / total;
    x += width;
    return html`<rect class="${statusTones[status]}" x="${(x - width).toFixed(2)}" width="${width.toFixed(2)}" height="4"/>`;
  });
  return html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}
