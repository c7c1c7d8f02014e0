/**
 * What a rule about recordings may watch, an entry each: what an alert of it is called, when it holds, what it says of
 * itself. Whoever adds one finds everything here but how it is written in a configuration (config/condition-schema.ts).
 */
import type { Instant } from "../lib/clock.ts";
import { formatDuration } from "../lib/duration.ts";
import { exactPercent, isoMinute, percent } from "../lib/format.ts";
import type { AlertFacts } from "./alert.ts";

import { changesOf, isFlapping, recentChanges } from "./flapping.ts";
import type { RecordingProblemWords } from "./problem-kinds.ts";
import type { Condition } from "./rule.ts";
import type { ScheduleState } from "./schedule.ts";
import type { Inventory, RecordingState } from "./shard-state.ts";

/** Hysteresis: begins below `below`, ends at `clearAbove`. */
interface Threshold {
  readonly below: number;
  readonly clearAbove: number;
}

/** Ratios 0–1, durations in ms. */
export type RecordingCondition =
  /** Weighted shares of the last states that changed: begins at `high`, ends at `low`, which is less. */
  | { readonly kind: "flapping"; readonly high: number; readonly low: number }
  | { readonly kind: "status"; readonly status: "offline" | "degraded" }
  | ({ readonly kind: "average_quality" } & Threshold)
  | ({ readonly kind: "overall_uptime"; readonly overMs: number } & Threshold)
  | { readonly kind: "missing" };

/** What alerts of these kinds say is wrong, and how messages and pages put it. */
export const recordingProblems = {
  offline: {
    name: "Offline",
    adjective: "offline",
    short: "offline",
    was: "was offline",
  },
  degraded: {
    name: "Degraded",
    adjective: "degraded",
    short: "degraded",
    was: "was degraded",
  },
  low_quality: {
    name: "Low quality",
    adjective: "with low quality",
    short: "quality low",
    was: "had low quality",
  },
  low_uptime: {
    name: "Low uptime",
    adjective: "with low uptime",
    short: "uptime low",
    was: "had low uptime",
  },
  missing: {
    name: "Missing",
    adjective: "missing",
    short: "missing",
    was: "was missing",
  },
  flapping: {
    name: "Flapping",
    adjective: "flapping",
    short: "flapping",
    was: "was flapping",
  },
} as const satisfies Record<string, RecordingProblemWords>;

/** How a recording showed in this sweep. */
export interface Sample {
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

/** What was seen of a recording when an alert of it began. */
export interface RecordingSeen {
  /** `Till 3 at Leeds Briggate`. */
  readonly who: string;
  readonly server: string | undefined;
  readonly startsAt: Instant;
  readonly state: RecordingState;
}

export interface RecordingKind<When extends RecordingCondition> {
  problem(when: When): keyof typeof recordingProblems;
  /** Does it hold? Undefined: nobody can tell. A firing alert has its own threshold. */
  evidence(when: When, firing: boolean, sample: Sample, context: RecordingContext): boolean | undefined;
  /** Whether it is judged where there was no good reading too. */
  readonly judgesUnread?: true;
  /**
   * Whether it has nothing to say of a recording that is online as before, without alerts, changes, and low figures:
   * those are most of a fleet, and are judged no further where all rules are like this.
   */
  readonly isIdleWhileWell?: true;
  /** Since when the problem is there; now where that is not known. */
  startsAt?(state: RecordingState, context: RecordingContext): Instant | undefined;
  facts?(when: When, state: RecordingState, context: RecordingContext): Partial<AlertFacts>;
  /** What is wrong, in a line and in a sentence. Plain text. */
  describe(
    when: When,
    seen: RecordingSeen,
    context: RecordingContext,
  ): readonly [summary: string, description: string];
  /** Why uptime history says nothing about it; undefined where it does. */
  notInHistory(when: When): string | undefined;
}

/** In the order they are judged in: whether a recording flaps decides what becomes of the others. */
export const recordingKinds: {
  readonly [K in RecordingCondition["kind"]]: RecordingKind<Extract<RecordingCondition, { kind: K }>>;
} = {
  flapping: {
    problem: () => "flapping",
    evidence: (when, firing, { state }, context) => isFlapping(state.history, when, firing, context),
    isIdleWhileWell: true,
    startsAt: ({ history }, context) => recentChanges(history, context).since,
    facts(_, { history, status, since }) {
      const changes = changesOf(history);
      return { changes: changes.count, changesSince: changes.since, status, statusSince: since };
    },
    describe: (_, { who, startsAt, state }) => [
      `${who} is flapping`,
      `Its status changed ${changesOf(state.history).count} times since ${isoMinute(startsAt)}; the alert ends once it is steady again, and says in which state.`,
    ],
    notInHistory: () => "flips within a bucket leave no trace",
  },
  status: {
    problem: ({ status }) => status,
    // A camera that went dark has not recovered from being degraded.
    evidence: ({ status }, _, { state }) =>
      status === "degraded" && state.status === "offline" ? undefined : state.status === status,
    isIdleWhileWell: true,
    startsAt: ({ since }) => since,
    describe: ({ status }, { who, server }) => [
      `${who} is ${status}`,
      server ? `Camera server ${server}.` : `The service reports the recording ${status}.`,
    ],
    notInHistory: ({ status }) =>
      status === "offline" ? undefined : "history does not tell degraded from online",
  },
  average_quality: {
    problem: () => "low_quality",
    evidence: (when, firing, { state }) =>
      state.status === "offline" ? undefined : isLow(state.averageQuality, when, firing),
    isIdleWhileWell: true,
    describe: ({ below, clearAbove }, { who, state }) => [
      `Quality of ${who} is below ${exactPercent(below)}`,
      `Average quality was ${percent(state.averageQuality) || "unknown"}, below ${exactPercent(below)}, when this began; the alert ends at ${exactPercent(clearAbove)}.`,
    ],
    notInHistory: () => "history has no quality",
  },
  overall_uptime: {
    problem: () => "low_uptime",
    evidence: (when, firing, { state }, context) =>
      isLow(context.uptime(state.id, when.overMs), when, firing),
    isIdleWhileWell: true,
    facts: ({ overMs }, { id }, context) => ({ overallUptime: context.uptime(id, overMs) }),
    describe: ({ below, clearAbove, overMs }, { who, state }, context) => [
      `Uptime of ${who} is below ${exactPercent(below)}`,
      `Uptime over ${formatDuration(overMs)} was ${percent(context.uptime(state.id, overMs)) || "unknown"}, below ${exactPercent(below)}, when this began; the alert ends at ${exactPercent(clearAbove)}.`,
    ],
    notInHistory: () => undefined,
  },
  missing: {
    problem: () => "missing",
    evidence: (_when, _firing, { missing }) => missing,
    judgesUnread: true,
    isIdleWhileWell: true,
    describe: (_, { who, startsAt }) => [
      `${who} is missing`,
      `The service has not listed the recording since ${isoMinute(startsAt)}, though it answers for its location.`,
    ],
    notInHistory: () => "history has buckets or none, and does not say why there are none",
  },
};

/** Whether a rule with this condition is about recordings. */
export function watchesRecordings(when: Condition): when is RecordingCondition {
  return Object.hasOwn(recordingKinds, when.kind);
}

/** What its kind knows of a condition. */
export function kindOf({ kind }: RecordingCondition): RecordingKind<RecordingCondition> {
  return recordingKinds[kind];
}

function isLow(
  value: number | undefined,
  { below, clearAbove }: Threshold,
  firing: boolean,
): boolean | undefined {
  return value === undefined ? undefined : value < (firing ? clearAbove : below);
}
