/** Evaluates one recording by one row, or by the lack of one: its next state, what its alerts did, and why. Pure. */
import type { Instant } from "../lib/clock.ts";
import { applyRules, type EvaluationMoment } from "./apply-rules.ts";
import type { DecisionReason, EvaluationContext, Outcomes } from "./evaluation.ts";
import { recordStatus } from "./flapping.ts";
import type { Reading } from "./recording.ts";
import type { Sample } from "./recording-conditions.ts";
import { recordingEvaluator } from "./recording-evaluator.ts";
import type { compileRules } from "./rule.ts";
import {
  afterPresence,
  afterReading,
  type GoodReading,
  isGood,
  type RecordingState,
  type ReportedOutage,
  type StateHistory,
} from "./shard-state.ts";

/** What all recordings of a sweep are evaluated with. */
export interface RecordingSweep {
  readonly context: EvaluationContext;
  readonly moment: EvaluationMoment;
  readonly rules: ReturnType<typeof compileRules>;
}

export interface EvaluatedRecording extends Outcomes {
  readonly state: RecordingState;
}

/** The recording is online and healthy, as before, and at the same location: nothing but hot values moves. */
export function isUneventful(previous: RecordingState, reading: Reading, sweep: RecordingSweep): boolean {
  const { id, locationId, status, lastSeenAt, alerts, history, absentSince } = previous;
  if (reading.locationId !== locationId || status !== "online" || !isGood(reading)) return false;
  // Without a last contact the one before stays of interest.
  if ((reading.lastSeenAt === undefined) !== (lastSeenAt === undefined)) return false;
  return absentSince === undefined && !alerts && !history && isHealthy(id, reading, sweep);
}

/** The recording after a row of the snapshot, at this location. */
export function evaluateReading(
  previous: RecordingState | undefined,
  reading: Reading,
  locationId: string,
  sweep: RecordingSweep,
): EvaluatedRecording {
  const { now } = sweep.moment;
  if (!isGood(reading)) {
    const state = afterPresence(previous, reading.recordingId, locationId, now);
    return evaluateSample(previous, { state, read: false, missing: false }, sweep);
  }
  const state = afterReading(previous, reading, locationId, now, historyAfter(previous, reading, sweep));
  if (previous && isUneventful(previous, reading, sweep)) return { state, transitions: [], decisions: [] };
  return evaluateSample(previous, { state, read: true, missing: false }, sweep);
}

/** The recording after a sample of it: its alerts move, and what changed is noted. */
export function evaluateSample(
  previous: RecordingState | undefined,
  sample: Sample,
  { context, moment, rules }: RecordingSweep,
): EvaluatedRecording {
  const { state } = sample;
  const out: Outcomes = { transitions: [], decisions: [] };
  for (const reason of reasonsToLog(previous, state, context))
    out.decisions.push(decision(state.id, reason, moment.now));
  const evaluator = recordingEvaluator(sample, context, previous?.readAt);
  const alerts = applyRules(evaluator, state.alerts, rules.recording, moment, out);
  const reported = rules.outages.map((id) => alerts?.[id]).find((alert) => alert?.state === "firing");
  const outage = outageAfter(previous, sample, reported?.startsAt);
  return { state: { ...state, alerts, outage }, ...out };
}

/** A decision about the recording itself. */
export function decision(id: string, reason: DecisionReason, at: Instant): Outcomes["decisions"][number] {
  return { subject: { kind: "recording", id }, ruleId: undefined, reason, at };
}

/**
 * Of one that was online, without changes or alerts: nothing is below a threshold, no rule's condition is met. Loops, as
 * closures for each recording of a large fleet are most of a sweep's garbage.
 */
function isHealthy(id: string, { status, averageQuality, lastSeenAt }: GoodReading, sweep: RecordingSweep): boolean {
  const { context, moment, rules } = sweep;
  if (status !== "online") return false;
  if (averageQuality !== undefined && averageQuality < rules.qualityFloor) return false;
  if (lastSeenAt !== undefined && moment.now - lastSeenAt >= rules.lastSeenMs) return false;
  for (const when of rules.counts) if (context.counts?.(when, "recording", id)?.met) return false;
  for (const { below, figure } of rules.figures) if ((context.uptime(id, figure) ?? below) < below) return false;
  return true;
}

/** Where all rules on flapping respect schedules, readings outside of one do not count. */
function historyAfter(
  previous: RecordingState | undefined,
  { recordingId, status }: GoodReading,
  { context, moment, rules }: RecordingSweep,
): StateHistory | undefined {
  const { watchesFlapping, flapsOutsideSchedule } = rules;
  if (!watchesFlapping || (!previous?.history && previous?.status === status)) return undefined;
  if (!flapsOutsideSchedule && !context.inSchedule(recordingId)) return previous?.history;
  return recordStatus(previous, status, moment.now, context.intervalMs);
}

function reasonsToLog(
  previous: RecordingState | undefined,
  { id, locationId, status }: RecordingState,
  { inSchedule }: EvaluationContext,
): DecisionReason[] {
  const reasons: DecisionReason[] = previous && previous.locationId !== locationId ? ["moved"] : [];
  const isFirstAndOnline = previous?.status === undefined && status === "online";
  if (status === undefined || status === previous?.status || isFirstAndOnline) return reasons;
  reasons.push(`observed_${status}`);
  if (status !== "online" && !inSchedule(id)) reasons.push("outside_schedule");
  return reasons;
}

/** What explains a low uptime is rarely more than a few outages. */
const MOST_EARLIER = 7;

/** Since `reportedSince` an alert fires about an outage: it goes on from reading to reading, until none fires any more. */
function outageAfter(
  previous: RecordingState | undefined,
  { state: { outage, readAt }, read }: Sample,
  reportedSince: Instant | undefined,
): ReportedOutage | undefined {
  const isOpen = outage && outage.until === undefined;
  const closed = isOpen ? { ...outage, until: previous?.readAt ?? readAt } : outage;
  if (reportedSince === undefined) return closed;
  if (!read || (isOpen && outage.from === reportedSince)) return outage;
  if (!closed) return { from: reportedSince, until: undefined };
  const { earlier = [], from, until = readAt } = closed;
  return { from: reportedSince, until: undefined, earlier: [...earlier, { from, until }].slice(-MOST_EARLIER) };
}
