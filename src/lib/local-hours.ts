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
      const known = zones.get(timezone) ?? new Map<number, LocalHour>();
      zones.set(timezone, known);
      const quarter = Math.floor(instant / QUARTER_MS);
      const found = known.get(quarter) ?? localHour(quarter * QUARTER_MS, timezone);
      if (known.size >= MAX_QUARTERS) known.clear();
      known.set(quarter, found);
      return found;
    },
  };
}

function localHour(at: Instant, timezone: string): LocalHour {
  const local = DateTime.fromMillis(at, { zone: timezone });
  const { weekday, year, month, day, hour } = local.isValid ? local : DateTime.fromMillis(at, { zone: "utc" });
  return { ofWeek: (weekday - 1) * 24 + hour, label: ((year * 100 + month) * 100 + day) * 100 + hour };
}
