/** Local hours of instants. Time zones are slow to compute, so each quarter of an hour is cached. */
import { DateTime } from "luxon";
import type { Instant } from "./clock.ts";

export interface LocalHour {
  /** 0 Monday 00:00 to 167 Sunday 23:00. */
  readonly ofWeek: number;
  /** yyyyMMddHH, ascending; two hours have the same where clocks go back. */
  readonly label: number;
}

export type LocalHours = ReturnType<typeof createLocalHours>;

/** Offsets of all zones are multiples of it. */
const QUARTER_MS = 900_000;
const MAX_QUARTERS = 5_000;

export function createLocalHours() {
  const zones = new Map<string, Map<number, LocalHour>>();
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

function localHour(at: Instant, timezone: string): LocalHour {
  const local = DateTime.fromMillis(at, { zone: timezone });
  const { weekday, year, month, day, hour } = local.isValid ? local : DateTime.fromMillis(at, { zone: "utc" });
  return { ofWeek: (weekday - 1) * 24 + hour, label: ((year * 100 + month) * 100 + day) * 100 + hour };
}
