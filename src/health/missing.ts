/** Recordings that were known and are not in the snapshot: missing, moved away, or gone for good. */

import { commit, decide, isWatched, leave, type Run, withAlerts } from "./run.ts";
import type { RecordingState } from "./shard-state.ts";

/** `complete`: every row told its recording, so absence proves something. */
export function evaluateMissing(run: Run, complete: boolean): void {
  const blindMs = blindTime(run);
  for (const state of run.previous.recordings.values()) {
    if (run.next.has(state.id) || run.left.has(state.id)) continue;
    if (complete && state.presentAt === run.previous.sweptAt) decide(run, state.id, "observed_missing");
    judgeOne(run, blindMs > 0 ? { ...state, presentAt: state.presentAt + blindMs } : state, complete);
  }
}

/** Time nobody looked is not time it was absent. */
function blindTime({ previous, moment }: Run): number {
  const sinceSweep = moment.now - previous.sweptAt;
  return previous.sweptAt > 0 && sinceSweep > moment.maxGapMs ? sinceSweep : 0;
}

function judgeOne(run: Run, state: RecordingState, complete: boolean): void {
  const goneAs = reasonToLeave(run, state, complete);
  if (goneAs) {
    leave(run, state, goneAs);
    return;
  }
  const isQuiet = !state.alerts && !run.book.watchesMissing;
  commit(run, isQuiet ? state : withAlerts(run, { state, read: false, missing: complete || undefined }));
}

function reasonToLeave(
  run: Run,
  { id, locationId, presentAt }: RecordingState,
  complete: boolean,
): "no_longer_watched" | "moved" | "forgotten" | undefined {
  if (!isWatched(run, id, locationId)) return "no_longer_watched";
  if (!complete) return undefined;
  if (hasMovedAway(run, id)) return "moved";
  return run.moment.now - presentAt >= run.context.forgetAfterMs ? "forgotten" : undefined;
}

/** The inventory knows it at a listed location that is not ours: it is judged there from now on. */
function hasMovedAway({ context, watched }: Run, id: string): boolean {
  const locationId = context.inventory.recording(id)?.locationId;
  if (locationId === undefined || watched.has(locationId)) return false;
  return context.inventory.location(locationId) !== undefined;
}
