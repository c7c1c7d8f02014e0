/**
 * Days on which nobody is expected. Those that repeat weekly are in the baseline, whose hours are then 0; single dates
 * and weekdays that are configured are named here. Nothing else is assumed to be a holiday: see `together.ts`.
 */
import type { Instant } from "../lib/clock.ts";
import { type HourAt, labelDay } from "./baseline.ts";

const WEEKDAYS: readonly string[] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** `days`: weekdays such as sunday, or dates such as 2026-12-25, of the location's time zone. */
export function closedOn(days: readonly string[], hourAt: HourAt): ((at: Instant) => boolean) | undefined {
  if (days.length === 0) return undefined;
  const weekdays = new Set(days.map((day) => WEEKDAYS.indexOf(day)).filter((weekday) => weekday >= 0));
  const dates = new Set(days.map((day) => Number(day.replaceAll("-", ""))));
  return (at) => {
    const { ofWeek, label } = hourAt(at);
    return weekdays.has(Math.floor(ofWeek / 24)) || dates.has(labelDay(label));
  };
}
