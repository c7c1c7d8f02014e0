/** Evaluates rules for one location, by its recordings taken together. */
import type { Evaluator } from "./apply-rules.ts";
import { addStatus, type ScheduledCount, type SharedLabels } from "./group-counts.ts";
import { outageEvaluator } from "./outage-evaluator.ts";
import type { Inventory, RecordingState } from "./shard-state.ts";

/** Of a location's recordings within their uploading schedule. */
export interface LocationCount extends ScheduledCount {
  /** One of its recordings, for what is known only through one. */
  readonly sampleId: string;
}

/** Counts a shard's recordings by location. Rows come location by location, so the last one is kept at hand. */
export class LocationCounts {
  readonly #counts = new Map<string, LocationCount>();
  #lastId: string | undefined;
  #last: LocationCount | undefined;

  /** Undefined when none of its recordings is watched. */
  of(locationId: string): LocationCount | undefined {
    return this.#counts.get(locationId);
  }

  add(state: RecordingState, fresh: boolean, inSchedule: boolean): void {
    const count = this.#at(state.locationId, state.id);
    if (!inSchedule) count.outside ??= { known: 0, fresh: 0, offline: [] };
    addStatus((inSchedule ? undefined : count.outside) ?? count, state, { fresh });
  }

  #at(locationId: string, sampleId: string): LocationCount {
    if (this.#last && this.#lastId === locationId) return this.#last;
    const count = this.#counts.get(locationId) ?? { known: 0, fresh: 0, offline: [], outside: undefined, sampleId };
    this.#counts.set(locationId, count);
    this.#lastId = locationId;
    this.#last = count;
    return count;
  }
}

/** `count` is undefined when none of its recordings is watched; `shared`: labels that all of them have, for a new alert. */
export function locationEvaluator(
  id: string,
  count: LocationCount | undefined,
  inventory: Inventory,
  shared: () => SharedLabels = () => ({}),
): Evaluator {
  const location = inventory.location(id);
  const timezone = location?.timezone ?? (count && inventory.recording(count.sampleId)?.timezone);
  const name = location?.name || id;
  return outageEvaluator({
    subject: { kind: "location", id },
    count,
    timezone,
    inventory,
    goneMs: 0,
    labels: () => ({ ...shared(), location_id: id, location: name, timezone }),
    name,
  });
}
