/** Recordings: their names, their current figures, and as a table, page by page. */
import { type FleetLocation, statesAt } from "../../health/fleet-locations.ts";
import { worstFirst } from "../../health/recording.ts";
import { currentStatus, type FleetSnapshot, type RecordingState } from "../../health/shard-state.ts";
import { columnPercent, counted, nameOf, zonePath } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { span } from "../../lib/when.ts";
import { type Listing, listingOf } from "../paging.ts";
import { type HomeQuery, homeLink, recordingLink } from "./links.ts";
import { firstOf, type ListingColumn, tableOf } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { badge } from "./summary.ts";
import { agoAt, knownZone, type Moment, timeAt } from "./when.ts";

/** The worst first, then by location and name. */
export function recordingSortKey(state: RecordingState, fleet: FleetSnapshot): string {
  const rank = worstFirst.indexOf(currentStatus(state, fleet.now, fleet.statusIntervalMs));
  const names = [locationNameOf(state, fleet), recordingNameOf(state.id, fleet)];
  return sortKey(rank, names, state.id);
}

export function recordingNameOf(id: string, { inventory }: FleetSnapshot): string {
  return inventory.recording(id)?.name || id;
}

export function locationNameOf({ locationId }: RecordingState, { inventory }: FleetSnapshot): string {
  return inventory.location(locationId)?.name || locationId;
}

/** The current figures: old ones do not describe now, and an offline recording has no quality. */
export function presentRecording(state: RecordingState, fleet: FleetSnapshot) {
  const { inventory } = fleet;
  const status = currentStatus(state, fleet.now, fleet.statusIntervalMs);
  const recording = inventory.recording(state.id);
  return {
    status,
    timezone: knownZone(recording?.timezone, inventory.location(state.locationId)?.timezone),
    quality: status === "online" || status === "degraded" ? state.averageQuality : undefined,
    uptime24h: fleet.overallUptime(state.id, 86_400_000),
    firing: Object.values(state.alerts ?? {}).filter((alert) => alert.state === "firing").length,
  };
}

const COLUMNS: readonly ListingColumn[] = [
  ["Recording"],
  ["Status"],
  ["Last seen", "seen"],
  ["Quality", "quality", "n"],
  ["Uptime 24 h", "uptime", "n"],
  ["Alerts", "", "n"],
];

export function recordingTable(
  states: readonly RecordingState[],
  { fleet, moment }: PageData,
  withLocation: boolean,
): Markup {
  const rows = states.map((state) => {
    const { status, quality, uptime24h, firing, timezone } = presentRecording(state, fleet);
    const name = nameOf(recordingNameOf(state.id, fleet), state.id);
    const location = nameOf(locationNameOf(state, fleet), state.locationId);
    const href = homeLink("./", { location: state.locationId });
    const link = html` <small><a href="${href}"><bdi>${location}</bdi></a></small>`;
    return [
      html`<a href="${recordingLink("./", state.id)}"><bdi>${name}</bdi></a>${withLocation ? link : nothing}`,
      html`${badge(status)} <small>${sinceText(state, status, timezone, moment)}</small>`,
      agoAt(state.lastSeenAt, moment),
      html`${columnPercent(quality, 1)}`,
      html`${columnPercent(uptime24h, 2)}`,
      firing === 0 ? nothing : html`${counted(firing, "alert")}`,
    ];
  });
  return tableOf("Recordings, the worst first", COLUMNS, rows);
}

const RECORDINGS_A_PAGE = 100;

/** One page of the recordings at these locations that match, the worst first; yields every so many. */
export function* recordingListing(
  locations: Iterable<FleetLocation>,
  { fleet }: PageData,
  { cursor }: Pick<HomeQuery, "cursor">,
  matches: (state: RecordingState) => boolean = () => true,
): Generator<void, Listing<RecordingState>> {
  const keyOf = (state: RecordingState) => (matches(state) ? recordingSortKey(state, fleet) : undefined);
  return yield* listingOf(statesAt(locations), { limit: RECORDINGS_A_PAGE, cursor }, keyOf);
}

/** `since 14:05 GMT (12 m)`; for `unknown`, the last known status. */
export function sinceText(state: RecordingState, status: string, timezone: string, moment: Moment): Markup {
  if (status === "unknown") {
    if (state.status === undefined) return html`no good reading yet`;
    const at = timeAt(state.readAt, timezone, moment);
    return html`was ${state.status} at ${at} (${agoAt(state.readAt, moment)})`;
  }
  return html`since ${timeAt(state.since, timezone, moment)} (${span(state.since, moment.now)})`;
}

/** `Ground › Service › Tills, Ground › Fashion › Shoes and 3 more`. */
export function zonesInWords(zones: readonly string[]): Markup {
  return firstOf(zones, 20, (zone) => html`<bdi>${zonePath(nameOf(zone, "zone", 120))}</bdi>`);
}
