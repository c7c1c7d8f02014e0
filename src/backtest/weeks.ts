/** ISO weeks of UTC: they begin on Monday at 00:00. */
import type { Instant } from "../lib/clock.ts";
import type { Span } from "./setup.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The Monday of the week that 1970 began in. */
const FIRST_MONDAY = -3 * DAY_MS;

/** `2026-W36`, as ISO 8601 writes it. */
export function weekOf(at: Instant): string {
  const monday = mondayOf(at);
  // A week belongs to the year of its Thursday.
  const year = new Date(monday + 3 * DAY_MS).getUTCFullYear();
  const number = 1 + Math.round((monday - mondayOf(Date.UTC(year, 0, 4))) / WEEK_MS);
  return `${year}-W${String(number).padStart(2, "0")}`;
}

/** How much of the span lies in each week it touches, in order, ms. */
export function* byWeek({ from, to }: Span): Generator<{ readonly week: string; readonly ms: number }> {
  for (let monday = mondayOf(from); monday < to; monday += WEEK_MS) {
    yield { week: weekOf(monday), ms: Math.min(to, monday + WEEK_MS) - Math.max(from, monday) };
  }
}

function mondayOf(at: Instant): Instant {
  return Math.floor((at - FIRST_MONDAY) / WEEK_MS) * WEEK_MS + FIRST_MONDAY;
}
