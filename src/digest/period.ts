/** The times at which a digest is due and the days it covers, by the calendar of its own time zone. */
import { CronExpressionParser } from "cron-parser";
import { DateTime, type DateTimeUnit } from "luxon";
import type { Instant } from "../lib/clock.ts";
import { CodedError } from "../lib/errors.ts";
import type { DigestPeriod } from "./digest.ts";

export type DigestErrorCode = "invalid_cron" | "invalid_timezone";

/** A digest that cannot be scheduled as configured. Trying again does not help. */
export class DigestError extends CodedError<DigestErrorCode> {
  constructor(code: DigestErrorCode, message: string, cause?: unknown) {
    super(code, message, { retryable: false, cause });
  }
}

export type PeriodName = "1d" | "1w" | "1mo";

/** The hours of a shift, `HH:MM`; one that ends no later than it begins ends on the next day. */
export interface ShiftHours {
  readonly from: string;
  readonly to: string;
}

/** The last whole period, or shift, of a digest before `now`. Throws DigestError `invalid_timezone`. */
export function periodOf(
  {
    period,
    shift,
    timezone,
  }: { readonly period: PeriodName | "shift"; readonly shift?: ShiftHours | undefined; readonly timezone: string },
  now: Instant,
): DigestPeriod {
  return period === "shift"
    ? shiftPeriod(shift ?? { from: "20:00", to: "08:00" }, now, timezone)
    : digestPeriod(period, now, timezone);
}

/** The last shift that was over at `now`. Throws DigestError `invalid_timezone`. */
function shiftPeriod({ from, to }: ShiftHours, now: Instant, timezone: string): DigestPeriod {
  const here = inZone(now, timezone);
  const at = (day: DateTime, text: string) => {
    const [hour = 0, minute = 0] = text.split(":").map(Number);
    return day.set({ hour, minute, second: 0, millisecond: 0 });
  };
  const today = at(here, to);
  const end = today > here ? at(here.minus({ days: 1 }), to) : today;
  const begin = at(end, from);
  const start = begin < end ? begin : at(end.minus({ days: 1 }), from);
  return { from: start.toMillis(), to: end.toMillis(), label: `${start.toFormat("ccc d LLL")} ${from}–${to}` };
}

const UNITS: Readonly<Record<PeriodName, DateTimeUnit>> = { "1d": "day", "1w": "week", "1mo": "month" };

/**
 * The last full period before `now`: yesterday from midnight to midnight, last week from Monday, or last month.
 * Across a clock change a day has 23 or 25 hours. Throws DigestError `invalid_timezone`.
 */
export function digestPeriod(name: PeriodName, now: Instant, timezone: string): DigestPeriod {
  const unit = UNITS[name];
  const end = startOf(inZone(now, timezone), unit);
  const last = end.minus(1);
  const start = startOf(last, unit);
  return { from: start.toMillis(), to: end.toMillis(), label: label(name, start, last) };
}

/** The start of the day, week or month; where clocks go back over midnight, the earlier of the two. */
function startOf(moment: DateTime, unit: DateTimeUnit): DateTime {
  const start = moment.startOf(unit);
  const hourBefore = start.minus({ hours: 1 });
  return hourBefore.hasSame(start, "day") ? hourBefore : start;
}

function label(name: PeriodName, start: DateTime, last: DateTime): string {
  if (name === "1d") return start.toFormat("ccc d LLL yyyy");
  if (name === "1mo") return start.toFormat("LLLL yyyy");
  const sameMonth = start.hasSame(last, "month");
  const first = start.toFormat(sameMonth ? "ccc d" : start.hasSame(last, "year") ? "ccc d LLL" : "ccc d LLL yyyy");
  return `${first} – ${last.toFormat("ccc d LLL yyyy")}`;
}

/**
 * The first run of a cron expression strictly after `after`, in the given zone; a run in an hour that a clock change
 * skips happens after the change. Throws DigestError `invalid_cron` or `invalid_timezone`.
 */
export function nextRun(cron: string, timezone: string, after: Instant): Instant {
  const currentDate = new Date(inZone(after, timezone).toMillis());
  if (cron.trim() === "")
    throw new DigestError("invalid_cron", 'The cron expression is empty: write one such as "0 8 * * *".');
  try {
    return CronExpressionParser.parse(cron, { currentDate, tz: timezone }).next().getTime();
  } catch (thrown) {
    throw new DigestError(
      "invalid_cron",
      `The cron expression ${JSON.stringify(cron.slice(0, 100))} has no next run: write one such as "0 8 * * *".`,
      thrown,
    );
  }
}

function inZone(instant: Instant, timezone: string): DateTime {
  const local = DateTime.fromMillis(instant, { zone: timezone, locale: "en-US" });
  if (local.isValid) return local;
  throw new DigestError(
    "invalid_timezone",
    `The time zone ${JSON.stringify(timezone.slice(0, 100))} does not exist: write an IANA name such as Europe/London.`,
  );
}
