/**
 * Visits that outages kept from being counted, from what is stored: no message waits for it, and the service is not
 * asked. An episode gets its estimate once its hours were read, and a last one once the service corrects them no more.
 */

import { visitsOf, visitsOnce } from "../alerting/uncounted.ts";
import type { Config } from "../config/config.ts";
import { costsVisits, visitsLostDuring } from "../counts/location-outage.ts";
import type { CountedHours, NothingLost, VisitsLost } from "../counts/visits-lost.ts";
import type { Alert } from "../health/alert.ts";
import { labelsOfLocation } from "../health/recording-evaluator.ts";
import { chunksOf } from "../lib/chunks.ts";
import { type Clock, HOUR_MS, type Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { keptFor } from "../lib/kept.ts";
import { createRecent } from "../lib/recent.ts";
import { createYielder, mapYielding } from "../lib/yield.ts";
import type { KeptCounts } from "../store/counts.ts";
import { type StoredEpisode, toStoredEpisode } from "../store/episodes.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";
import { closedDaysOf } from "./counts-assess.ts";

interface UncountedDeps extends Pick<Store, "firing"> {
  readonly counts: Pick<Store["counts"], "read">;
  readonly episodes: Pick<Store["episodes"], "endedSince" | "replace">;
  readonly inventory: Pick<Store["inventory"], "recording" | "location">;
  readonly shards: Pick<Store["shards"], "read">;
  readonly assigned: Pick<PollContext["assigned"], "shardOf">;
  readonly closedDays: Config["counts"]["closedDays"];
  readonly metrics: { visitsUncounted(visits: number): void };
  readonly clock: Clock;
}

/** The age of the oldest counts that are stored. */
const HISTORY_MS = 57 * 24 * HOUR_MS;
const READ_FOR_MS = 60_000;
const SETTLE_EVERY_MS = 10 * 60_000;
/** The last hour of an outage is over, and was read. */
const READ_AFTER_MS = 1.5 * HOUR_MS;
/** Counts that were not corrected in this time will not be. */
const SETTLED_AFTER_MS = 72 * HOUR_MS;
const LOCATIONS_AT_ONCE = 50;
/** An estimate of what still lasts is used for so long. */
const ESTIMATE_FOR_MS = 60_000;
/** An estimate that nobody asked for in this time is dropped. */
const ASKED_WITHIN_MS = 15 * 60_000;
/** Other locations keep the estimates that they have until the next call. */
const LOCATIONS_A_CALL = 100;

/** The outages of the fleet, as far as known. */
interface Outages {
  readonly at: Instant;
  readonly alerts: ReadonlyMap<string | undefined, readonly StoredEpisode[]>;
}

type Placed = Outages & { readonly places: Places };

/** By location id: of how many recordings, and the days on which it is closed. */
type Places = ReadonlyMap<string, { readonly recordings: number; readonly closedDays: readonly string[] }>;

export type Uncounted = ReturnType<typeof createUncounted>;

export function createUncounted(deps: UncountedDeps) {
  const outages = keptFor(READ_FOR_MS, (now) => readOutages(deps, now));
  return {
    /**
     * By id, of those alerts of recordings and locations of which it can be said; firing ones until now, or a moment ago
     * where that takes longer than `withinMs`. None until all were estimated once: sums of some would be too low.
     */
    of: createEstimates(deps, outages),

    /** Gives ended episodes what they cost; does nothing where it did so a moment ago. */
    settle: createSettle(deps, outages),
  };
}

function createEstimates(deps: UncountedDeps, outages: (now: Instant) => Promise<Outages>) {
  type Estimate = { at: Instant; endsAt: Instant | undefined; visits: VisitsLost | undefined };
  const estimates = createRecent<string, Estimate>(ASKED_WITHIN_MS);

  const isFresh = ({ id, endsAt }: StoredEpisode, now: Instant) => {
    const made = estimates.get(id);
    return made !== undefined && made.endsAt === endsAt && now >= made.at && now - made.at < ESTIMATE_FOR_MS;
  };

  async function renew(rows: readonly StoredEpisode[], ids: readonly string[], now: Instant): Promise<void> {
    const [all, kept, places] = await Promise.all([outages(now), deps.counts.read(ids), placesOf(deps, ids)]);
    await mapYielding(rows, (row) => {
      // Another call estimated it meanwhile.
      if (isFresh(row, now)) return;
      const own = kept.get(locationOf(row) ?? "");
      const found = own && estimate(row, { ...all, at: now, places }, own);
      estimates.set(row.id, { at: now, endsAt: row.endsAt, visits: typeof found === "object" ? found : undefined });
    });
  }

  const madeAt = ({ id }: StoredEpisode) => estimates.get(id)?.at ?? 0;

  const areKnown = (rows: readonly StoredEpisode[]) => rows.every(({ id }) => estimates.get(id) !== undefined);

  /** Goes on until all were estimated once. */
  async function renewAll(rows: readonly StoredEpisode[], now: Instant): Promise<void> {
    do {
      const missing = rows.filter((row) => !isFresh(row, now)).sort((a, b) => madeAt(a) - madeAt(b));
      const ids = new Set([...new Set(missing.map((row) => locationOf(row) ?? ""))].slice(0, LOCATIONS_A_CALL));
      if (ids.size === 0) return;
      const here = missing.filter((row) => ids.has(locationOf(row) ?? ""));
      await renew(here, [...ids], now);
    } while (!areKnown(rows));
  }

  return async (alerts: readonly Alert[], now: Instant, withinMs?: number): Promise<Map<string, VisitsLost>> => {
    const rows = alerts.map(toStoredEpisode).filter((row) => costsVisits(row) && locationOf(row) !== undefined);
    const renewed = renewAll(rows, now);
    await (withinMs === undefined ? renewed : withDeadline(renewed, withinMs).catch(() => undefined));
    if (!areKnown(rows)) return new Map();
    return new Map(
      rows.flatMap(({ id }) => {
        const visits = estimates.get(id)?.visits;
        return visits ? [[id, inWholeVisits(visits)] as const] : [];
      }),
    );
  };
}

function createSettle(deps: UncountedDeps, outages: (now: Instant) => Promise<Outages>) {
  const { counts, episodes, clock } = deps;
  let settledAt = 0;

  async function settleAt(id: string, kept: KeptCounts, all: Placed, now: Instant): Promise<void> {
    const rows = all.alerts.get(id) ?? [];
    let here = rows.filter(({ endsAt }) => endsAt !== undefined);
    for (const row of rows.filter((row) => isOpen(row, now))) {
      const after = settled(row, estimate(row, all, kept), kept, all.at);
      if (!after || !(await episodes.replace(row, after))) continue;
      const before = here.filter(({ id }) => id !== row.id);
      here = [...before, after];
      if (after.isSettled) deps.metrics.visitsUncounted(Math.max(0, settledSum(here, now) - settledSum(before, now)));
    }
  }

  return async (): Promise<void> => {
    const now = clock.now();
    if (now - settledAt < SETTLE_EVERY_MS && now >= settledAt) return;
    settledAt = now;
    const all = await outages(now);
    const open = [...all.alerts].flatMap(([id, rows]) => (id && rows.some((row) => isOpen(row, now)) ? [id] : []));
    const maybeYield = createYielder();
    for (const page of chunksOf(open, LOCATIONS_AT_ONCE)) {
      const [kept, places] = await Promise.all([counts.read(page), placesOf(deps, page)]);
      for (const id of page) {
        const own = kept.get(id);
        if (own) await settleAt(id, own, { ...all, places }, now);
        await maybeYield();
      }
    }
  };
}

async function readOutages({ episodes, firing }: UncountedDeps, now: Instant): Promise<Outages> {
  const [ended, open] = await Promise.all([episodes.endedSince(now - HISTORY_MS), firing()]);
  const rows = [...ended, ...open.map(toStoredEpisode)].filter(costsVisits);
  return { at: now, alerts: Map.groupBy(rows, locationOf) };
}

async function placesOf(deps: UncountedDeps, ids: readonly string[]): Promise<Places> {
  const { inventory, shards, assigned, closedDays } = deps;
  const places = new Map<string, { recordings: number; closedDays: readonly string[] }>();
  for (const [shard, here] of Map.groupBy(ids, assigned.shardOf)) {
    const all = shard === undefined ? [] : (await shards.read(shard)).state.recordings.values();
    const byLocation = Map.groupBy(all, ({ locationId }) => locationId);
    for (const id of here) {
      const recordings = (byLocation.get(id) ?? []).map((one) => one.id);
      if (recordings.length === 0) continue;
      const organisation = inventory.recording(recordings[0] ?? "")?.organisation ?? "";
      const { timezone = "" } = inventory.location(id) ?? {};
      const labels = { ...labelsOfLocation(id, inventory), organisation, timezone };
      places.set(id, { recordings: recordings.length, closedDays: closedDaysOf(labels, closedDays) });
    }
  }
  return places;
}

function locationOf({ subject, locationId }: StoredEpisode): string | undefined {
  return subject.kind === "location" ? subject.id : locationId;
}

function estimate(row: StoredEpisode, { at, alerts, places }: Placed, kept: KeptCounts): VisitsLost | NothingLost {
  const id = locationOf(row) ?? "";
  const { recordings = Number.POSITIVE_INFINITY, closedDays } = places.get(id) ?? {};
  const counts: CountedHours = { timezone: kept.timezone, hours: kept.entries.hours, closedDays };
  return visitsLostDuring(row, alerts.get(id) ?? [], recordings, counts, at);
}

/** True where its estimate is missing, or not the last one. */
function isOpen({ endsAt, isSettled }: StoredEpisode, now: Instant): boolean {
  return endsAt !== undefined && !isSettled && now - endsAt >= READ_AFTER_MS && now - endsAt < 2 * SETTLED_AFTER_MS;
}

/** Undefined where there is nothing to store yet. */
function settled(
  row: StoredEpisode,
  found: VisitsLost | NothingLost,
  { entries: { hours, early } }: KeptCounts,
  now: Instant,
): StoredEpisode | undefined {
  const { startsAt, endsAt = now } = row;
  const touched = [...hours.keys()].filter((at) => at < endsAt && at + HOUR_MS > startsAt);
  const isRead = touched.some((at) => at + HOUR_MS >= endsAt) && !touched.some((at) => early.has(at));
  const isFinal = isRead || now - endsAt >= SETTLED_AFTER_MS;
  const isKnown = typeof found === "object";
  if (!isFinal && (!isKnown || row.uncounted)) return undefined;
  const { uncounted: _, ...rest } = row;
  return { ...rest, ...(isKnown && { uncounted: inWholeVisits(found) }), ...(isFinal && { isSettled: true }) };
}

function inWholeVisits({ estimate, low, high }: VisitsLost): VisitsLost {
  return { estimate: Math.round(estimate), low: Math.round(low), high: Math.round(high) };
}

function settledSum(rows: readonly StoredEpisode[], now: Instant): number {
  const episodes = rows.filter(({ isSettled }) => isSettled);
  return visitsOf(visitsOnce([{ episodes }], { from: 0, to: now }, now).flatMap((one) => one.episodes))?.estimate ?? 0;
}
