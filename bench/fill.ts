/** Fills a Redis as replicas that watch the simulated fleet leave it: names, healthy states and uptime. */
import { Redis } from "ioredis";
import { parseConfig } from "../src/config/load.ts";
import type { Recording, UptimeBucket } from "../src/health/recording.ts";
import { overviewAfter } from "../src/health/shard-overview.ts";
import { recordingsAfter, type ShardPatch } from "../src/health/shard-patch.ts";
import { afterReading } from "../src/health/shard-state.ts";
import { type Figure, figuresOf, uptimeRetentionMs } from "../src/health/uptime.ts";
import { chunksOf } from "../src/lib/chunks.ts";
import { DAY_MS, HOUR_MS } from "../src/lib/clock.ts";
import { advance, calendarOf } from "../src/poll/uptime-days.ts";
import { makeLocation, makeRecording } from "../src/simulator/fleet.ts";
import { Traits } from "../src/simulator/traits.ts";
import { Visits } from "../src/simulator/visits/parameters.ts";
import { emptyShard } from "../src/store/shard-document.ts";
import { createStore, type Store } from "../src/store/store.ts";
import type { UptimeHistory } from "../src/store/uptime-history.ts";
import { RECORDINGS_PER_LOCATION } from "./stage.ts";

const PREFIX = "lenswatch";
/** The simulator's own, unless told otherwise. */
const SEED = 1;
/** As far back as is read at first. */
const PAST_MS = 30 * DAY_MS;
const LOCATIONS_AT_ONCE = 1_000;
const MADE_LIKE = { traits: Traits.parse({}), visits: Visits.parse({}) };

type Place = ReturnType<typeof makeLocation>;

/** With no replica running. What they left to be read of uptime is dropped: it is there. */
export async function fillRedis(redisUrl: string, configText: string, recordings: number): Promise<void> {
  const parsed = parseConfig(configText, { file: "bench.yaml", env: {} });
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  const { rules, watch } = parsed.config;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const store = createStore(redis, PREFIX);
  const now = Date.now();
  const places = Array.from({ length: Math.ceil(recordings / RECORDINGS_PER_LOCATION) }, (_, index) =>
    makeLocation(SEED, index, MADE_LIKE.traits),
  );
  const assigned = await store.assignments.update(
    places.map(({ id }) => id),
    [],
    watch.locationsPerRequest,
  );
  for (const page of chunksOf(places, LOCATIONS_AT_ONCE)) {
    await store.inventory.saveLocations(page.map(({ id, name, timezone }) => ({ id, name, timezone })));
    const ids = page.map(({ id }) => id);
    await store.assignments.noteSeen(ids, now);
  }
  const history = historyAt(now, uptimeRetentionMs(rules));
  const figures = figuresOf(rules).map(({ key }) => key);
  for (const [shard, here] of Map.groupBy(places, ({ id }) => assigned.get(id) ?? 0)) {
    await fillShard(store, shard, { here, now, history, figures });
  }
  await store.shards.noteAttempt("inventory", now);
  await store.coldStart.begin(now);
  await store.coldStart.sum([], [], { complete: true, unsettled: 0, recordings: 0, locations: 0, watched: [] }, now);
  redis.disconnect();
}

interface Filling {
  readonly here: readonly Place[];
  readonly now: number;
  readonly history: UptimeHistory;
  readonly figures: readonly Figure[];
}

async function fillShard(store: Store, shard: number, { here, now, history, figures }: Filling): Promise<void> {
  const rows = here.flatMap(recordingsOf);
  await store.inventory.saveRecordings(rows);
  const { nonce } = await store.shards.read(shard);
  const before = { nonce, state: emptyShard };
  const patch = patchOf(here, rows, now);
  const overview = overviewAfter(patch, { intervalMs: 60_000, inventory: store.inventory });
  await store.shards.commitShard(shard, { before, patch, overview, now, changes: [], sweep: { known: rows.length } });
  await store.uptime.saveHistories(shard, new Map(rows.map(({ id }) => [id, history])));
  const ratios = figures.map(() => 0.99);
  await store.uptime.saveFigures(shard, {
    at: now,
    kinds: figures,
    rows: new Map(rows.map(({ id }) => [id, { ratios }])),
  });
  await store.shards.noteAttempt(`uptime:${shard}`, now);
}

function recordingsOf(place: Place): Recording[] {
  const { id: locationId, organisation, timezone } = place;
  return Array.from({ length: RECORDINGS_PER_LOCATION }, (_, i) => {
    const { id, name, cameraServer, useUploadingSchedule } = makeRecording(SEED, place, i, MADE_LIKE);
    return { id, name, organisation, cameraServer, locationId, useUploadingSchedule, timezone };
  });
}

/** All are online. */
function patchOf(here: readonly Place[], rows: readonly Recording[], now: number): ShardPatch {
  const reading = { status: "online" as const, lastSeenAt: now, averageQuality: 0.9 };
  const states = rows.map(({ id, locationId }) => {
    return [
      id,
      afterReading(undefined, { recordingId: id, locationId, ...reading }, locationId, now, undefined),
    ] as const;
  });
  const locations = new Map(here.map(({ id }) => [id, { id, alerts: undefined }]));
  const sweep = { read: new Map(), changed: new Map(states), left: new Set<string>() };
  return { sweptAt: now, ...recordingsAfter({ recordings: new Map() }, sweep), locations };
}

/** Full hours as far back as they are kept, and the days of the past. */
function historyAt(now: number, retainMs: number): UptimeHistory {
  const calendar = calendarOf(now, "UTC", PAST_MS);
  const history = advance(undefined, { from: calendar.oldest, buckets: hoursBefore(now, PAST_MS) }, calendar);
  return { ...history, buckets: hoursBefore(now, retainMs) };
}

function hoursBefore(now: number, spanMs: number): UptimeBucket[] {
  const hours = Math.ceil(spanMs / HOUR_MS);
  const first = now - (now % HOUR_MS) - hours * HOUR_MS;
  return Array.from({ length: hours }, (_, i) => ({
    startAt: first + i * HOUR_MS,
    withinSchedule: true,
    segmentsExpected: 60,
    segmentsReceived: 59 + (i % 2),
    avgUptimeOnSegment: undefined,
    pcSegmentsReceived: undefined,
    overallUptime: 0.98 + (i % 7) / 500,
  }));
}
