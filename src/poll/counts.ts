/**
 * Reads what was counted at the locations of a shard, in the background: a few requests after each interval, none while
 * the service is in trouble. What is stored tells what is missing, so a crash costs one interval at most.
 */

import type { LocationZones } from "../alerting/impact.ts";
import type { Config } from "../config/config.ts";
import type { Attempt } from "../health/attempt.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import type { KeptCounts, KeptSeries } from "../store/counts.ts";
import type { Store } from "../store/store.ts";
import { askSlowly } from "./ask-slowly.ts";
import type { PollContext } from "./commit.ts";
import { askCounts, type CountsService, type ServedCounts } from "./counts-ask.ts";
import {
  allowanceOf,
  type CountsRequest,
  type CountsRoute,
  costOf,
  HOURS_KEPT,
  isFinal,
  type LocalDays,
  localDays,
  type PlannedLocation,
  planCounts,
  wantedHours,
} from "./counts-plan.ts";

/** A day and a half of readings. */
const READINGS_MS = 36 * HOUR_MS;
/** One answer may lack zones whose eight weeks take days to read: kept for so long, and so many of a location. */
const UNCOVERED_MS = 7 * 24 * HOUR_MS;
const MOST_UNCOVERED = 100;
/** A route that the service refuses is asked again after this long; where it refuses the token, sooner. */
const REFUSED_MS = { bad_request: 6 * HOUR_MS, auth: HOUR_MS / 2 } as const;

interface ReadCountsDeps extends Pick<PollContext, "clock" | "log"> {
  readonly service: CountsService;
  readonly store: Pick<Store, "shards" | "counts" | "zones">;
  readonly assigned: Pick<PollContext["assigned"], "locations" | "shards">;
  readonly watch: Pick<Config["watch"], "locationsPerRequest">;
  readonly intervalMs: number;
  /** True where zones and sales are read beside entries: a rule needs them. */
  readonly all: boolean;
  timezoneOf(locationId: string): string | undefined;
}

/** The counts read of one location, and those now stored. */
export interface CountedLocation {
  readonly id: string;
  readonly counts: KeptCounts;
  readonly days: LocalDays;
  readonly zones: LocationZones;
}

interface Answer {
  readonly request: CountsRequest;
  readonly counted: ServedCounts;
  readonly at: Instant;
}

/**
 * Gives `read(shard, each, signal)`: asks, stores, and hands over each location; the signal ends it between two requests.
 * Resolves to the error that ended it early; `paused` where the service is in trouble and was not asked.
 */
export function createReadCounts(deps: ReadCountsDeps) {
  const { clock, store, assigned, watch, intervalMs } = deps;
  const { routes, isPaused, ask } = createAsk(deps);
  const turns = new Map<number, { readonly turn: number; readonly debt: number }>();

  function plan(shard: number, locations: readonly PlannedLocation[], now: Instant): CountsRequest[] {
    const { turn, debt } = turns.get(shard) ?? { turn: 0, debt: 0 };
    const allowance = allowanceOf(locations.length, intervalMs, assigned.shards().length) - debt;
    const { locationsPerRequest } = watch;
    const planned = planCounts(locations, { now, allowance, turn, locationsPerRequest });
    turns.set(shard, { turn: turn + 1, debt: Math.max(0, costOf(planned) - allowance) });
    return planned;
  }

  return async (
    shard: number,
    each: (location: CountedLocation) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Error | "paused" | undefined> => {
    const now = clock.now();
    if (isPaused(now) || isInTrouble(await store.shards.attempts(), shard)) return "paused";
    const ids = assigned.locations(shard);
    const covered = await store.zones.read(ids);
    const daysOf = createDays(now);
    const locations: PlannedLocation[] = [];
    // Zones of all locations at once would be tens of megabytes.
    const read = async (id: string) => (await store.counts.read([id])).get(id);
    for (const id of ids) {
      const kept = await read(id);
      const days = daysOf(deps.timezoneOf(id) ?? kept?.timezone ?? "UTC");
      const zones = [...new Set([...(covered.get(id)?.values() ?? [])].flat())];
      locations.push({ id, days, zones, wanted: wantedOf(kept, days, zones, routes(), now) });
    }
    const zones = new Map(locations.map((one) => [one.id, one.zones]));
    const { answers, error } = await ask(plan(shard, locations, now), zones, signal);
    for (const { id, days, zones: taxonomies } of locations) {
      const kept = await read(id);
      const counts = withAnswers(kept, id, { answers, days, taxonomies, now, all: deps.all });
      await store.counts.save(id, counts, kept);
      const zones = new Map([...counts.zones].filter(([zone]) => taxonomies.includes(zone)));
      await each({ id, counts: { ...counts, zones }, days, zones: covered.get(id) ?? new Map() });
    }
    return error;
  };
}

/** Asks the service: not for routes that it refused lately, and nothing while it wants to be left alone. */
function createAsk({ service, all, clock, log }: ReadCountsDeps) {
  const refusedUntil = new Map<CountsRoute, Instant>();
  let pausedUntil: Instant = Number.NEGATIVE_INFINITY;
  const isPaused = (now: Instant) => now < pausedUntil;

  const routes = () =>
    (all ? (["entries", "zones", "sales"] as const) : (["entries"] as const)).filter(
      (route) => (refusedUntil.get(route) ?? 0) <= clock.now(),
    );

  async function ask(
    planned: readonly CountsRequest[],
    zones: ReadonlyMap<string, readonly string[]>,
    signal: AbortSignal,
  ) {
    const answers: Answer[] = [];
    for (const request of planned) {
      // Other shards are read meanwhile, and the service may have asked them to wait.
      if (isPaused(clock.now())) break;

      if (!routes().includes(request.route)) continue;
      try {
        const zonesOf = (id: string) => zones.get(id) ?? [];
        const counted = await askCounts(service, request, { zonesOf, ask: (call) => askSlowly(signal, call) });
        answers.push({ request, counted, at: request.to });
      } catch (thrown) {
        const error = toError(thrown);
        const refusedMs = signal.aborted ? undefined : refusedFor(error);
        // Without entries there is nothing to go by.
        if (refusedMs === undefined || request.route === "entries") {
          pausedUntil = clock.now() + ("retryAfterMs" in error ? Number(error.retryAfterMs ?? 0) : 0);
          return { answers, error };
        }
        log.info({ err: error, route: request.route }, "counts refused by the service, reading the others");
        refusedUntil.set(request.route, clock.now() + refusedMs);
      }
    }
    return { answers, error: undefined };
  }

  return { routes, isPaused, ask };
}

/** Undefined: it is no refusal of a route. */
function refusedFor(error: Error): number | undefined {
  if (!(error instanceof CodedError) || error.retryable) return undefined;
  return error.code === "auth" ? REFUSED_MS.auth : REFUSED_MS.bad_request;
}

/** The last sweep of the shard failed, or those of half of the fleet. */
export function isInTrouble(attempts: ReadonlyMap<string, Attempt>, shard: number): boolean {
  const isFailing = (one: Attempt | undefined) => one !== undefined && one.goodAt < one.attemptedAt;
  const all = [...attempts].filter(([subject]) => subject.startsWith("shard:")).map(([, attempt]) => attempt);
  return isFailing(attempts.get(`shard:${shard}`)) || 2 * all.filter(isFailing).length > all.length;
}

function createDays(now: Instant): (timezone: string) => LocalDays {
  const known = new Map<string, LocalDays>();
  return (timezone) => {
    const days = known.get(timezone) ?? localDays(timezone, now);
    known.set(timezone, days);
    return days;
  };
}

function wantedOf(
  kept: KeptCounts | undefined,
  days: LocalDays,
  zones: readonly string[],
  routes: readonly CountsRoute[],
  now: Instant,
): PlannedLocation["wanted"] {
  const series = { entries: [kept?.entries], zones: zones.map((zone) => kept?.zones.get(zone)), sales: [kept?.sales] };
  return Object.fromEntries(routes.map((route) => [route, wantedHours(series[route], days, now)]));
}

interface Answered {
  readonly answers: readonly Answer[];
  readonly days: LocalDays;
  readonly taxonomies: readonly string[];
  readonly now: Instant;
  readonly all: boolean;
}

/** The stored counts with the answers in them; of zones that no recording covers for long, and of what is too old, nothing. */
function withAnswers(
  kept: KeptCounts | undefined,
  id: string,
  { answers, days, taxonomies, now, all }: Answered,
): KeptCounts {
  const seriesOf = (before: KeptSeries | undefined, route: CountsRoute, zone = ""): KeptSeries => {
    const oldest = days.lastHour - HOURS_KEPT * HOUR_MS;
    const readings = (before?.readings ?? []).filter(({ at }) => at > now - READINGS_MS && at <= now);
    const fresh: [hour: Instant, count: number | null][] = [];
    for (const { request, counted, at } of answers) {
      const count = counted.get(id)?.get(zone);
      if (request.route !== route || count === undefined) continue;
      if (request.kind === "reading") readings.push({ at, since: request.from, count });
      else fresh.push([request.from, count]);
    }
    if (before && fresh.length === 0) return { ...before, readings };
    // Hours that begin elsewhere are of another time zone, or of clocks half an hour off: no series is stored with both.
    const isKept = (hour: Instant) => hour > oldest && (days.lastHour - hour) % HOUR_MS === 0;
    const hours = new Map([...(before?.hours ?? []), ...fresh].filter(([hour]) => isKept(hour)));
    const early = [...(before?.early ?? []), ...fresh.map(([hour]) => hour)].filter((hour) => hours.has(hour));
    const isOpen = (hour: Instant) => !fresh.some(([one]) => one === hour) || !isFinal(hour, days, now);
    return { hours, early: new Set(early.filter(isOpen)), readings };
  };
  const isRecent = ({ hours }: KeptSeries) => hours.keys().some((hour) => hour > now - UNCOVERED_MS);
  const uncovered = [...(kept?.zones ?? [])].filter(([zone, one]) => !taxonomies.includes(zone) && isRecent(one));
  const zones = taxonomies.map((zone) => [zone, seriesOf(kept?.zones.get(zone), "zones", zone)] as const);
  return {
    timezone: days.timezone,
    entries: seriesOf(kept?.entries, "entries"),
    zones: new Map(all ? [...zones, ...uncovered.slice(0, MOST_UNCOVERED)] : []),
    sales: all ? seriesOf(kept?.sales, "sales") : undefined,
  };
}
