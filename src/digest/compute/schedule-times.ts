/** Time outside the learned schedules of recordings, for days of which no hourly bucket is stored. */
import type { Instant } from "../../lib/clock.ts";
import type { LocalHours } from "../../lib/local-hours.ts";
import type { Interval } from "../digest.ts";
import { union } from "./intervals.ts";

/** Every zone's offset is a multiple of a quarter of an hour. */
const QUARTER_MS = 900_000;
/** Most recordings have one of a few schedules. */
const CACHED = 500;
const HOURS_OF_DAY = 24;

export type ScheduleTimes = ReturnType<typeof createScheduleTimes>;

/** Answers from `RecordingFigures.scheduleHours`. */
export function createScheduleTimes(localHours: LocalHours) {
  const known = new Map<string, readonly Interval[]>();
  return {
    /** The hours known to be outside the schedule; without a schedule none. */
    closed(hours: string | undefined, timezone: string, bounds: Interval): readonly Interval[] {
      if (!hours?.includes("0")) return [];
      const key = `${bounds.from} ${bounds.to} ${timezone} ${hours}`;
      const found = known.get(key) ?? closedBetween(bounds, (at) => hours[localHours.at(at, timezone).ofWeek]);
      if (known.size >= CACHED) known.clear();
      known.set(key, found);
      return found;
    },
    /** Whether all of that weekday (1 Monday) is known to be outside the schedule. */
    isClosedOn(hours: string | undefined, weekday: number): boolean {
      const day = hours?.slice((weekday - 1) * HOURS_OF_DAY, weekday * HOURS_OF_DAY);
      return day !== undefined && day.length === HOURS_OF_DAY && !/[^0]/.test(day);
    },
  };
}

function closedBetween(bounds: Interval, stateAt: (at: Instant) => string | undefined): Interval[] {
  const spans: Interval[] = [];
  for (let from = bounds.from - (bounds.from % QUARTER_MS); from < bounds.to; from += QUARTER_MS) {
    if (stateAt(from) !== "0") continue;
    spans.push({ from: Math.max(from, bounds.from), to: Math.min(from + QUARTER_MS, bounds.to) });
  }
  return union(spans);
}
