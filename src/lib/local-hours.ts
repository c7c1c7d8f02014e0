/** Hours as a clock on the wall shows them. Zones are slow to ask: a quarter of an hour is asked for once. */
import { DateTime } from "luxon";
import type { Instant } from "./clock.ts";

export interface LocalHour {
  /** 0 Monday 00:00 to 167 Sunday 23:00. */
  readonly ofWeek: number;
  /** yyyyMMddHH: later hours have greater ones; where clocks go back, two hours have the same. */
  readonly label: number;
}

export interface LocalHours {
  at(instant: Instant, timezone: string): LocalHour;
}

/** No zone is off by a part of it. */
const QUARTER_MS = 900_000;
const QUARTERS_KEPT = 5_000;

export function createLocalHours(): LocalHours {
  const zones = new Map<string, Map<number, LocalHour>>();
  return {
    at(instant, timezone) {
      const known = zones.get(timezone) ?? new Map<number, LocalHour>();
      zones.set(timezone, known);
      const quarter = Math.floor(instant / QUARTER_MS);
      const found = known.get(quarter) ?? localHour(quarter * QUARTER_MS, timezone);
      if (known.size >= QUARTERS_KEPT) known.clear();
      known.set(quarter, found);
      return found;
    },
  };
}

function localHour(at: Instant, timezone: string): LocalHour {
  const asked = DateTime.fromMillis(at, { zone: timezone });
  const { weekday, year, month, day, hour } = asked.isValid
    ? asked
    : DateTime.fromMillis(at, { zone: "utc" });
  return { ofWeek: (weekday - 1) * 24 + hour, label: ((year * 100 + month) * 100 + day) * 100 + hour };
}
