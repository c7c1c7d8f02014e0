/** The fleet of a year: regions, sites, camera servers, recordings, and the hours each site uploads. */
import type { Location, Recording } from "../../src/health/recording.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { createLocalHours, type LocalHours } from "../../src/lib/local-hours.ts";
import type { Mix, Range } from "./mix.ts";
import { createYearRandom } from "./random.ts";

export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
const QUARTER = 900_000;

export interface YearRecording extends Recording {
  readonly site: Site;
}

export interface Site extends Location {
  readonly index: number;
  readonly region: number;
  readonly shard: number;
  readonly timezone: string;
  readonly recordings: YearRecording[];
  /** How long after the schedule begins its recordings upload, ms. */
  readonly late: Range;
  /** Undefined: it uploads at all times. */
  readonly hours: Hours | undefined;
}

export interface Fleet {
  readonly span: Range;
  readonly sites: readonly Site[];
  readonly recordings: readonly YearRecording[];
  readonly shards: number;
}

/** The uploading hours of a site, looked up by quarters of an hour. */
export interface Hours {
  isOpen(at: Instant): boolean;
  /** When it is open again; then, where it is. */
  opensAt(at: Instant): Instant;
  /** When it is closed, in order. */
  readonly closed: readonly Range[];
}

export function createFleet(mix: Mix, size: number, seed: number, span: Range): Fleet {
  const random = createYearRandom(seed, "fleet");
  const { fleet, locationsPerRequest } = mix;
  const hoursIn = createHours(span);
  const sites: Site[] = [];
  const recordings: YearRecording[] = [];
  let [region, leftInRegion, server, leftAtServer] = [-1, 0, -1, 0];
  while (recordings.length < size) {
    if (leftInRegion-- <= 0) {
      region++;
      leftInRegion = random.whole(fleet.sitesPerRegion) - 1;
      leftAtServer = 0;
    }
    if (leftAtServer-- <= 0) {
      server++;
      leftAtServer = random.whole(fleet.sitesPerServer) - 1;
    }
    const index = sites.length;
    const timezone = fleet.timezones[region % fleet.timezones.length] ?? "UTC";
    const week = random.chance(fleet.scheduled)
      ? {
          opens: random.whole(fleet.opens),
          closes: random.whole(fleet.closes),
          sundays: !random.chance(fleet.closedSundays),
        }
      : undefined;
    const id = `site-${index}`;
    const shard = Math.floor(index / locationsPerRequest);
    const site: Site = {
      id,
      index,
      region,
      shard,
      timezone,
      name: `Site ${index}`,
      recordings: [],
      late: fleet.late,
      hours: week && hoursIn(timezone, week),
    };
    const count = Math.min(random.whole(fleet.recordingsPerSite), size - recordings.length);
    for (let i = 0; i < count; i++) {
      const recording = {
        id: `${id}-camera-${i}`,
        name: `Camera ${i}`,
        organisation: "year",
        cameraServer: `server-${server}`,
        locationId: id,
        useUploadingSchedule: week !== undefined,
        timezone,
        site,
      };
      site.recordings.push(recording);
      recordings.push(recording);
    }
    sites.push(site);
  }
  return { span, sites, recordings, shards: (sites.at(-1)?.shard ?? 0) + 1 };
}

interface Week {
  readonly opens: number;
  readonly closes: number;
  readonly sundays: boolean;
}

/** Gives the hours of a week in a zone; the same for the same week. */
function createHours(span: Range): (timezone: string, week: Week) => Hours {
  const local = createLocalHours();
  const known = new Map<string, Hours>();
  return (timezone, week) => {
    const key = JSON.stringify([timezone, week]);
    const hours = known.get(key) ?? hoursOf(span, local, timezone, week);
    known.set(key, hours);
    return hours;
  };
}

function hoursOf({ from, to }: Range, local: LocalHours, timezone: string, { opens, closes, sundays }: Week): Hours {
  const first = Math.floor(from / QUARTER) - 1;
  const open = new Uint8Array(Math.ceil(to / QUARTER) - first + 200);
  const closed: { from: Instant; to: Instant }[] = [];
  for (let i = 0; i < open.length; i++) {
    const at = (first + i) * QUARTER;
    const { ofWeek } = local.at(at, timezone);
    const hour = ofWeek % 24;
    if (hour >= opens && hour < closes && (sundays || ofWeek < 144)) open[i] = 1;
    else if (i > 0 && open[i - 1] === 0 && closed.length > 0) (closed.at(-1) as { to: Instant }).to = at + QUARTER;
    else closed.push({ from: at, to: at + QUARTER });
  }
  const isOpen = (at: Instant) => open[Math.floor(at / QUARTER) - first] === 1;
  const opensAt = (at: Instant) => (isOpen(at) ? at : (closed.find((one) => one.to > at)?.to ?? at));
  return { isOpen, opensAt, closed };
}
