/** What an ideal observer would need: one who knows the simulation's true rates, the weather and the day included. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Interval } from "../../src/lib/intervals.ts";
import { createHourCalendar } from "../../src/simulator/local-time.ts";
import type { Visits } from "../../src/simulator/visits/parameters.ts";
import { type DayPlan, hourRate, type Shop, shopOf } from "../../src/simulator/visits/shops.ts";

type Location = Parameters<typeof shopOf>[1];

interface Given {
  readonly seed: number;
  readonly visits: Visits;
  readonly planAt: (location: Location, at: Instant) => DayPlan;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Fewer come in the first and last half hour, on average half as many. */
const EDGE_MINUTES = 15;

/**
 * Gives the surprise, in nats, of nobody counted in zones of a location in a span. People come as households, so that
 * only these are independent: as many nats as households are expected, and as passages of staff.
 */
export function createIdeal({ seed, visits, planAt }: Given) {
  const calendar = createHourCalendar();
  const shops = new Map<string, Shop>();
  const { sizes } = visits.groups;
  const size = sizes.reduce((sum, one, i) => sum + one * (i + 1), 0) / sizes.reduce((sum, one) => sum + one, 0);
  return (location: Location, taxonomies: readonly string[], { from, to }: Interval): number => {
    const shop = shops.get(location.id) ?? shopOf(seed, location, visits);
    shops.set(location.id, shop);
    const reach = reachOf(visits, taxonomies);
    let nats = 0;
    for (const hour of calendar.hoursBetween(from - HOUR_MS, to, location.timezone)) {
      const plan = planAt(location, hour.startAt);
      const began = hour.startAt - hour.hour * HOUR_MS;
      const opens = Math.max(from, hour.startAt, began + (plan.opens + EDGE_MINUTES) * MINUTE_MS);
      const closes = Math.min(to, hour.startAt + HOUR_MS, began + (plan.closes - EDGE_MINUTES) * MINUTE_MS);
      if (closes <= opens) continue;
      const households = (hourRate(shop, hour, plan, visits) / size) * reach.customers;
      nats += (households + shop.staff * visits.staff.passes * reach.staff) * ((closes - opens) / HOUR_MS);
    }
    return nats * visits.cameras.detection;
  };
}

/** The share of a location's customers, and of its staff, that comes to any of these zones at the most. */
function reachOf({ zones }: Visits, taxonomies: readonly string[]) {
  const entrances = zones.reduce((sum, { entrance = 0 }) => sum + entrance, 0);
  const shares = new Map<string, number>();
  for (const { name, entrance, from, reach } of zones)
    shares.set(name, entrance ? entrance / entrances : reach * (from === undefined ? 1 : (shares.get(from) ?? 1)));
  const own = zones.filter(({ taxonomy }) => taxonomies.includes(taxonomy));
  const sum = (of: typeof own) => of.reduce((total, { name }) => total + (shares.get(name) ?? 0), 0);
  return { customers: Math.min(1, sum(own)), staff: sum(own.filter(({ entrance }) => entrance)) };
}
