/** When recordings were not meant to upload, where the service's own word for it is not kept any more. */
import type { Instant } from "../../lib/clock.ts";
import type { LocalHours } from "../../lib/local-hours.ts";
import type { Span } from "../digest.ts";
import { union } from "./spans.ts";

/** Local hours begin at quarters: no zone is off by a part of one. */
const QUARTER_MS = 900_000;
/** Most recordings have one of a few schedules. */
const KEPT = 500;
const HOURS_OF_DAY = 24;

export interface ScheduleTimes {
  /** The hours known to be outside of it; without a schedule none. */
  closed(scheduleHours: string | undefined, timezone: string, bounds: Span): readonly Span[];
  /** Whether all of that weekday (1 Monday) is known to be outside of it. */
  isClosedOn(scheduleHours: string | undefined, weekday: number): boolean;
}

export function createScheduleTimes(localHours: LocalHours): ScheduleTimes {
  const known = new Map<string, readonly Span[]>();
  return {
    closed(hours, timezone, bounds) {
      if (!hours?.includes("0")) return [];
      const key = `${bounds.from} ${bounds.to} ${timezone} ${hours}`;
      const found =
        known.get(key) ?? closedBetween(bounds, (at) => hours[localHours.at(at, timezone).ofWeek]);
      if (known.size >= KEPT) known.clear();
      known.set(key, found);
      return found;
    },
    isClosedOn(hours, weekday) {
      const day = hours?.slice((weekday - 1) * HOURS_OF_DAY, weekday * HOURS_OF_DAY);
      return day !== undefined && day.length === HOURS_OF_DAY && !/[^0]/.test(day);
    },
  };
}

function closedBetween(bounds: Span, stateAt: (at: Instant) => string | undefined): Span[] {
  const spans: Span[] = [];
  for (let from = bounds.from - (bounds.from % QUARTER_MS); from < bounds.to; from += QUARTER_MS) {
    if (stateAt(from) !== "0") continue;
    spans.push({ from: Math.max(from, bounds.from), to: Math.min(from + QUARTER_MS, bounds.to) });
  }
  return union(spans);
}
