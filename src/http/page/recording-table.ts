/** Recordings: their names, their current figures, and as a table, page by page. */
import { worstFirst } from "../../health/recording.ts";
import { type FleetSnapshot, type RecordingState, statusOf } from "../../health/shard-state.ts";
import { columnPercent, counted, nameOf, zonePath } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { span } from "../../lib/when.ts";
import { type Listing, listingOf } from "../paging.ts";
import { type HomeQuery, type Root, recordingLink } from "./links.ts";
import { firstOf, type ListingColumn, tableOf } from "./listing.ts";
import { statusBadges } from "./summary.ts";
import { agoAt, knownZone, type Moment, sinceAt, timeAt } from "./when.ts";

/** The worst first, then by location and name. */
export function recordingSortKey(state: RecordingState, fleet: FleetSnapshot): string {
  const rank = worstFirst.indexOf(statusOf(state, fleet));
  const names = [locationNameOf(state, fleet), recordingNameOf(state.id, fleet)];
  return sortKey(rank, names, state.id);
}

export function recordingNameOf(id: string, { inventory }: FleetSnapshot): string {
  return inventory.recording(id)?.name || id;
}

/** The link to a recording of a shard that was read. */
export function linkOf({ id, locationId }: RecordingState, { inventory }: FleetSnapshot, root: Root): string {
  return recordingLink(root, id, inventory.recording(id) ? undefined : locationId);
}

export function locationNameOf({ locationId }: RecordingState, { inventory }: FleetSnapshot): string {
  return inventory.location(locationId)?.name || locationId;
}

/** The current figures: old ones do not describe now, and an offline recording has no quality. */
export function presentRecording(state: RecordingState, fleet: FleetSnapshot) {
  const { inventory } = fleet;
  const status = statusOf(state, fleet);
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

/** For pages at `/` about their location. */
export function recordingTable(states: readonly RecordingState[], fleet: FleetSnapshot, moment: Moment): Markup {
  const rows = states.map((state) => {
    const { status, quality, uptime24h, firing, timezone } = presentRecording(state, fleet);
    const name = nameOf(recordingNameOf(state.id, fleet), state.id);
    return [
      html`<a href="${linkOf(state, fleet, "./")}"><bdi>${name}</bdi></a>`,
      html`${statusBadges(state, status)} <small>${sinceText(state, status, timezone, moment)}</small>`,
      agoAt(state.lastSeenAt, moment),
      html`${columnPercent(quality, 1)}`,
      html`${columnPercent(uptime24h, 2)}`,
      firing === 0 ? nothing : html`${counted(firing, "alert")}`,
    ];
  });
  return tableOf("Recordings, the worst first", COLUMNS, rows);
}

const RECORDINGS_A_PAGE = 100;

/** One page of these recordings, the worst first. */
export function recordingListing(
  states: Iterable<RecordingState>,
  fleet: FleetSnapshot,
  { cursor }: Pick<HomeQuery, "cursor">,
): Listing<RecordingState> {
  return listingOf(states, { limit: RECORDINGS_A_PAGE, cursor }, (state) => recordingSortKey(state, fleet));
}

/** `since 14:05 GMT (12 m)`; for `unknown`, when it was last read. */
export function sinceText(state: RecordingState, status: string, timezone: string, moment: Moment): Markup {
  if (status === "unknown") {
    if (state.status === undefined) return html`no good reading yet`;
    return html`read at ${timeAt(state.readAt, timezone, moment, false, `${span(state.readAt, moment.now)} ago`)}`;
  }
  return html`since ${sinceAt(state.since, timezone, moment)}`;
}

/** `Ground › Service › Tills, Ground › Fashion › Shoes and 3 more`. */
export function zonesInWords(zones: readonly string[]): Markup {
  return firstOf(zones, 20, (zone) => html`<bdi>${zonePath(nameOf(zone, "zone", 120))}</bdi>`);
}
