/**
 * Flapping as Nagios finds it (base/flapping.c): of the last 21 states the share that changed, newer changes
 * weighing more. The states are online, degraded and offline, each its own as Nagios' OK, WARNING and CRITICAL are.
 * One state is taken per status interval, at most one a minute; without a good reading there is none. A minute with a
 * change in it counts as changed, even if its status is the same at the end.
 */
import type { Instant } from "../lib/clock.ts";
import type { RecordingState, StateHistory, StatusStretch } from "./shard-state.ts";

/** States that are stored: Nagios' MAX_STATE_HISTORY_ENTRIES. */
const STATES = 21;
const COMPARISONS = STATES - 1;
const OLDEST_WEIGHT = 0.75;
const NEWEST_WEIGHT = 1.25;
const SAMPLE_MS = 60_000;
/** Sums of weights are compared up to this. */
const ROUNDING = 1e-9;

/** A recording's last states after a good reading; undefined while they are all the same. */
export function recordStatus(
  previous: Pick<RecordingState, "status" | "readAt" | "history"> | undefined,
  status: StatusStretch["status"],
  now: Instant,
  intervalMs: number,
): StateHistory | undefined {
  if (previous?.status === undefined) return undefined;
  if (!previous.history && previous.status === status) return undefined;
  const first = { status: previous.status, from: previous.readAt, count: 1 };
  const history = previous.history ?? { sampledAt: previous.readAt, stretches: [first] };
  const due = isDue(history.sampledAt, now, intervalMs);
  if (!due && history.stretches.at(-1)?.status === status) return history;
  const stretches = trim((due ? append : change)(history.stretches, status, now));
  return stretches.length > 1 ? { sampledAt: due ? now : history.sampledAt, stretches } : undefined;
}

/** One state per clock minute; where sweeps are rarer, one per sweep, be it early or late. */
function isDue(sampledAt: Instant, now: Instant, intervalMs: number): boolean {
  if (intervalMs >= SAMPLE_MS) return now - sampledAt >= intervalMs / 2;
  return Math.floor(now / SAMPLE_MS) > Math.floor(sampledAt / SAMPLE_MS);
}

function append(stretches: readonly StatusStretch[], status: StatusStretch["status"], now: Instant): StatusStretch[] {
  const last = stretches.at(-1);
  if (last?.status !== status) return [...stretches, { status, from: now, count: 1 }];
  return [...stretches.slice(0, -1), { ...last, count: last.count + 1 }];
}

/** A change in the minute of the newest state, which counts as changed, once. */
function change(stretches: readonly StatusStretch[], status: StatusStretch["status"], now: Instant): StatusStretch[] {
  const last = stretches.at(-1);
  const before = stretches.slice(0, -1);
  if (last && last.count === 1 && before.length > 0) return [...before, { ...last, status }];
  if (last) before.push({ ...last, count: Math.max(1, last.count - 1) });
  return [...before, { status, from: now, count: 1 }];
}

function trim(stretches: readonly StatusStretch[]): readonly StatusStretch[] {
  let left = STATES;
  const kept: StatusStretch[] = [];
  for (const stretch of stretches.toReversed()) {
    if (left <= 0) break;
    kept.unshift(stretch.count <= left ? stretch : { ...stretch, count: left });
    left -= stretch.count;
  }
  return kept;
}

/**
 * The changes since `from`, their weighted share 0–1, and when the oldest of them was seen (undefined without any);
 * states older than the stored ones count as unchanged.
 */
export function changesOf(history: StateHistory | undefined, from: Instant = Number.NEGATIVE_INFINITY) {
  const stretches = history?.stretches ?? [];
  let newer = 0;
  let weights = 0;
  let count = 0;
  let since: Instant | undefined;
  for (let i = stretches.length - 1; i > 0; i--) {
    const stretch = stretches[i] as StatusStretch;
    if (stretch.from < from) break;
    newer += stretch.count;
    weights += weightOf(STATES - newer);
    count++;
    since = stretch.from;
  }
  return { count, share: weights / COMPARISONS, since };
}

/** The weight of a comparison of two neighbours, 1 the oldest, 20 the newest. */
function weightOf(comparison: number): number {
  return OLDEST_WEIGHT + ((comparison - 1) * (NEWEST_WEIGHT - OLDEST_WEIGHT)) / (COMPARISONS - 1);
}

/**
 * Begins at `high`, ends at `low`. Time without readings neither ends nor begins it: changes older than twice the time
 * the states should take count only against the end.
 */
export function isFlapping(
  history: StateHistory | undefined,
  { high, low }: { readonly high: number; readonly low: number },
  firing: boolean,
  { now, intervalMs }: { readonly now: Instant; readonly intervalMs: number },
): boolean {
  if (firing) return changesOf(history).share > low + ROUNDING;
  return recentChanges(history, { now, intervalMs }).share >= high - ROUNDING;
}

/** The changes that count towards a beginning. */
export function recentChanges(
  history: StateHistory | undefined,
  { now, intervalMs }: { readonly now: Instant; readonly intervalMs: number },
): ReturnType<typeof changesOf> {
  return changesOf(history, now - 2 * STATES * Math.max(intervalMs, SAMPLE_MS));
}
