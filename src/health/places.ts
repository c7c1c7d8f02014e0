/** Where recordings belong: to a location that a shard watches, to one of another shard, or to none. */
import type { EvaluationContext } from "./evaluation.ts";
import type { Reading } from "./recording.ts";
import type { RecordingState } from "./shard-state.ts";

export type Places = ReturnType<typeof createPlaces>;

type PlacesContext = Pick<EvaluationContext, "locationIds" | "excluded" | "inventory" | "elsewhere" | "isAssigned">;

/** Answers for the shard that asks for these locations. */
export function createPlaces({ locationIds, excluded, inventory, elsewhere, isAssigned }: PlacesContext) {
  const watched: ReadonlySet<string> = new Set(locationIds.filter((id) => !excluded.has(id)));
  /** Rows of one location mostly follow each other. */
  let lastWatchedId: string | undefined;

  function isWatched(id: string, locationId: string): boolean {
    if (lastWatchedId !== locationId && !watched.has(locationId)) return false;
    lastWatchedId = locationId;
    return excluded.size === 0 || !excluded.has(id);
  }

  /** At a location of another shard, which evaluates it from now on. */
  function isElsewhere(id: string, locationId: string): boolean {
    if (watched.has(locationId) || excluded.has(id)) return false;
    return !excluded.has(locationId) && isAssigned(locationId);
  }

  return {
    watched,
    isWatched,
    isElsewhere,
    /** Where a row does not name its location, the inventory does if the shard has that one. */
    locationOf(previous: RecordingState | undefined, { recordingId, locationId }: Reading): string | undefined {
      if (locationId !== undefined) return locationId === previous?.locationId ? previous.locationId : locationId;
      const known = inventory.recording(recordingId)?.locationId;
      return known !== undefined && watched.has(known) ? known : (previous?.locationId ?? known);
    },
    /** A recording without a row has moved once another shard has it; until then it is absent. */
    reasonToLeave({ id, locationId }: RecordingState): "moved" | "no_longer_watched" | undefined {
      if (elsewhere?.has(id)) return "moved";
      if (isWatched(id, locationId)) return undefined;
      const known = inventory.recording(id)?.locationId;
      const isMoved = isElsewhere(id, known ?? locationId) || isElsewhere(id, locationId);
      return isMoved ? "moved" : "no_longer_watched";
    },
  };
}
