/**
 * One good answer judged against what was known: the next state of the shard, what its alerts did, and why. Pure,
 * and quick where nothing is wrong: a healthy recording costs one small object. Being blind is not judged at all;
 * the caller keeps the previous state after a failed sweep.
 */

import { applyRules, endAlerts } from "./apply-rules.ts";
import type { Evaluation, EvaluationContext } from "./evaluation.ts";
import { recordStatus } from "./flapping.ts";
import { locationEvaluator } from "./location-evaluator.ts";
import { evaluateMissing } from "./missing.ts";
import { afterPresence, afterReading, type GoodReading, isGood } from "./reading.ts";
import type { Reading, StatusSnapshot } from "./recording.ts";
import {
  beginRun,
  commit,
  decide,
  hasLowUptime,
  isDealtWith,
  isWatched,
  leave,
  previousOf,
  type Run,
  withAlerts,
} from "./run.ts";
import type { LocationState, RecordingState, ShardState, StateHistory } from "./shard-state.ts";

export type { Decision, DecisionReason, Evaluation, EvaluationContext, Transition } from "./evaluation.ts";

/** Judges one snapshot. `previous` is never changed; of two rows of one recording the first counts. */
export function judgeShard(
  previous: ShardState,
  snapshot: StatusSnapshot,
  context: EvaluationContext,
): Evaluation {
  const run = beginRun(previous, context);
  for (const reading of snapshot.readings) judgeReading(run, reading);
  for (const id of snapshot.unreadable) judgeReading(run, unreadable(id));
  if (run.carried < previous.recordings.size) evaluateMissing(run, snapshot.complete);
  const locations = judgeLocations(run);
  return { next: { sweptAt: context.now, recordings: run.next, locations }, ...run.out };
}

function unreadable(recordingId: string): Reading {
  return {
    recordingId,
    locationId: undefined,
    status: "unknown",
    lastSeenAt: undefined,
    averageQuality: undefined,
  };
}

function judgeReading(run: Run, reading: Reading): void {
  const previous = previousOf(run, reading.recordingId);
  // The known string rather than an equal one: it is hashed already, and the new one need not be kept.
  const id = previous?.id ?? reading.recordingId;
  if (isDealtWith(run, id)) return;
  const locationId = locationOf(run, previous, reading);
  if (locationId === undefined) {
    decide(run, id, "no_location");
  } else if (isWatched(run, id, locationId)) {
    if (previous) run.carried++;
    commit(run, judgePresent(run, previous, reading, locationId));
  } else if (previous) {
    leave(run, previous, "no_longer_watched");
  }
}

function locationOf(
  { context }: Run,
  previous: RecordingState | undefined,
  { recordingId, locationId }: Reading,
): string | undefined {
  if (previous && locationId === previous.locationId) return previous.locationId;
  return locationId ?? previous?.locationId ?? context.inventory.recording(recordingId)?.locationId;
}

function judgePresent(
  run: Run,
  previous: RecordingState | undefined,
  reading: Reading,
  locationId: string,
): RecordingState {
  const { now } = run.context;
  if (!isGood(reading)) {
    const state = afterPresence(previous, reading.recordingId, locationId, now);
    noteChange(run, previous, state);
    return withAlerts(run, { state, read: false, missing: false });
  }
  const state = afterReading(previous, reading, locationId, now, historyAfter(run, previous, reading));
  if (isHealthy(run, previous, reading, locationId)) return state;
  noteChange(run, previous, state);
  return withAlerts(run, { state, read: true, missing: false });
}

/** Where all rules on flapping respect schedules, what is seen outside of one is as unseen. */
function historyAfter(
  { book, context }: Run,
  previous: RecordingState | undefined,
  { recordingId, status }: GoodReading,
): StateHistory | undefined {
  if (!book.watchesFlapping || (!previous?.history && previous?.status === status)) return undefined;
  if (!book.flapsOutsideSchedule && !context.inSchedule(recordingId)) return previous?.history;
  return recordStatus(previous, status, context.now, context.intervalMs);
}

/** Online as before, at rest, no alert, nothing below a threshold: no rule can have anything to say. */
function isHealthy(
  run: Run,
  previous: RecordingState | undefined,
  { status, averageQuality }: GoodReading,
  locationId: string,
): boolean {
  if (status !== "online" || previous?.status !== "online") return false;
  if (run.book.looksAtAll || previous.alerts || previous.history) return false;
  if (previous.locationId !== locationId) return false;
  if (averageQuality !== undefined && averageQuality < run.book.qualityFloor) return false;
  return !hasLowUptime(run, previous.id);
}

function noteChange(run: Run, previous: RecordingState | undefined, state: RecordingState): void {
  if (previous && previous.locationId !== state.locationId) decide(run, state.id, "moved");
  const isFirstAndFine = previous?.status === undefined && state.status === "online";
  if (state.status === undefined || state.status === previous?.status || isFirstAndFine) return;
  decide(run, state.id, `observed_${state.status}`);
  if (state.status !== "online" && !run.context.inSchedule(state.id))
    decide(run, state.id, "outside_schedule");
}

function judgeLocations(run: Run): Map<string, LocationState> {
  const next = new Map<string, LocationState>();
  for (const id of run.watched) next.set(id, judgeLocation(run, id));
  for (const { id, alerts } of run.previous.locations.values()) {
    if (next.has(id)) continue;
    endAlerts({ kind: "location", id }, alerts, "no_longer_watched", run.moment.now, run.out);
  }
  return next;
}

function judgeLocation(run: Run, id: string): LocationState {
  const previous = run.previous.locations.get(id) ?? { id, alerts: undefined };
  const seen = run.census?.of(id);
  const dark = seen && (seen.offlineSince.length > 0 || seen.outside);
  if (!previous.alerts && !dark) return previous;
  const evaluator = locationEvaluator(id, seen, run.context.inventory);
  const alerts = applyRules(evaluator, previous.alerts, run.book.location, run.moment, run.out);
  return { id, alerts };
}
