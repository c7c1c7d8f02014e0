/** The people of a local day at a location: when each household comes, to which zones it goes, and what is sold. */
import { MINUTE_MS } from "../../lib/clock.ts";
import type { CalendarHour } from "../local-time.ts";
import { type Chance, chanceOf, pick, poisson, within } from "./chance.ts";
import type { Visits, ZoneShape } from "./parameters.ts";
import { type DayPlan, hourRate, type Shop } from "./shops.ts";

const SLOT_MINUTES = 5;
const SLOTS_PER_HOUR = 12;
const EDGE_MINUTES = 30;
/** After closing time the last people leave. */
const LEAVING_MINUTES = 20;
const PURPOSE = { slot: 81, staff: 83 };

/**
 * One person in one zone, as one number that sorts by time: minute, place of the zone among the world's, and a
 * whole number that stands for the person. It is exact until the year 2051.
 */
export type Visit = number;

const ZONE_BASE = 2 ** 24;
const MINUTE_BASE = 2 ** 29;
const EPOCH_MINUTE = Date.UTC(2020) / MINUTE_MS;

export function visitAt(minute: number, zone: number, person: number): Visit {
  return (minute - EPOCH_MINUTE) * MINUTE_BASE + zone * ZONE_BASE + person;
}

/** The lowest visit at or after an instant. */
export function firstVisitAt(at: number): Visit {
  return (Math.ceil(at / MINUTE_MS) - EPOCH_MINUTE) * MINUTE_BASE;
}

export function minuteOf(visit: Visit): number {
  return Math.floor(visit / MINUTE_BASE) + EPOCH_MINUTE;
}

export function zoneIn(visit: Visit): number {
  return Math.floor(visit / ZONE_BASE) % 32;
}

export function personNumberOf(visit: Visit): number {
  return visit % ZONE_BASE;
}

const STAFF = 2 ** 23;

export function isStaff(person: number): boolean {
  return person >= STAFF;
}

export interface DayOfVisits {
  /** In order of time. */
  readonly visits: Float64Array;
  /** Minutes since 1970 of each sale, in order. */
  readonly sales: Float64Array;
}

type Drawn = { readonly visits: Visit[]; readonly sales: number[] };
type Crowd = { readonly shop: Shop; readonly world: Visits; readonly route: Route; readonly endsAt: number };

/** Draws a day; each slot of five minutes by itself, so that a change of one leaves the others as they are. */
export function drawDay(shop: Shop, hours: readonly CalendarHour[], plan: DayPlan, world: Visits): DayOfVisits {
  const drawn: Drawn = { visits: [], sales: [] };
  const first = hours[0]?.startAt ?? 0;
  const lastMinute = first / MINUTE_MS + hours.length * 60;
  const route = routeOf(world.zones);
  for (const hour of plan.closes > plan.opens ? hours : []) {
    const rate = hourRate(shop, hour, plan, world);
    const left = plan.closes - hour.hour * 60 + LEAVING_MINUTES;
    const crowd = { shop, world, route, endsAt: Math.min(lastMinute, hour.startAt / MINUTE_MS + left) };
    for (let slot = 0; slot < SLOTS_PER_HOUR; slot++) {
      const wall = hour.hour * 60 + slot * SLOT_MINUTES;
      const minute = hour.startAt / MINUTE_MS + slot * SLOT_MINUTES;
      // Fewer come right after opening and shortly before closing time.
      const edge = Math.min(1, (wall - plan.opens + SLOT_MINUTES) / EDGE_MINUTES, (plan.closes - wall) / EDGE_MINUTES);
      if (edge > 0 && wall >= plan.opens) drawCustomers(crowd, minute, rate * edge, drawn);
      if (wall >= plan.opens - 45 && wall < plan.closes + LEAVING_MINUTES) drawStaff(crowd, minute, drawn);
    }
  }
  return { visits: Float64Array.from(drawn.visits).sort(), sales: Float64Array.from(drawn.sales).sort() };
}

function drawCustomers(crowd: Crowd, minute: number, rate: number, drawn: Drawn): void {
  const { shop, world } = crowd;
  const next = chanceOf(shop.key, minute, PURPOSE.slot);
  const { sizes, parties_per_month, party } = world.groups;
  const total = sizes.reduce((sum, one) => sum + one, 0);
  const mean = sizes.reduce((sum, one, i) => sum + one * (i + 1), 0) / total;
  for (let left = poisson(rate / SLOTS_PER_HOUR / mean, next); left > 0; left--) {
    const size = 1 + pick(sizes, next());
    walk(crowd, minute + Math.floor(next() * SLOT_MINUTES), size, next, drawn);
  }
  // A month has about 30 days of ten hours.
  if (next() >= parties_per_month / (30 * 10 * SLOTS_PER_HOUR)) return;
  for (let left = Math.round(within(party, next())); left > 0; left -= 5) {
    walk(crowd, minute + Math.floor(next() * SLOT_MINUTES), Math.min(left, 5), next, drawn);
  }
}

/** A zone with the place of the one it is reached from. */
type Stop = ZoneShape & { readonly fromZone: number | undefined };

interface Route {
  readonly stops: readonly Stop[];
  readonly entrances: readonly number[];
  /** The times of the household under way at each place. */
  readonly reached: Float64Array;
}

const NEVER = -1;

function routeOf(zones: readonly ZoneShape[]): Route {
  const placeOf = (from: string | undefined) => (from ? zones.findIndex(({ name }) => name === from) : undefined);
  const stops = zones.map((zone) => ({ ...zone, fromZone: placeOf(zone.from) }));
  return { stops, entrances: zones.map(({ entrance = 0 }) => entrance), reached: new Float64Array(zones.length) };
}

/** A household goes from zone to zone together; each member is a visit. */
function walk({ shop, route, endsAt }: Crowd, arrival: number, size: number, next: Chance, drawn: Drawn): void {
  const { stops, entrances, reached } = route;
  const firstPerson = Math.floor(next() * (STAFF - size));
  const entrance = pick(entrances, next());
  reached.fill(NEVER);
  for (let zone = 0; zone < stops.length; zone++) {
    const stop = stops[zone] as Stop;
    const before = stop.fromZone === undefined ? arrival : (reached[stop.fromZone] ?? NEVER);
    if (stop.entrance ? zone !== entrance : before === NEVER || next() >= stop.reach) continue;
    const at = stop.entrance ? arrival : before + 1 + Math.floor(-Math.log(1 - next()) * stop.after);
    if (at >= endsAt) continue;
    reached[zone] = at;
    for (let nth = 0; nth < size; nth++) drawn.visits.push(visitAt(at, zone, firstPerson + nth));
  }
  const paidAt = arrival + 3 + Math.floor(next() * 30);
  if (next() < shop.saleRate && paidAt < endsAt) drawn.sales.push(paidAt);
}

/** Staff pass the entrances on their way in, out and to breaks; they buy nothing. */
function drawStaff({ shop, world, route, endsAt }: Crowd, minute: number, drawn: Drawn): void {
  const next = chanceOf(shop.key, minute, PURPOSE.staff);
  for (let left = poisson((shop.staff * world.staff.passes) / SLOTS_PER_HOUR, next); left > 0; left--) {
    const zone = pick(route.entrances, next());
    const at = minute + Math.floor(next() * SLOT_MINUTES);
    const person = STAFF + Math.floor(next() * STAFF);
    if (at < endsAt) drawn.visits.push(visitAt(at, zone, person));
  }
}
