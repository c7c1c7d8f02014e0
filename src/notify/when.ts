/** Instants and spans as people read them, in the time zone of the place they speak of. */

import { DateTime } from "luxon";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";

/** `14:05 GMT` today, `Thu 19 Nov 22:10 GMT` on another day, with the year in another one. */
export function clockTime(at: Instant, now: Instant, timezone: string): string {
  const time = inZone(at, timezone);
  return `${dayPrefix(time, inZone(now, timezone))}${time.toFormat("HH:mm")} ${zoneName(time)}`;
}

/** `14:05–14:17 GMT`; a day is said where it is not today's, a second zone name where the clocks changed. */
export function clockRange(from: Instant, to: Instant, now: Instant, timezone: string): string {
  const [start, end] = [inZone(from, timezone), inZone(Math.max(from, to), timezone)];
  const startZone = zoneName(start) === zoneName(end) ? "" : ` ${zoneName(start)}`;
  const endDay = start.hasSame(end, "day") ? "" : dayPrefix(end, inZone(now, timezone)) || "today ";
  const startDay = dayPrefix(start, inZone(now, timezone));
  return `${startDay}${start.toFormat("HH:mm")}${startZone}–${endDay}${end.toFormat("HH:mm")} ${zoneName(end)}`;
}

/** How long, never negative: `12 m`, `4 h`; under a second `less than a second`. */
export function span(from: Instant, to: Instant): string {
  return to - from < 1000 ? "less than a second" : humanDuration(roughly(to - from));
}

/** Seconds are noise after ten minutes. */
function roughly(ms: number): number {
  return ms < 600_000 ? ms : Math.floor(ms / 60_000) * 60_000;
}

function inZone(at: Instant, timezone: string): DateTime {
  const time = DateTime.fromMillis(at, { zone: timezone, locale: "en-GB" });
  return time.isValid ? time : DateTime.fromMillis(at, { zone: "utc", locale: "en-GB" });
}

function dayPrefix(time: DateTime, today: DateTime): string {
  if (time.hasSame(today, "day")) return "";
  return time.toFormat(time.hasSame(today, "year") ? "ccc d LLL " : "d LLL yyyy ");
}

/** `BST`, `EST`, `CET`; `UTC+8` where no English name is in use. */
function zoneName(time: DateTime): string {
  const names = ["en-GB", "en-US", "en-AU", "en-CA", "en-IN"].map((locale) =>
    time.setLocale(locale).toFormat("ZZZZ"),
  );
  const name = names.find((candidate) => /^[A-Z]{2,5}$/.test(candidate)) ?? names[0] ?? "";
  return name.replace(/^GMT(?=[+-])/, "UTC");
}
