/** Public holidays of a few countries, and days on which shops are fuller than usual. Days count from 1970-01-01. */
import { DAY_MS } from "../../lib/clock.ts";

export interface Holiday {
  /** Share of the locations that stay closed. */
  readonly closed: number;
  /** Visits to the others, as a share of the usual. */
  readonly visits: number;
}

const WINTER = "12-24 5 80; 12-25 97 30; 12-31 5 70; 01-01 80 45";
const BLACK_FRIDAY = "11/thu/4+1 0 160";

/**
 * The date, the share of locations closed and of visits to the others, in %. `MM-DD`; `easter+1`: days from Easter Sunday;
 * `11/thu/4+1`: the day after the fourth Thursday of November; -1: the last.
 */
const RULES: Readonly<Record<string, string>> = {
  GB: `${WINTER}; ${BLACK_FRIDAY}; 12-26 35 120; easter-2 10 85; easter+0 85 40; easter+1 15 80;
    5/mon/1 10 85; 5/mon/-1 10 85; 8/mon/-1 10 85`,
  IE: `${WINTER}; ${BLACK_FRIDAY}; 03-17 30 70; easter+0 80 40; 6/mon/1 10 85; 8/mon/1 10 85; 10/mon/-1 10 90`,
  FR: `${WINTER}; easter+1 40 60; 05-01 95 30; 05-08 30 70; easter+39 40 70; 07-14 50 60; 08-15 50 60; 11-01 50 60;
    11-11 30 75`,
  DE: `${WINTER}; easter-2 95 40; easter+1 95 40; 05-01 95 40; easter+39 95 40; easter+50 95 40; 10-03 95 40; 12-26 95 40`,
  ES: `${WINTER}; 01-06 70 55; easter-2 70 55; 05-01 80 50; 08-15 60 60; 10-12 60 60; 11-01 60 60; 12-08 50 70`,
  US: `${WINTER}; ${BLACK_FRIDAY}; easter+0 40 60; 5/mon/-1 5 110; 07-04 30 70; 9/mon/1 5 110; 11/thu/4 80 40`,
  IN: "01-26 60 60; 08-15 60 60; 10-02 50 70; 12-25 10 120; 01-01 0 120",
  AU: `${WINTER}; 12-26 5 150; 01-26 50 60; easter-2 90 40; easter+0 60 50; 04-25 70 50`,
};

const COUNTRIES: Readonly<Record<string, string>> = {
  "Europe/London": "GB",
  "Europe/Dublin": "IE",
  "Europe/Paris": "FR",
  "Europe/Berlin": "DE",
  "Europe/Madrid": "ES",
  "America/New_York": "US",
  "America/Chicago": "US",
  "America/Los_Angeles": "US",
  "Asia/Kolkata": "IN",
  "Australia/Sydney": "AU",
};

/** The country whose holidays a time zone has; undefined: none is known. */
export function countryOf(timezone: string): string | undefined {
  return COUNTRIES[timezone];
}

const years = new Map<string, ReadonlyMap<number, Holiday>>();

/** The holiday on a day. */
export function holidayOn(n: number, country: string): Holiday | undefined {
  const year = new Date(n * DAY_MS).getUTCFullYear();
  const key = `${country} ${year}`;
  const known = years.get(key) ?? holidaysOf(year, country);
  years.set(key, known);
  return known.get(n);
}

function holidaysOf(year: number, country: string): ReadonlyMap<number, Holiday> {
  const rules = (RULES[country] ?? "").split(";").filter(Boolean);
  return new Map(
    rules.map((rule) => {
      const [when = "", closed, visits] = rule.trim().split(" ");
      return [dayOfRule(when, year), { closed: Number(closed) / 100, visits: Number(visits) / 100 }];
    }),
  );
}

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

function dayOfRule(when: string, year: number): number {
  const [, offset] = /^easter([+-]\d+)$/.exec(when) ?? [];
  if (offset) return easterOf(year) + Number(offset);
  const [, month, weekday = "", nth = "", after = "0"] = /^(\d+)\/(\w+)\/(-?\d+)([+-]\d+)?$/.exec(when) ?? [];
  if (month === undefined) return Date.parse(`${year}-${when}`) / DAY_MS;
  const isLast = nth === "-1";
  const first = Date.UTC(year, Number(month) - (isLast ? 0 : 1), 1) / DAY_MS;
  const ahead = (WEEKDAYS.indexOf(weekday) - new Date(first * DAY_MS).getUTCDay() + 7) % 7;
  return first + ahead + (isLast ? -7 : (Number(nth) - 1) * 7) + Number(after);
}

/** Easter Sunday of the Gregorian calendar (Meeus, Jones, Butcher). */
function easterOf(year: number): number {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const h = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const monthDay = h + l - 7 * m + 114;
  return Date.UTC(year, Math.floor(monthDay / 31) - 1, (monthDay % 31) + 1) / DAY_MS;
}
