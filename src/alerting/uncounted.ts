/** Visits that were not counted while something was offline: an estimate from the usual count of whole days. Pure. */
import type { Instant } from "../lib/clock.ts";
import type { LocalHours } from "../lib/local-hours.ts";
import type { UsualEntries } from "./impact.ts";

const QUARTER_MS = 900_000;
const HOURS_OF_DAY = 24;
/** Longer outages are not estimated. */
const LONGEST_MS = 14 * 86_400_000;
const SHORTEST_MS = 60_000;
/** Of a location without a schedule: its visits are taken to come from 9:00 to 18:00. */
const USUAL_OPEN = { from: 9, to: 18 };

interface Outage {
  readonly from: Instant;
  readonly to: Instant;
  readonly timezone: string;
  /** Of the location's recordings, those that are offline, 0–1: each is taken to count the same. */
  readonly share: number;
  /** `1` within the schedule, for each hour from Monday 00:00 on; undefined without one. */
  readonly schedule: string | undefined;
}

/**
 * The day's usual visits, spread evenly over its open hours, for the open time of the outage; rounded. Undefined under a
 * minute, for less than five visits, and where a day has no usual count.
 */
export function uncountedOf(outage: Outage, usual: UsualEntries, hours: LocalHours): number | undefined {
  const { from, to, timezone, share, schedule } = outage;
  if (to - from < SHORTEST_MS || to - from > LONGEST_MS) return undefined;
  const isOpen = (ofWeek: number) => isOpenAt(ofWeek, schedule);
  let visits = 0;
  for (let at = from; at < to; ) {
    const next = Math.min(to, (Math.floor(at / QUARTER_MS) + 1) * QUARTER_MS);
    const { ofWeek } = hours.at(at, timezone);
    const weekday = Math.floor(ofWeek / HOURS_OF_DAY);
    const entries = usual[weekday];
    if (isOpen(ofWeek)) {
      if (entries === undefined) return undefined;
      visits += ((next - at) / 3_600_000) * (entries / openHours(weekday, isOpen));
    }
    at = next;
  }
  return rounded(visits * share);
}

function isOpenAt(ofWeek: number, schedule: string | undefined): boolean {
  const hour = ofWeek % HOURS_OF_DAY;
  return schedule === undefined ? hour >= USUAL_OPEN.from && hour < USUAL_OPEN.to : schedule[ofWeek] === "1";
}

function openHours(weekday: number, isOpen: (ofWeek: number) => boolean): number {
  return Array.from({ length: HOURS_OF_DAY }, (_, i) => weekday * HOURS_OF_DAY + i).filter(isOpen).length;
}

/** To fives, from a hundred on to tens, from a thousand on to hundreds. */
function rounded(visits: number): number | undefined {
  const step = visits < 100 ? 5 : visits < 1_000 ? 10 : 100;
  return Math.round(visits / step) * step || undefined;
}
