/** The period as slots, each with one state: what a bar in the digest shows. */
import type { Instant } from "../../lib/clock.ts";
import type { Interval, SlotState, TimelineRun } from "../digest.ts";
import type { TimedBucket } from "./buckets.ts";
import { lengthIn } from "./intervals.ts";

const HOUR = 3_600_000;

/** Some segments are always lost: below this a slot is shown as low. */
const LOW_BELOW = 0.95;

interface TimelineInput {
  readonly bounds: Interval;
  /** Time that counts as downtime. */
  readonly down: readonly Interval[];
  readonly unreachable: readonly Interval[];
  readonly buckets: readonly TimedBucket[];
  /** Up without a break since then; undefined: not up now. */
  readonly upSince: Instant | undefined;
}

/** Equal neighbours are joined, so that a day without change is one run. */
export function timeline(input: TimelineInput): TimelineRun[] {
  const { from, to } = input.bounds;
  const slots = slotCount(to - from);
  const runs: { state: SlotState; slots: number }[] = [];
  for (let i = 0; i < slots; i += 1) {
    const slot = { from: from + ((to - from) * i) / slots, to: from + ((to - from) * (i + 1)) / slots };
    const state = slotState(input, slot);
    const last = runs.at(-1);
    if (last?.state === state) last.slots += 1;
    else runs.push({ state, slots: 1 });
  }
  return runs;
}

/** Half an hour of a day, two hours of a week, half a day of a month. */
function slotCount(lengthMs: number): number {
  if (lengthMs <= 26 * HOUR) return 48;
  return lengthMs <= 8 * 24 * HOUR ? 84 : 62;
}

/** The worst state in the slot; `unreachable` only where it covers at least half of it. */
function slotState({ down, unreachable, buckets, upSince }: TimelineInput, slot: Interval): SlotState {
  if (lengthIn(down, slot) > 0) return "down";
  if (lengthIn(unreachable, slot) >= (slot.to - slot.from) / 2) return "unreachable";
  const middle = (slot.from + slot.to) / 2;
  const timed = buckets.find(({ from, to }) => from <= middle && middle < to);
  if (timed && !timed.bucket.withinSchedule) return "closed";
  if (timed?.bucket.overallUptime !== undefined) {
    // The bucket's downtime has slots of its own: it explains part of a low figure.
    const downShare = lengthIn(down, timed) / (timed.to - timed.from);
    return timed.bucket.overallUptime + downShare < LOW_BELOW ? "low" : "up";
  }
  return upSince !== undefined && upSince <= slot.from ? "up" : "none";
}
