/** The fleet counted, in all and per location. */
import type { Alert } from "../../health/alert.ts";
import { countsIn, type FleetLocation, locationsOf, rowsAt } from "../../health/fleet-locations.ts";
import { type RecordingStatus, worstFirst } from "../../health/recording.ts";
import { Rows } from "../../health/rows.ts";
import { type StatusCounts, totalOf } from "../../health/shard-counts.ts";
import type { FleetSnapshot } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { count, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { eachRow } from "../paging.ts";
import type { Mood } from "./layout.ts";
import { homeLink } from "./links.ts";
import { type ListingColumn, sortKey, tableOf } from "./listing.ts";

export interface LocationSummary extends FleetLocation {
  readonly name: string;
  /** Of one of its recordings; empty where it is not known, and where the whole fleet is of one. */
  readonly organisation: string;
  /** Those of the given alerts that are of the location and its recordings. */
  readonly firing: number;
}

export interface FleetSummary {
  readonly counts: StatusCounts;
  readonly firing: number;
  /** The latest good reading of any recording; undefined where there was none. */
  readonly readAt: Instant | undefined;
  readonly locations: ReadonlyMap<string, LocationSummary>;
}

/** Counts the fleet and its firing `alerts`; yields every so many rows. */
export function* summarize(fleet: FleetSnapshot, alerts: readonly Alert[]): Generator<void, FleetSummary> {
  const byLocation = yield* locationsOf(fleet);
  const firing = new Map<string, number>();
  yield* eachRow(alerts, ({ labels: { location_id: id = "" } }) => firing.set(id, (firing.get(id) ?? 0) + 1));
  const organisations = new Map<string, string>();
  yield* eachRow(byLocation.values(), (location) => {
    const known = rowsAt([location]).map(({ id }) => fleet.inventory.recording(id)?.organisation);
    if (location.parts.length > 0) organisations.set(location.id, known.find(Boolean) ?? "");
  });
  const isOfOne = new Set(organisations.values()).size < 2;
  const locations = new Map<string, LocationSummary>();
  yield* eachRow(byLocation.values(), (location) => {
    const { id } = location;
    const name = fleet.inventory.location(id)?.name || id;
    const organisation = isOfOne ? "" : (organisations.get(id) ?? "");
    locations.set(id, { ...location, name, organisation, firing: firing.get(id) ?? 0 });
  });
  const readAt = Math.max(
    0,
    ...fleet.shards.map((shard) => Rows.of(shard).counts(fleet.now, fleet.statusIntervalMs).readAt),
  );
  return { counts: countsIn(byLocation.values()), firing: alerts.length, readAt: readAt || undefined, locations };
}

/** A location's worst status; `alerts` where all recordings are online and yet something fires. */
export type Standing = RecordingStatus | "alerts" | "empty";

export function standingOf({ counts, firing }: LocationSummary): Standing {
  const [worst] = occurring(counts);
  if (worst !== "online" && worst !== undefined) return worst;
  return firing > 0 ? "alerts" : (worst ?? "empty");
}

/** The worst first. An unknown status is not good. */
export const moodOf: Readonly<Record<Standing, Mood>> = {
  offline: "bad",
  unknown: "unknown",
  degraded: "warn",
  alerts: "warn",
  empty: "unknown",
  online: "good",
};

/** The worst first: by standing, then by the share of its recordings with that status. */
export function locationSortKey(location: LocationSummary): string {
  const standing = standingOf(location);
  const worst = standing === "alerts" || standing === "empty" ? "online" : standing;
  const share = location.counts[worst] / Math.max(1, totalOf(location.counts));
  const better = String(Math.round((1 - share) * 1000)).padStart(4, "0");
  return sortKey(`${Object.keys(moodOf).indexOf(standing)}${better}`, [location.name], location.id);
}

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

/** The statuses that occur, the worst first. */
export function occurring(counts: StatusCounts) {
  return worstFirst.filter((status) => counts[status] > 0);
}

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
