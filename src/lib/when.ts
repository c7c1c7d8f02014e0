/** Instants and spans for people, in the time zone of the reader. */
import { DateTime } from "luxon";
import type { Instant } from "./clock.ts";
import { humanDuration } from "./duration.ts";

export type Times = ReturnType<typeof timesSeenAt>;

/**
 * Formats times relative to one instant: in the reader's zone, where one is known, with the time at the shop in brackets
 * where its clock differs; else in the shop's. `UTC` stands for a shop without a known zone. Caches zone names, which
 * are slow to compute.
 */
export function timesSeenAt(now: Instant, reader?: string) {
  const names = new Map<string, string>();

  function zone(time: DateTime): string {
    const key = `${time.zoneName} ${time.offset}`;
    const name = names.get(key) ?? zoneName(time);
    names.set(key, name);
    return name;
  }

  function day(time: DateTime, timezone: string, today = ""): string {
    const current = inZone(now, timezone);
    if (time.hasSame(current, "day")) return today;
    return time.toFormat(time.hasSame(current, "year") ? "ccc d LLL " : "d LLL yyyy ");
  }

  /** The zone in which times about a shop are read and typed. */
  const zoneFor = (shop: string) => reader ?? shop;

  /** `09:05 EST`: the same instant on the clock of the shop; empty where it is the reader's. */
  function there(time: DateTime, shop: string, seconds: boolean): string {
    const local = inZone(+time, shop);
    if (shop === "UTC" || time.offset === local.offset) return "";
    const otherDay = time.day === local.day ? "" : local.toFormat("ccc ");
    return `${otherDay}${clock(local, seconds)} ${zone(local)}`;
  }

  return {
    zoneFor,
    /**
     * `14:05 GMT` today, `Thu 19 Nov 22:10 GMT` on another day, with the year in another one; `14:05 GMT (09:05 EST)`; with
     * `more`, `14:05 GMT (12 m)` or `14:05 GMT (09:05 EST; 12 m)`.
     */
    at(instant: Instant, shop: string, seconds = false, more = ""): string {
      const time = inZone(instant, zoneFor(shop));
      const aside = [there(time, shop, seconds), more].filter((part) => part !== "").join("; ");
      return `${day(time, zoneFor(shop))}${clock(time, seconds)} ${zone(time)}${aside && ` (${aside})`}`;
    },
    /**
     * `14:05–14:17 GMT`; with seconds where it is under two minutes, with the day where it is not today, with a second
     * zone name where clocks changed.
     */
    between(from: Instant, to: Instant, shop: string): string {
      const timezone = zoneFor(shop);
      const [start, end] = [inZone(from, timezone), inZone(Math.max(from, to), timezone)];
      const seconds = to - from < 120_000;
      const startZone = zone(start) === zone(end) ? "" : ` ${zone(start)}`;
      const endDay = start.hasSame(end, "day") ? "" : day(end, timezone, "today ");
      return `${day(start, timezone)}${clock(start, seconds)}${startZone}–${endDay}${clock(end, seconds)} ${zone(end)}`;
    },
  };
}

/** The time between, a second at least: `12 m`, `4 h`. Past ten minutes without seconds. */
export function span(from: Instant, to: Instant): string {
  const ms = Math.max(1_000, to - from);
  return humanDuration(ms < 600_000 ? ms : Math.floor(ms / 60_000) * 60_000);
}

/** A duration between two instants: `12 m`; `36 s in all` where that is not all of the time. */
export function lastedText(ms: number, from: Instant, to: Instant): string {
  return Math.round(ms) < Math.floor(to - from) ? `${span(0, ms)} in all` : span(from, to);
}

/** An instant in a zone; in UTC where the zone is unknown. */
export function inZone(at: Instant, timezone: string): DateTime {
  const time = DateTime.fromMillis(at, { zone: timezone, locale: "en-GB" });
  return time.isValid ? time : DateTime.fromMillis(at, { zone: "utc", locale: "en-GB" });
}

function clock(time: DateTime, seconds = false): string {
  return time.toFormat(seconds ? "HH:mm:ss" : "HH:mm");
}

/** Locales with the zone names that people use, in order of preference. */
const LOCALES = ["en-GB", "en-US", "en-AU", "en-CA", "en-IN"];

/** `BST`, `EST`, `CET`; `UTC+8` where there is no English name. */
function zoneName(time: DateTime): string {
  for (const locale of LOCALES) {
    const name = time.setLocale(locale).offsetNameShort ?? "";
    if (/^[A-Z]{2,5}$/.test(name)) return name;
  }
  return time.offset === 0 ? "UTC" : time.toFormat("'UTC'Z").replace(/:00$/, "");
}

/** The day of an instant in an IANA zone. */
export function dayOf(at: Instant, zone: string): string {
  return DateTime.fromMillis(at, { zone }).toFormat("yyyy-MM-dd");
}

/** The day of an instant in UTC. */
export function utcDay(at: Instant): string {
  const date = new Date(at);
  const two = (n: number) => (n < 10 ? `0${n}` : n);
  return `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
}

/**
 * The local day, `YYYY-MM-DD`, of a metric segment: the one its index names, unless its time of day is that of the
 * local midnight in UTC. The contract leaves open which of the two is served.
 */
export function dayOfIndex(index: string, zone: string): string | undefined {
  const [, day, time = "00:00"] = /^(\d{4}-\d{2}-\d{2})(?:T(.*))?$/.exec(index) ?? [];
  if (day === undefined || time.startsWith("00:00")) return day;
  const local = DateTime.fromISO(index, { zone: "utc" }).setZone(zone);
  return local.isValid && +local === +local.startOf("day") ? local.toISODate() : day;
}
