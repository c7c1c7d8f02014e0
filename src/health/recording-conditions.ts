/**
 * The conditions of rules about recordings, an entry each: which problem it is, when its condition is met, its facts and
 * annotations. A new one goes here; how a configuration spells it goes into config/condition-schema.ts.
 */
import type { Instant } from "../lib/clock.ts";
import { formatDuration } from "../lib/duration.ts";
import { decimalsOf, exactPercent, isBelow, isoMinute, nameWithin, percent } from "../lib/format.ts";
import type { AlertFacts, recordingProblems } from "./alert.ts";
import { countsText, describeCounts } from "./counts.ts";
import type { EvaluationContext } from "./evaluation.ts";
import { changesOf, isFlapping, recentChanges } from "./flapping.ts";
import type { Condition, RecordingCondition, Threshold } from "./model.ts";
import type { RecordingState } from "./shard-state.ts";
import { guiltyFactor, SETTLING_MS } from "./uptime.ts";

/** A recording in this sweep. */
export interface Sample {
  readonly state: RecordingState;
  /** There was a good reading. */
  readonly read: boolean;
  /** Absent from the answer, instead of there and not understood. */
  readonly missing: boolean;
}

/** The context of conditions. */
export type RecordingContext = Pick<
  EvaluationContext,
  | "now"
  | "intervalMs"
  | "inventory"
  | "uptime"
  | "counts"
  | "inSchedule"
  | "scheduleOf"
  | "scheduleBegan"
  | "scheduledMs"
>;

interface RecordingAtStart {
  /** `Till 3 at Leeds Briggate`. */
  readonly name: string;
  readonly cameraServer: string | undefined;
  readonly startsAt: Instant;
  readonly state: RecordingState;
}

interface RecordingKind<When extends RecordingCondition> {
  problem(when: When): keyof typeof recordingProblems;
  /** Is the condition met? Undefined: not known. A firing alert has its own threshold. */
  evidence(when: When, firing: boolean, sample: Sample, context: RecordingContext): boolean | undefined;
  /** It is evaluated without a good reading too. */
  readonly needsNoReading?: true;
  /** Since when the problem is there; now where that is not known. */
  startsAt?(state: RecordingState, context: RecordingContext, when: When): Instant | undefined;
  facts?(when: When, state: RecordingState, context: RecordingContext): Partial<AlertFacts>;
  /** The problem in a line and in a sentence. Plain text. */
  describe(
    when: When,
    recording: RecordingAtStart,
    context: RecordingContext,
  ): readonly [summary: string, description: string];
  /** Why uptime history says nothing about it; undefined where it does. */
  notInHistory(when: When): string | undefined;
}

/**
 * In the order of their evaluation: whether a recording flaps decides what becomes of the others. None may be met by a
 * recording that stays online, has neither alerts nor changes, and whose figures are above every threshold: a sweep
 * passes over those (`compileRules` in rule.ts says which are evaluated all the same).
 */
export const recordingKinds: {
  readonly [K in RecordingCondition["kind"]]: RecordingKind<Extract<RecordingCondition, { kind: K }>>;
} = {
  flapping: {
    problem: () => "flapping",
    evidence: (when, firing, { state }, context) => isFlapping(state.history, when, firing, context),
    startsAt: ({ history }, context) => recentChanges(history, context).since,
    facts(_, { history, status, since }) {
      const changes = changesOf(history);
      return { changes: changes.count, changesSince: changes.since, status, statusSince: since };
    },
    describe: (_, { name, startsAt, state }) => [
      `${name} is flapping`,
      `Its status changed at least ${changesOf(state.history).count} times since ${isoMinute(startsAt)}; the alert ends once the status is steady, and names it.`,
    ],
    notInHistory: () => "flips within a bucket leave no trace",
  },
  status: {
    problem: ({ status }) => status,
    // A camera that went offline has not recovered from being degraded.
    evidence: ({ status }, _, { state }) =>
      status === "degraded" && state.status === "offline" ? undefined : state.status === status,
    startsAt: ({ since }) => since,
    describe: ({ status }, { name, cameraServer }) => [
      `${name} is ${status}`,
      cameraServer ? `Camera server ${cameraServer}.` : `The service reports the recording ${status}.`,
    ],
    notInHistory: ({ status }) => (status === "offline" ? undefined : "history has degraded and online as one"),
  },
  average_quality: {
    problem: () => "low_quality",
    facts: factsOfLow,
    evidence: (when, firing, { state }) =>
      state.status === "offline" ? undefined : isLow(state.averageQuality, when, firing),
    describe: (when, { name, state }) =>
      describeLow(when, { subject: `Quality of ${name}`, figure: "Average quality", value: state.averageQuality }),
    notInHistory: () => "history has no quality",
  },
  overall_uptime: {
    problem: () => "low_uptime",
    evidence: (when, firing, { state }, context) =>
      !firing && isExplained(when, state, context) ? false : isLow(context.uptime(state.id, when.overMs), when, firing),
    facts: (when, { id }, context) => ({
      ...factsOfLow(when),
      overallUptime: context.uptime(id, when.overMs),
      arrived: context.uptime(id, `arrived-${when.overMs}`),
    }),
    describe: (when, { name, state }, context) =>
      describeLow(when, {
        subject: `Uptime of ${name}`,
        figure: `Uptime over ${formatDuration(when.overMs)}`,
        value: context.uptime(state.id, when.overMs),
        cause: guiltyFactor(context.uptime(state.id, when.overMs), context.uptime(state.id, `arrived-${when.overMs}`)),
      }),
    notInHistory: () => undefined,
  },
  segments_received: {
    problem: () => "not_uploading",
    evidence: (when, firing, { state }, context) =>
      state.status === "online" ? isLow(context.uptime(state.id, `online-${when.overMs}`), when, firing) : undefined,
    startsAt: ({ since }, { now }, { overMs }) => Math.max(since, now - SETTLING_MS - overMs),
    facts: (when, { id }, context) => ({ ...factsOfLow(when), arrived: context.uptime(id, `online-${when.overMs}`) }),
    describe: (when, { name, state }, context) => [
      `${name} is online, but its segments do not arrive`,
      describeLow(when, {
        subject: "",
        figure: `The share of expected segments that arrived, over ${formatDuration(when.overMs)},`,
        value: context.uptime(state.id, `online-${when.overMs}`),
      })[1],
    ],
    notInHistory: () => "history shows a recording without segments as offline",
  },
  last_seen: {
    problem: () => "not_seen",
    evidence: ({ olderThanMs }, _, { state: { status, lastSeenAt } }, { now }) =>
      status === "online" && lastSeenAt !== undefined ? now - lastSeenAt >= olderThanMs : undefined,
    startsAt: ({ lastSeenAt }) => lastSeenAt,
    describe: ({ olderThanMs }, { name, state }) => [
      `${name} is online, but was last seen more than ${formatDuration(olderThanMs)} ago`,
      `The service reports it online, last seen ${isoMinute(state.lastSeenAt ?? 0)}.`,
    ],
    notInHistory: () => "history does not show when a recording was last seen",
  },
  counts: {
    problem: () => "counts_low",
    evidence: (when, _, { state }, context) =>
      state.status === "offline" ? undefined : context.counts?.(when, "recording", state.id)?.met,
    startsAt: ({ id }, context, when) => context.counts?.(when, "recording", id)?.counts?.since,
    facts: (when, { id, locationId }, { counts, now, inventory }) => {
      const found = counts?.(when, "recording", id)?.counts;
      const [recording, location] = [inventory.recording(id), inventory.location(locationId)];
      const timezone = recording?.timezone ?? location?.timezone ?? "UTC";
      const name = nameWithin(recording?.name ?? "", location?.name ?? "") || id;
      return found ? { detail: countsText(name, found, { now, timezone }) } : {};
    },
    describe: (when, { name, state }, { counts, now }) =>
      describeCounts(name, counts?.(when, "recording", state.id)?.counts, now),
    notInHistory: () => "history has no counts",
  },
  missing: {
    problem: () => "missing",
    evidence: (_when, _firing, { missing }) => missing,
    needsNoReading: true,
    describe: (_, { name, startsAt }) => [
      `${name} is missing`,
      `The service has not listed the recording since ${isoMinute(startsAt)}, though it answers for its location.`,
    ],
    notInHistory: () => "history has buckets or none, and does not say why there are none",
  },
};

/** A rule with this condition is about recordings. */
export function watchesRecordings(when: Condition): when is RecordingCondition {
  return Object.hasOwn(recordingKinds, when.kind);
}

export function kindOf({ kind }: RecordingCondition): RecordingKind<RecordingCondition> {
  return recordingKinds[kind];
}

/** An hour's figure leaves the window when all of the hour has. */
const BUCKET_MS = 3_600_000;

/**
 * Outages that were alerts of their own make for at least half of the loss that the threshold allows. Only time
 * within the schedule is lost.
 */
function isExplained(
  { below, overMs }: Threshold & { overMs: number },
  { id, outage, readAt }: RecordingState,
  { now, scheduledMs = (_, { from, to }) => to - from }: RecordingContext,
): boolean {
  if (!outage) return false;
  let reach = now - overMs - BUCKET_MS;
  let lostMs = 0;
  for (const { from, until: to = readAt } of [...(outage.earlier ?? []), outage]) {
    if (to <= reach) continue;
    lostMs += scheduledMs(id, { from: Math.max(from, reach), to });
    reach = to;
  }
  return lostMs > 0 && lostMs >= ((1 - below) * scheduledMs(id, { from: now - overMs, to: now })) / 2;
}

function isLow(value: number | undefined, { below, clearAbove }: Threshold, firing: boolean): boolean | undefined {
  return value === undefined ? undefined : isBelow(value, firing ? clearAbove : below);
}

function factsOfLow({ below, clearAbove }: Threshold): Pick<AlertFacts, "decimals"> {
  return { decimals: Math.max(decimalsOf(below), decimalsOf(clearAbove)) || undefined };
}

function describeLow(
  { below, clearAbove }: Threshold,
  {
    subject,
    figure,
    value,
    cause,
  }: { subject: string; figure: string; value: number | undefined; cause?: string | undefined },
): readonly [summary: string, description: string] {
  const threshold = `below ${exactPercent(below)}`;
  const was = percent(value, decimalsOf(below)) || "unknown";
  return [
    `${subject} is ${threshold}`,
    `${figure} was ${was}${cause ? ` (${cause})` : ""}, ${threshold}, when this began; the alert ends at ${exactPercent(clearAbove)}.`,
  ];
}
