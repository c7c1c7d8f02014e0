/** Local hours of instants. Time zones are slow to compute: each quarter is cached, and offsets by the day. */
import { DateTime } from "luxon";
import { DAY_MS, HOUR_MS, type Instant } from "./clock.ts";

export interface LocalHour {
  /** 0 Monday 00:00 to 167 Sunday 23:00. */
  readonly ofWeek: number;
  /** Whole hours of the local clock since 1970: 168 less a week before; the same twice where clocks go back. */
  readonly slot: number;
  readonly startsAt: Instant;
}

export type LocalHours = ReturnType<typeof createLocalHours>;

/** Offsets of all zones are multiples of it, and so are the instants at which they change. */
const QUARTER_MS = 900_000;
const MAX_QUARTERS = 5_000;
const WEEK = 168;
/** In its week, the slot of 1970-01-01, a Thursday. */
const THURSDAY = 3 * 24;

export function createLocalHours() {
  const zones = new Map<string, Map<number, LocalHour>>();
  const offsets = new Map<string, number>();

  /** How far the zone is ahead of UTC, ms; 0 of one that is unknown. */
  function offsetAt(instant: Instant, zone: string): number {
    const key = `${instant} ${zone}`;
    const offset = offsets.get(key) ?? (DateTime.fromMillis(instant, { zone }).offset || 0) * 60_000;
    if (offsets.size >= MAX_QUARTERS) offsets.clear();
    offsets.set(key, offset);
    return offset;
  }

  function localHour(at: Instant, timezone: string): LocalHour {
    const day = at - (at % DAY_MS);
    const ofDay = offsetAt(day, timezone);
    const offset = ofDay === offsetAt(day + DAY_MS, timezone) ? ofDay : offsetAt(at, timezone);
    const slot = Math.floor((at + offset) / HOUR_MS);
    return { ofWeek: (slot + THURSDAY) % WEEK, slot, startsAt: slot * HOUR_MS - offset };
  }

  return {
    at(instant: Instant, timezone: string): LocalHour {
      const quarter = Math.floor(instant / QUARTER_MS);
      const found = zones.get(timezone)?.get(quarter);
      if (found) return found;
      const known = zones.get(timezone) ?? new Map<number, LocalHour>();
      zones.set(timezone, known);
      if (known.size >= MAX_QUARTERS) known.clear();
      const hour = localHour(quarter * QUARTER_MS, timezone);
      known.set(quarter, hour);
      return hour;
    },
  };
}

/** The local day of a slot, days since 1970-01-01. */
export function localDay(slot: number): number {
  return Math.floor(slot / 24);
}
