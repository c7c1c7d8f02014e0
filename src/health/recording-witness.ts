/** What one recording says about each rule. */

import type { Instant } from "../lib/clock.ts";
import type { AlertFacts } from "./alert.ts";
import { changesOf, isFlapping, recentChanges } from "./flapping.ts";
import type { Rule } from "./rule.ts";
import type { ScheduleState } from "./schedule.ts";
import type { Inventory, RecordingState } from "./state.ts";
import type { Witness } from "./subject.ts";
import { recordingAnnotations, recordingLabels } from "./wording.ts";

/** How a recording showed in this sweep. */
export interface Showing {
  readonly state: RecordingState;
  /** Whether there was a good reading. */
  readonly read: boolean;
  /** Absent from a complete snapshot; undefined when absence proves nothing. */
  readonly missing: boolean | undefined;
}

export interface RecordingContext {
  readonly now: Instant;
  readonly intervalMs: number;
  readonly inventory: Inventory;
  uptime(recordingId: string, overMs: number): number | undefined;
  inSchedule(recordingId: string): boolean;
  scheduleOf(recordingId: string): ScheduleState | undefined;
  scheduleBegan(recordingId: string): Instant | undefined;
}

export function recordingWitness(showing: Showing, context: RecordingContext): Witness {
  const { state } = showing;
  const { inventory } = context;
  const inSchedule = context.inSchedule(state.id);
  const isPaused = (rule: Rule) => !inSchedule && rule.respectSchedule;
  return {
    subject: { kind: "recording", id: state.id },
    evidence: (rule, firing) => (isPaused(rule) ? undefined : evidenceOf(rule, firing, showing, context)),
    isPaused,
    startsAt: (rule) => startOf(rule, state, context),
    facts: (rule) => ({
      timezone:
        inventory.recording(state.id)?.timezone ?? inventory.location(state.locationId)?.timezone ?? "UTC",
      averageQuality: state.averageQuality,
      overallUptime: uptimeOf(rule, state.id, context),
      lastSeenAt: state.lastSeenAt,
      ...(rule.when.kind === "flapping" ? flappingFacts(state) : {}),
      ...scheduleFacts(context.scheduleOf(state.id)),
    }),
    describe(rule, startsAt) {
      const labels = recordingLabels(rule, state.id, state.locationId, inventory);
      const value = uptimeOf(rule, state.id, context) ?? state.averageQuality;
      const changes = changesOf(state.history).count;
      const began = rule.respectSchedule ? context.scheduleBegan(state.id) : undefined;
      const expectedSince = began !== undefined && began > startsAt ? began : undefined;
      const seen = { startsAt, value, changes, expectedSince };
      return { labels, annotations: recordingAnnotations(rule, labels, seen) };
    },
  };
}

function startOf({ when }: Rule, state: RecordingState, context: RecordingContext): Instant {
  if (when.kind === "status") return state.since;
  const changedAt = when.kind === "flapping" ? recentChanges(state.history, context).since : undefined;
  return changedAt ?? context.now;
}

function flappingFacts({ history, status, since }: RecordingState): Partial<AlertFacts> {
  const changes = changesOf(history);
  return { changes: changes.count, changesSince: changes.since, status, statusSince: since };
}

function scheduleFacts(schedule: ScheduleState | undefined): Pick<AlertFacts, "schedule"> {
  return schedule === "outside" || schedule === "unknown" ? { schedule } : {};
}

/** Missing is told apart first: what is not there is no evidence for anything else. */
function evidenceOf(
  rule: Rule,
  firing: boolean,
  { state, read, missing }: Showing,
  context: RecordingContext,
): boolean | undefined {
  const { when } = rule;
  if (when.kind === "missing") return missing;
  if (!read) return undefined;
  switch (when.kind) {
    case "status":
      return statusEvidence(when.status, state.status);
    case "average_quality":
      return state.status === "offline" ? undefined : isLow(state.averageQuality, when, firing);
    case "overall_uptime":
      return isLow(uptimeOf(rule, state.id, context), when, firing);
    case "flapping":
      return isFlapping(state.history, when, firing, context);
    default:
      return undefined;
  }
}

/** A camera that went dark has not recovered from being degraded. */
function statusEvidence(
  watched: "offline" | "degraded",
  status: RecordingState["status"],
): boolean | undefined {
  if (watched === "degraded" && status === "offline") return undefined;
  return status === watched;
}

/** Hysteresis: begins below `below`, ends at `clearAbove`. */
function isLow(
  value: number | undefined,
  { below, clearAbove }: { readonly below: number; readonly clearAbove: number },
  firing: boolean,
): boolean | undefined {
  return value === undefined ? undefined : value < (firing ? clearAbove : below);
}

function uptimeOf(rule: Rule, id: string, context: RecordingContext): number | undefined {
  return rule.when.kind === "overall_uptime" ? context.uptime(id, rule.when.overMs) : undefined;
}
