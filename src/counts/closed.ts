/**
 * Days on which nobody is expected. Those that repeat weekly are in the baseline, whose hours are then 0; single dates
 * and weekdays that are configured are named here. Nothing else is assumed to be a holiday: see `together.ts`.
 */
import type { Instant } from "../lib/clock.ts";
import { type HourAt, labelDay } from "./baseline.ts";

const DAY_MS = 86_400_000;
const WEEKDAYS: readonly string[] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/** The weekday of 1970-01-01. */
const THURSDAY = 3;

/** `days`: weekdays such as sunday, or dates such as 2026-12-25, of the location's time zone. */
export function closedOn(days: readonly string[], hourAt: HourAt): ((at: Instant) => boolean) | undefined {
  if (days.length === 0) return undefined;
  const isClosed = among(days);
  return (at) => {
    const { ofWeek, label } = hourAt(at);
    return isClosed(Math.floor(ofWeek / 24), labelDay(label));
  };
}

/** The same of a number of local days since 1970-01-01. */
export function closedDay(days: readonly string[]): (day: number) => boolean {
  if (days.length === 0) return () => false;
  const isClosed = among(days);
  return (day) => {
    const date = new Date(day * DAY_MS).toISOString().slice(0, "2026-12-25".length);
    return isClosed((((day + THURSDAY) % 7) + 7) % 7, Number(date.replaceAll("-", "")));
  };
}

/** `weekday` from 0 for Monday, `date` as 20261225. */
function among(days: readonly string[]): (weekday: number, date: number) => boolean {
  const weekdays = new Set(days.map((day) => WEEKDAYS.indexOf(day)).filter((weekday) => weekday >= 0));
  const dates = new Set(days.map((day) => Number(day.replaceAll("-", ""))));
  return (weekday, date) => weekdays.has(weekday) || dates.has(date);
}
