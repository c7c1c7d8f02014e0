/** Replays the rules about recordings over the history of one. */

import type { Evaluator } from "../health/apply-rules.ts";
import type { Transition } from "../health/evaluation.ts";
import type { RecordingUptime } from "../health/recording.ts";
import { recordingEvaluator } from "../health/recording-evaluator.ts";
import type { Inventory, RecordingState } from "../health/shard-state.ts";
import { bucketLengthMs, settledBefore } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { figuresAtSweeps, type UptimeFigure } from "./figures.ts";
import { replayRules, type SteadySpan } from "./replay.ts";
import { type Plan, type ReplaySetup, type TimeSpan, tickBefore } from "./setup.ts";
import { type SeenStatus, seenBySweeps } from "./statuses.ts";

interface RecordingReplay {
  readonly transitions: readonly Transition[];
  /** For the rules about its location. */
  readonly seen: readonly SeenStatus[];
}

interface RecordingOptions {
  readonly setup: Pick<ReplaySetup, "statusIntervalMs" | "uptimeIntervalMs">;
  readonly plan: Plan;
  readonly span: TimeSpan;
  /** The present: buckets that are not complete by then are unknown. */
  readonly now: Instant;
  readonly inventory: Inventory;
}

/** `buckets` are in order of time and reach back from the span by the longest window. */
export function replayRecording(
  { recording, buckets }: RecordingUptime,
  { setup, plan, span, now, inventory }: RecordingOptions,
): RecordingReplay {
  const lengthMs = bucketLengthMs(buckets);
  const settled = settledBefore(now, lengthMs);
  const { statusIntervalMs: intervalMs } = setup;
  const seen = seenBySweeps(recording, buckets, { span, intervalMs, lengthMs, settledBefore: settled });
  const figures = plan.windows.map((window) => figuresAtSweeps(buckets, window, { ...setup, span, lengthMs }));
  const mayFire =
    (plan.asksStatus && seen.some(({ status }) => status === "offline")) ||
    plan.windows.some(({ below }, i) => figures[i]?.some(({ ratio }) => ratio !== undefined && ratio < below));
  if (!mayFire) return { transitions: [], seen };
  const subject = { id: recording.id, locationId: recording.locationId, inventory, intervalMs };
  const spans = spansOf(seen, figures, { plan, span, intervalMs, evaluatorOf: evaluatorFor(subject) });
  return { transitions: replayRules(spans, plan.recording, intervalMs), seen };
}

/** The input of a sweep: the status, and the uptime ratio of each window by its length. */
interface View {
  readonly seen: SeenStatus;
  readonly ratios: ReadonlyMap<number, number | undefined>;
}

function* spansOf(
  seen: readonly SeenStatus[],
  figures: readonly (readonly UptimeFigure[])[],
  options: {
    readonly plan: Plan;
    readonly span: TimeSpan;
    readonly intervalMs: number;
    readonly evaluatorOf: (view: View, now: Instant) => Evaluator;
  },
): Generator<SteadySpan> {
  const { plan, span, intervalMs, evaluatorOf } = options;
  const tracks: readonly (readonly { readonly at: Instant }[])[] = [seen, ...figures];
  const places = tracks.map(() => 0);
  const last = tickBefore(span.to, intervalMs);
  for (let from = seen[0]?.at; from !== undefined && from <= last; ) {
    const here = from;
    const now = seen[places[0] ?? 0];
    if (!now) return;
    const ratios = new Map(plan.windows.map(({ overMs }, i) => [overMs, ratioAt(figures[i], places[i + 1])]));
    const isLow = plan.windows.some(({ overMs, below }) => (ratios.get(overMs) ?? below) < below);
    const next = Math.min(...tracks.map((track, i) => track[(places[i] ?? 0) + 1]?.at ?? last + intervalMs));
    const view = { seen: now, ratios };
    yield {
      from: here,
      to: next - intervalMs,
      isClear: now.status !== "offline" && !isLow,
      evaluator: (at) => evaluatorOf(view, at),
    };
    tracks.forEach((track, i) => {
      if (track[(places[i] ?? 0) + 1]?.at === next) places[i] = (places[i] ?? 0) + 1;
    });
    from = next;
  }
}

function ratioAt(figures: readonly UptimeFigure[] | undefined, place: number | undefined): number | undefined {
  return figures?.[place ?? 0]?.ratio;
}

/** The daemon's evaluator of a recording; an unknown status is no evidence for or against a rule about status. */
function evaluatorFor(subject: {
  readonly id: string;
  readonly locationId: string;
  readonly inventory: Inventory;
  readonly intervalMs: number;
}): (view: View, now: Instant) => Evaluator {
  const { id, locationId, inventory, intervalMs } = subject;
  return ({ seen, ratios }, now) => {
    const state: RecordingState = {
      id,
      locationId,
      status: seen.status,
      readAt: now,
      since: seen.since,
      lastSeenAt: undefined,
      onlineSeenAt: undefined,
      averageQuality: undefined,
      presentAt: now,
      alerts: undefined,
    };
    const evaluator = recordingEvaluator(
      { state, read: true, missing: undefined },
      {
        now,
        intervalMs,
        inventory,
        uptime: (_, overMs) => ratios.get(overMs),
        inSchedule: () => !seen.outside,
        scheduleOf: () => undefined,
        scheduleBegan: () => undefined,
      },
    );
    return {
      ...evaluator,
      evidence: (rule, firing) =>
        rule.when.kind === "status" && seen.status === undefined ? undefined : evaluator.evidence(rule, firing),
    };
  };
}
