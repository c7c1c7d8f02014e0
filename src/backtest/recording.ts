/** Replays the rules about recordings over the history of one. */
import type { Evaluator } from "../health/apply-rules.ts";
import type { CountsLookup } from "../health/counts.ts";
import type { Recording, RecordingUptime, UptimeBucket } from "../health/recording.ts";
import { recordingEvaluator } from "../health/recording-evaluator.ts";
import type { RecordingState } from "../health/shard-state.ts";
import { bucketLengthMs, type Figure, reachMs, scheduledShare, settledBefore, windowUptime } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { changesBySweep, replayRules, type SteadySpan } from "./replay.ts";
import { type ReplayContext, tickBefore, tickFrom, type UptimeWindow } from "./setup.ts";
import { type SeenStatus, type SweepOptions, seenBySweeps } from "./statuses.ts";

/**
 * Its transitions, and the statuses `seen` for the rules about its location. `buckets` are in order of time and reach
 * back from the span by the longest window.
 */
export function replayRecording({ recording, buckets }: RecordingUptime, context: ReplayContext) {
  const { setup, plan, span, now } = context;
  const options = { ...setup, span, lengthMs: bucketLengthMs(buckets) };
  const seen = seenBySweeps(recording, buckets, options, now);
  const figures = plan.windows.flatMap((window) => figuresAtSweeps(buckets, window, options));
  const mayFire =
    (plan.asksStatus && seen.some(({ status }) => status === "offline")) ||
    figures.some(({ ratio, window }) => ratio !== undefined && ratio < window.below);
  if (!mayFire) return { transitions: [], seen };
  const spans = spansOf(recording, [...seen, ...figures], context);
  return { transitions: replayRules(spans, plan.recording, setup.statusIntervalMs), seen };
}

/** The latest uptime ratio of each window, by its length. */
type Ratios = Map<Figure, number | undefined>;

function* spansOf(
  recording: Recording,
  all: readonly (SeenStatus | UptimeFigure)[],
  context: ReplayContext,
): Generator<SteadySpan> {
  const { setup, plan, span } = context;
  const ratios: Ratios = new Map();
  let latest: SeenStatus | undefined;
  for (const { changes, ...sweeps } of changesBySweep(all, span, setup.statusIntervalMs)) {
    for (const change of changes) {
      if ("window" in change) ratios.set(change.window.overMs, change.ratio);
      else latest = change;
    }
    const seen = latest;
    if (!seen) return;
    const isLow = plan.windows.some(({ overMs, below }) => (ratios.get(overMs) ?? below) < below);
    const isClear = seen.status !== "offline" && !isLow;
    yield { ...sweeps, isClear, evaluator: (now) => evaluatorAt(now, recording, { seen, ratios }, context) };
  }
}

interface Known {
  readonly seen: SeenStatus;
  readonly ratios: Ratios;
  readonly counts?: CountsLookup;
}

/** The daemon's evaluator of a recording; an unknown status is no evidence for or against a rule about status. */
export function evaluatorAt(
  now: Instant,
  { id, locationId }: Recording,
  { seen, ratios, counts }: Known,
  { setup, inventory }: Pick<ReplayContext, "setup" | "inventory">,
): Evaluator {
  const state: RecordingState = {
    id,
    locationId,
    status: seen.status,
    readAt: now,
    since: seen.since,
    lastSeenAt: undefined,
    averageQuality: undefined,
    alerts: undefined,
  };
  const evaluator = recordingEvaluator(
    { state, read: true, missing: false },
    {
      now,
      intervalMs: setup.statusIntervalMs,
      inventory,
      uptime: (_, figure) => ratios.get(figure),
      counts,
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
}

/** The uptime ratio at every sweep from `at` until the next change. */
type UptimeFigure = { readonly at: Instant; readonly window: UptimeWindow; readonly ratio: number | undefined };

/** Changes in order of time, the first at the span's first sweep. Ratios that no rule distinguishes are not changes. */
function figuresAtSweeps(
  buckets: readonly UptimeBucket[],
  window: UptimeWindow,
  options: SweepOptions,
): UptimeFigure[] {
  const { overMs, fineFrom } = window;
  const { span, lengthMs, statusIntervalMs } = options;
  const figures: UptimeFigure[] = [];
  const last = tickBefore(span.to, statusIntervalMs);
  const scheduled = scheduledShare(buckets);
  const startOf = (i: number) => buckets[i]?.startAt ?? Number.POSITIVE_INFINITY;
  let [first, end] = [0, 0];
  for (const now of windowChanges(buckets, overMs, options)) {
    while (startOf(first) < now - reachMs(overMs, lengthMs)) first++;
    while (startOf(end) < settledBefore(now, lengthMs)) end++;
    const ratio = windowUptime(buckets, { now, overMs, lengthMs, scheduled, first, end });
    const at = tickFrom(Math.max(now, span.from), statusIntervalMs);
    if (at > last) break;
    const before = figures.at(-1);
    if (before && isSame(before.ratio, ratio, fineFrom)) continue;
    if (before?.at === at) figures.pop();
    figures.push({ at, window, ratio });
  }
  return figures;
}

function isSame(a: number | undefined, b: number | undefined, fineFrom: number): boolean {
  return a === b || (a !== undefined && b !== undefined && a >= fineFrom && b >= fineFrom);
}

/**
 * The instants at which the window's buckets change: one becomes complete, or one leaves it. The first is the last one
 * that is not after the span's start.
 */
function windowChanges(
  buckets: readonly UptimeBucket[],
  overMs: number,
  { span, lengthMs, uptimeIntervalMs }: SweepOptions,
): ReadonlySet<Instant> {
  const opening = tickBefore(span.from + 1, uptimeIntervalMs);
  const settlingMs = span.from - settledBefore(span.from, lengthMs);
  const changes = [settlingMs, reachMs(overMs, lengthMs)].flatMap((afterMs) =>
    buckets.map(({ startAt }) => tickFrom(startAt + afterMs + 1, uptimeIntervalMs)),
  );
  return new Set([opening, ...changes.filter((at) => at > opening && at < span.to).sort((a, b) => a - b)]);
}
