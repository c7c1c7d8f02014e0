/** The bucket of an uptime entry, `YYYY-MM-DD HH:mm` in local time, as an instant, cached by zone and hour. */
import { IANAZone } from "luxon";
import { DAY_MS, type Instant, MINUTE_MS } from "../lib/clock.ts";

/** A local time: `at` is its first instant; `again` the second where clocks went back over it. */
export interface WallTime {
  readonly at: Instant;
  readonly again: Instant | undefined;
  /** Clocks jumped over it, so the local time does not exist. `at` is then as far after the jump. */
  readonly skipped: boolean;
}

export type WallClock = ReturnType<typeof createWallClock>;

const INDEX = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::\d\d(?:\.\d{1,6})?)?$/;
const MAX_ZONES = 700;
const MAX_TIMES = 5_000;
/** Longer zone names and times are invalid, and are not cached. */
const MAX_ZONE_LENGTH = 64;
const MAX_INDEX_LENGTH = 30;

interface KnownZone {
  /** Undefined: no such zone. Luxon caches every zone it creates, so it creates none for unknown names. */
  readonly zone: IANAZone | undefined;
  readonly times: Map<string, WallTime | undefined>;
}

export function createWallClock() {
  const zones = new Map<string, KnownZone>();

  function known(name: string): KnownZone | undefined {
    if (name.length > MAX_ZONE_LENGTH) return undefined;
    let entry = zones.get(name);
    if (!entry) {
      if (zones.size >= MAX_ZONES) zones.clear();
      entry = { zone: IANAZone.isValidZone(name) ? IANAZone.create(name) : undefined, times: new Map() };
      zones.set(name, entry);
    }
    return entry;
  }

  return {
    isZone: (name: string) => known(name)?.zone !== undefined,
    /** Undefined where the text is no local time. The zone `name` must be one that `isZone` accepts. */
    read(index: string, name: string): WallTime | undefined {
      const { zone, times } = known(name) ?? {};
      if (!zone || !times || index.length > MAX_INDEX_LENGTH) return undefined;
      const read = times.get(index);
      if (read || times.has(index)) return read;
      if (times.size >= MAX_TIMES) times.clear();
      const time = onTheWall(index, zone);
      times.set(index, time);
      return time;
    },
  };
}

function onTheWall(index: string, zone: IANAZone): WallTime | undefined {
  const asUtc = parseIndex(index);
  if (asUtc === undefined) return undefined;
  const before = zone.offset(asUtc - DAY_MS) * MINUTE_MS;
  const after = zone.offset(asUtc + DAY_MS) * MINUTE_MS;
  const shows = (at: Instant) => at + zone.offset(at) * MINUTE_MS === asUtc;
  const [at, again] = [...new Set([asUtc - before, asUtc - after])].filter(shows).sort((a, b) => a - b);
  if (at === undefined) return { at: asUtc - before, again: undefined, skipped: true };
  return { at, again, skipped: false };
}

function parseIndex(index: string): Instant | undefined {
  const match = INDEX.exec(index);
  if (!match) return undefined;
  const [year, month, day, hour, minute] = match.slice(1).map(Number) as [number, number, number, number, number];
  const at = Date.UTC(year, month - 1, day, hour, minute);
  // Date.UTC rolls 31 June over to 1 July.
  return hour < 24 && minute < 60 && new Date(at).getUTCDate() === day && month <= 12 ? at : undefined;
}
