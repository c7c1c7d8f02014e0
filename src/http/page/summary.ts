/** Counts as badges, bars and a table of locations. */
import type { Mood } from "../../alerting/headline.ts";
import { type LocationSummary, occurring, type Standing } from "../../alerting/overview.ts";
import type { RecordingStatus } from "../../health/recording.ts";
import { type StatusCounts, totalOf } from "../../health/status-counts.ts";
import { count, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { homeLink } from "./links.ts";
import { type ListingColumn, tableOf } from "./listing.ts";

/** The mood of a page about a location; an unknown status is not good. */
export const moodOf: Readonly<Record<Standing, Mood>> = {
  offline: "bad",
  unknown: "unknown",
  degraded: "warn",
  alerts: "warn",
  empty: "unknown",
  online: "good",
};

const COLUMNS: readonly ListingColumn[] = [["Location"], ["Recordings"], ["Need attention", "need attention", "n"]];

/** For pages at `/`. */
export function locationTable(locations: readonly LocationSummary[], caption = "Locations, the worst first"): Markup {
  if (locations.length === 0) return nothing;
  const rows = locations.map(({ id, name, organisation, counts, firing }) => [
    html`<a href="${homeLink("./", { location: id })}"><bdi>${nameOf(name, id)}</bdi></a>
<span class="soft"><bdi>${organisation && nameOf(organisation, "")}</bdi></span>`,
    html`${countBadges(counts)}<span class="soft">of ${count(totalOf(counts))}</span>`,
    firing === 0 ? nothing : html`${count(firing)}`,
  ]);
  return tableOf(caption, COLUMNS, rows);
}

const SIGNS: Readonly<Record<RecordingStatus, string>> = { offline: "✕", unknown: "?", degraded: "▲", online: "✓" };

/** `✕ offline`. */
export function badge(status: RecordingStatus, words: string = status): Markup {
  return html`<span class="s ${status}"><span aria-hidden="true">${SIGNS[status]} </span>${words}</span>`;
}

/** `✕ 2 offline`, `✓ 4 online`: the statuses that occur, the worst first. */
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
    return html`<rect class="${status}" x="${(x - width).toFixed(2)}" width="${width.toFixed(2)}" height="4"/>`;
  });
  return html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}
