/** The fleet counted: all of it, and per location. */
import type { Alert } from "../../health/alert.ts";
import { currentStatus, ROWS_PER_STEP, recordingsById } from "../../health/fleet-snapshot.ts";
import type { RecordingStatus } from "../../health/recording.ts";
import type { FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { sortKey } from "./order.ts";
import { type Counts, noCounts, totalOf, worstFirst } from "./status.ts";

/** A location as a tile shows it. */
export interface Place {
  readonly id: string;
  readonly name: string;
  readonly counts: Counts;
  /** Alerts that fire at it and at its recordings. */
  readonly firing: number;
}

export interface FleetSummary {
  readonly counts: Counts;
  readonly firing: number;
  /** The latest good reading of any recording; undefined where there was none. */
  readonly readAt: Instant | undefined;
  readonly recordings: ReadonlyMap<string, RecordingState>;
  readonly places: ReadonlyMap<string, Place>;
}

interface Found {
  readonly counts: Record<RecordingStatus, number>;
  firing: number;
}

/** Walks the fleet once; yields every so many rows. `alerts` are those that fire. */
export function* summarize(fleet: FleetSnapshot, alerts: readonly Alert[]): Generator<void, FleetSummary> {
  const found = new Map<string, Found>();
  const counts = noCounts();
  let readAt = 0;
  let seen = 0;
  for (const { locations } of fleet.shards) {
    for (const id of locations.keys()) {
      at(found, id);
      if (++seen % ROWS_PER_STEP === 0) yield;
    }
  }
  const recordings = yield* recordingsById(fleet);
  for (const state of recordings.values()) {
    const status = currentStatus(state, fleet.now, fleet.statusIntervalMs);
    counts[status] += 1;
    at(found, state.locationId).counts[status] += 1;
    if (state.readAt > readAt) readAt = state.readAt;
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  for (const { labels } of alerts) {
    const here = found.get(labels.location_id ?? "");
    if (here) here.firing += 1;
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  const places = new Map<string, Place>();
  for (const [id, here] of found) {
    places.set(id, { id, name: fleet.inventory.location(id)?.name || id, ...here });
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return { counts, firing: alerts.length, readAt: readAt || undefined, recordings, places };
}

function at(found: Map<string, Found>, id: string): Found {
  const known = found.get(id);
  if (known) return known;
  const fresh = { counts: noCounts(), firing: 0 };
  found.set(id, fresh);
  return fresh;
}

/** How a location stands: its worst status, `alerts` where all are online and yet something fires. */
export type Standing = RecordingStatus | "alerts" | "empty";

export function standingOf({ counts, firing }: Pick<Place, "counts" | "firing">): Standing {
  const worst = worstFirst.find((status) => counts[status] > 0);
  if (worst !== "online" && worst !== undefined) return worst;
  return firing > 0 ? "alerts" : (worst ?? "empty");
}

const RANKS: readonly Standing[] = ["offline", "unknown", "degraded", "alerts", "empty", "online"];

/** The worst first: by standing, then by the share of its recordings that stand so. */
export function placeKey(place: Place): string {
  const standing = standingOf(place);
  const worst = standing === "alerts" || standing === "empty" ? "online" : standing;
  const share = place.counts[worst] / Math.max(1, totalOf(place.counts));
  const better = String(Math.round((1 - share) * 1000)).padStart(4, "0");
  return sortKey(`${RANKS.indexOf(standing)}${better}`, [place.name], place.id);
}
