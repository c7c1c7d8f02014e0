/**
 * Days on which nobody is expected. Those that repeat weekly are in the baseline, whose hours are then 0; single dates
 * and weekdays that are configured are named here. Nothing else is assumed to be a holiday: see `together.ts`.
 */
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { localDay } from "../lib/local-hours.ts";
import type { HourAt } from "./baseline.ts";

/** From that of 1970-01-01. */
const WEEKDAYS: readonly string[] = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"];

/** `days`: weekdays such as sunday, or dates such as 2026-12-25, of the location's time zone. */
export function closedOn(days: readonly string[], hourAt: HourAt): ((at: Instant) => boolean) | undefined {
  if (days.length === 0) return undefined;
  const weekdays = new Set(days.map((day) => WEEKDAYS.indexOf(day)));
  const dates = new Set(days.map((day) => Date.parse(day) / DAY_MS));
  return (at) => {
    const day = localDay(hourAt(at).slot);
    return weekdays.has(day % WEEKDAYS.length) || dates.has(day);
  };
}
