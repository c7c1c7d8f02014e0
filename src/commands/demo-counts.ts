/** Counts of the demo's locations as a daemon would have stored them in eight weeks, read from the service. */
import { chunksOf } from "../lib/chunks.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { askCounts, type CountsService, type ServedCounts } from "../poll/counts-ask.ts";
import { HOURS_KEPT, localDays } from "../poll/counts-plan.ts";
import type { SimLocation } from "../simulator/fleet.ts";
import type { KeptSeries } from "../store/counts.ts";
import type { Store } from "../store/store.ts";

const SERVED_AFTER_MS = 600_000;
const AT_ONCE = 64;
/** Hours. */
const WEEK = 168;

/** Entries of every hour, zones of a week and of about the hours of this weekday. Offsets of all time zones must be whole hours. */
export async function storePastCounts(
  locations: readonly SimLocation[],
  deps: { service: CountsService; store: Pick<Store["counts"], "save">; now: Instant; signal: AbortSignal },
): Promise<void> {
  const zones = new Map(locations.map(({ id, recordings }) => [id, recordings.flatMap((one) => one.taxonomies)]));
  const asking = { zonesOf: (id: string) => zones.get(id) ?? [], ask: <T>(call: () => Promise<T>) => call() };
  const read = async (route: "entries" | "zones", hours: readonly Instant[]) => {
    const found = new Map<Instant, ServedCounts>();
    for (const some of chunksOf(hours, AT_ONCE)) {
      deps.signal.throwIfAborted();
      const requests = some.map(async (from) => {
        const span = { route, kind: "hour", from, to: from + HOUR_MS, locations: [...zones.keys()], cost: 1 } as const;
        found.set(from, await askCounts(deps.service, span, asking));
      });
      await Promise.all(requests);
    }
    return found;
  };
  const { lastHour } = localDays("UTC", deps.now);
  const hours = Array.from({ length: HOURS_KEPT }, (_, back) => lastHour - back * HOUR_MS);
  const entries = await read("entries", hours);
  const hoursOfZones = hours.filter((_, back) => back < WEEK || (back + 4) % WEEK < 26);
  const inZones = await read("zones", hoursOfZones);
  for (const { id, timezone } of locations) {
    const { today } = localDays(timezone, deps.now);
    const kept = (all: ReadonlyMap<Instant, ServedCounts>, zone = "") =>
      seriesOf(new Map([...all].map(([hour, counted]) => [hour, counted.get(id)?.get(zone) ?? null])), today);
    const series = new Map(zones.get(id)?.map((zone) => [zone, kept(inZones, zone)]));
    await deps.store.save(id, { timezone, entries: kept(entries), zones: series, sales: undefined });
  }
}

/** With readings of what was counted since the day began, as it was served after each hour. */
function seriesOf(hours: KeptSeries["hours"], today: Instant): KeptSeries {
  let count = 0;
  const ofToday = [...hours].filter(([hour]) => hour >= today).sort(([a], [b]) => a - b);
  const readings = ofToday.map(([hour, counted]) => {
    count += counted ?? 0;
    return { at: hour + HOUR_MS + SERVED_AFTER_MS, since: today, count };
  });
  return { hours, early: new Set(), readings };
}
