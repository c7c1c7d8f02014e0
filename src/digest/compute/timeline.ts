/** The period as a row of coloured pieces: what a bar in the digest shows. */
import type { Instant } from "../../lib/clock.ts";
import type { SlotState, Span, TimelineRun } from "../digest.ts";
import { clip, total } from "./spans.ts";
import type { TimedBucket } from "./uptime.ts";

const HOUR = 3_600_000;

/** Some segments are always lost: less than this of one piece is worth a colour. */
const LOW_BELOW = 0.95;

export interface TimelineInput {
  readonly bounds: Span;
  /** Time that counts as lost. */
  readonly down: readonly Span[];
  readonly blind: readonly Span[];
  readonly buckets: readonly TimedBucket[];
  /** Seen up without a break since then; undefined: not up now. */
  readonly upSince: Instant | undefined;
}

/** Equal neighbours joined, so that a quiet day is one piece. */
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

/** The worst thing that happened in it; being blind colours only what it covers for the most part. */
function slotState({ down, blind, buckets, upSince }: TimelineInput, slot: Span): SlotState {
  if (total(clip(down, slot)) > 0) return "down";
  if (total(clip(blind, slot)) >= (slot.to - slot.from) / 2) return "blind";
  const middle = (slot.from + slot.to) / 2;
  const timed = buckets.find(({ from, to }) => from <= middle && middle < to);
  if (timed && !timed.bucket.withinSchedule) return "closed";
  if (timed?.bucket.overallUptime !== undefined)
    return timed.bucket.overallUptime + shareOf(down, timed) < LOW_BELOW ? "low" : "up";
  return upSince !== undefined && upSince <= slot.from ? "up" : "none";
}

/** What of the bucket's time was lost: the rest of a day with an outage in it was as good as ever. */
function shareOf(down: readonly Span[], { from, to }: Span): number {
  return total(clip(down, { from, to })) / (to - from);
}
