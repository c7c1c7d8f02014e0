/**
 * Which counts of a shard are asked for at one time, within what its locations allow. Hours are asked for in the order in
 * which they will be needed: those just over, those the service has corrected overnight, then the same hours of earlier
 * weeks, beginning with the hour that runs now. Pure.
 */
import { IANAZone } from "luxon";
import { chunksOf } from "../lib/chunks.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from "../lib/clock.ts";
import type { KeptSeries } from "../store/counts.ts";

export type CountsRoute = "entries" | "zones" | "sales";

/** `hour`: a whole local hour; `reading`: what was counted since the local day began, of sales the day before. */
export interface CountsRequest {
  readonly route: CountsRoute;
  readonly kind: "hour" | "reading";
  readonly from: Instant;
  readonly to: Instant;
  readonly locations: readonly string[];
  /** Requests it takes. */
  readonly cost: number;
}

const WEEK_HOURS = 168;
export const HOURS_KEPT = 8 * WEEK_HOURS;
/** The service has all of an hour so long after its end. */
const SETTLED_MS = 20 * MINUTE_MS;
/** Local hour from which the service has corrected the day before. */
const CORRECTED_BY_MS = 6 * HOUR_MS;
/** Counts are new about every ten minutes: one request per location in that time at most; a shard takes no more than these. */
const PER_LOCATION_MS = 10 * MINUTE_MS;
const MOST_AT_ONCE = 12;
export const ZONES_PER_REQUEST = 200;

/** The most requests of all shards after an interval, unless each has its LEAST_AT_ONCE: no round lasts longer than its readings count. */
const FLEET_MOST = 1_200;
/** Readings of today, of entries, zones and sales. */
const LEAST_AT_ONCE = 4;

/** The requests that one of so many shards may take after each interval. */
export function allowanceOf(locations: number, intervalMs: number, shards: number): number {
  const most = Math.max(LEAST_AT_ONCE, Math.min(MOST_AT_ONCE, Math.floor(FLEET_MOST / shards)));
  return Math.min(most, Math.floor((locations * intervalMs) / PER_LOCATION_MS));
}

/** Days and hours of a time zone at an instant. */
export interface LocalDays {
  readonly timezone: string;
  /** The beginnings of today and yesterday. */
  readonly today: Instant;
  readonly yesterday: Instant;
  /** The last hour that is over, and that the service has all of. */
  readonly lastHour: Instant;
}

export function localDays(timezone: string, now: Instant): LocalDays {
  const zone = IANAZone.create(timezone);
  const offsetAt = (at: Instant) => (zone.isValid ? zone.offset(at) * MINUTE_MS : 0);
  const startOf = (at: Instant) => {
    const midnight = Math.floor((at + offsetAt(at)) / DAY_MS) * DAY_MS;
    const guess = midnight - offsetAt(at);
    return midnight - offsetAt(guess);
  };
  const today = startOf(now);
  const offset = offsetAt(now);
  const lastHour = Math.floor((now - SETTLED_MS + offset) / HOUR_MS) * HOUR_MS - offset - HOUR_MS;
  return { timezone, today, yesterday: startOf(today - HOUR_MS), lastHour };
}

/** True where the service corrects no count of an hour that was read at `now`. */
export function isFinal(hour: Instant, { today, yesterday }: LocalDays, now: Instant): boolean {
  return hour < yesterday || (hour < today && now >= today + CORRECTED_BY_MS);
}

/** An hour to ask for, and how soon: the lower, the sooner. */
type WantedHour = { readonly hour: Instant; readonly rank: number };

/** The hours of all these series that are asked for next, at most so many. `undefined`: nothing is stored of one. */
export function wantedHours(
  all: readonly (KeptSeries | undefined)[],
  days: LocalDays,
  now: Instant,
  most = MOST_AT_ONCE,
): WantedHour[] {
  const wanted: WantedHour[] = [];
  const lacks = (hour: Instant) => all.some((series) => series?.hours.has(hour) !== true);
  const mayBeCorrected = (hour: Instant) => isFinal(hour, days, now) && all.some((series) => series?.early.has(hour));
  for (let rank = 0; rank < WANTED_ORDER.length && wanted.length < most; rank++) {
    const { back, again } = WANTED_ORDER[rank] as (typeof WANTED_ORDER)[number];
    const hour = days.lastHour - back * HOUR_MS;
    if (again ? mayBeCorrected(hour) : lacks(hour)) wanted.push({ hour, rank });
  }
  return wanted;
}

/** Hours before the last one: those of a day, those of two days again, then by the time of the week that comes next. */
const WANTED_ORDER: readonly { readonly back: number; readonly again: boolean }[] = [
  ...Array.from({ length: 24 }, (_, back) => ({ back, again: false })),
  ...Array.from({ length: 72 }, (_, back) => ({ back, again: true })),
  ...Array.from({ length: HOURS_KEPT }, (_, i) => {
    const [phase, week] = [Math.floor(i / 8), i % 8];
    return { back: WEEK_HOURS * (week + 1) - 1 - phase, again: false };
  }).filter(({ back }) => back >= 24),
];

export interface PlannedLocation {
  readonly id: string;
  readonly days: LocalDays;
  /** By route; a route that is not there is not asked. */
  readonly wanted: Readonly<Partial<Record<CountsRoute, readonly WantedHour[]>>>;
  /** Taxonomies of its zones. */
  readonly zones: readonly string[];
}

interface PlanOptions {
  readonly now: Instant;
  /** The most requests. */
  readonly allowance: number;
  /** The number of times the shard was read: where not all can be asked for at once, all have their turn. */
  readonly turn: number;
  readonly locationsPerRequest: number;
}

export function planCounts(locations: readonly PlannedLocation[], options: PlanOptions): CountsRequest[] {
  const { allowance, turn } = options;
  const readings = rotated(readingsOf(locations, options), Math.floor(turn / 2));
  const hours = hoursOf(locations, options);
  const isShort = costOf(readings) >= allowance && turn % 2 === 1;
  const taken: CountsRequest[] = [];
  for (const request of isShort ? [...hours, ...readings] : [...readings, ...hours]) {
    if (costOf(taken) < allowance) taken.push(request);
  }
  return taken;
}

const ROUTES: readonly CountsRoute[] = ["entries", "zones", "sales"];

export function costOf(requests: readonly CountsRequest[]): number {
  return requests.reduce((sum, { cost }) => sum + cost, 0);
}

function readingsOf(locations: readonly PlannedLocation[], { now, locationsPerRequest }: PlanOptions): CountsRequest[] {
  const to = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return ROUTES.flatMap((route) => {
    const asked = locations.filter((one) => one.wanted[route] && (route !== "zones" || one.zones.length > 0));
    const since = ({ days }: PlannedLocation) => (route === "sales" ? days.yesterday : days.today);
    return [...Map.groupBy(asked, since)].flatMap(([from, all]) =>
      from < to ? requests({ route, kind: "reading", from, to }, all, locationsPerRequest) : [],
    );
  });
}

function hoursOf(locations: readonly PlannedLocation[], { locationsPerRequest }: PlanOptions): CountsRequest[] {
  const wanted = locations.flatMap((location) =>
    ROUTES.flatMap((route) => (location.wanted[route] ?? []).map((hour) => ({ ...hour, route, location }))),
  );
  const ranked = wanted.sort((a, b) => a.rank - b.rank || ROUTES.indexOf(a.route) - ROUTES.indexOf(b.route));
  return [...Map.groupBy(ranked, ({ route, hour }) => `${route} ${hour}`).values()].flatMap((all) => {
    const [{ route, hour } = { route: "entries" as const, hour: 0 }] = all;
    const span = { route, kind: "hour", from: hour, to: hour + HOUR_MS } as const;
    return requests(
      span,
      all.map(({ location }) => location),
      locationsPerRequest,
    );
  });
}

type Span = Pick<CountsRequest, "route" | "kind" | "from" | "to">;

function requests(span: Span, locations: readonly PlannedLocation[], perRequest: number): CountsRequest[] {
  return [...chunksOf(locations, perRequest)].map((some) => {
    const zones = new Set(some.flatMap(({ zones }) => zones)).size;
    const cost = span.route === "zones" ? Math.ceil(zones / ZONES_PER_REQUEST) : 1;
    // Sales are a share of entries, which are asked for too.
    return { ...span, locations: some.map(({ id }) => id), cost: span.route === "sales" ? 2 : cost };
  });
}

function rotated<T>(all: readonly T[], by: number): T[] {
  const at = all.length === 0 ? 0 : by % all.length;
  return [...all.slice(at), ...all.slice(0, at)];
}
