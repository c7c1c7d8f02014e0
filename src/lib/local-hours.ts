/** Local hours of instants. Time zones are slow to compute: each quarter is cached, and offsets by the day. */
import { DateTime } from "luxon";
import { HOUR_MS, type Instant } from "./clock.ts";

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
const QUARTERS_OF_DAY = 96;
const MAX_QUARTERS = 5_000;
const WEEK = 168;
/** In its week, the slot of 1970-01-01, a Thursday. */
const THURSDAY = 3 * 24;

export function createLocalHours() {
  const zones = new Map<string, (instant: Instant) => LocalHour>();
  return {
    at(instant: Instant, timezone: string): LocalHour {
      const known = zones.get(timezone);
      if (known) return known(instant);
      const hourAt = hoursIn(timezone);
      zones.set(timezone, hourAt);
      return hourAt(instant);
    },
  };
}

function hoursIn(zone: string): (instant: Instant) => LocalHour {
  const hours = new Map<number, LocalHour>();
  const offsets = new Map<number, number>();

  /** The zone's offset from UTC, ms; 0 of one that is unknown. */
  function offsetAt(quarter: number): number {
    const known = offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = (DateTime.fromMillis(quarter * QUARTER_MS, { zone }).offset || 0) * 60_000;
    offsets.set(quarter, offset);
    return offset;
  }

  return (instant) => {
    const quarter = Math.floor(instant / QUARTER_MS);
    const found = hours.get(quarter);
    if (found) return found;
    if (hours.size >= MAX_QUARTERS) for (const cache of [hours, offsets]) cache.clear();
    const day = quarter - (quarter % QUARTERS_OF_DAY);
    const ofDay = offsetAt(day);
    const offset = ofDay === offsetAt(day + QUARTERS_OF_DAY) ? ofDay : offsetAt(quarter);
    const slot = Math.floor((quarter * QUARTER_MS + offset) / HOUR_MS);
    const hour = { ofWeek: (slot + THURSDAY) % WEEK, slot, startsAt: slot * HOUR_MS - offset };
    hours.set(quarter, hour);
    return hour;
  };
}

/** The local day of a slot, days since 1970-01-01. */
export function localDay(slot: number): number {
  return Math.floor(slot / 24);
}
