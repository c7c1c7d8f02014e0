/** What reading visitor counts asks of the service, counted on the wire, an hour of a clock of its own at a time. */

import { Redis } from "ioredis";
import { createAssigned } from "../src/cluster/shard-assignment.ts";
import { judgeShard } from "../src/health/judge.ts";
import type { Rule } from "../src/health/model.ts";
import { overviewAfter } from "../src/health/shard-overview.ts";
import { HOUR_MS, type Instant } from "../src/lib/clock.ts";
import { silentLogger } from "../src/lib/log.ts";
import { HOURS_KEPT, localDays } from "../src/poll/counts-plan.ts";
import { createRefreshDetails } from "../src/poll/details.ts";
import { createInventoryJob } from "../src/poll/inventory.ts";
import { createRefreshCounts } from "../src/poll/refresh-counts.ts";
import { createService } from "../src/service/service.ts";
import { startSimulator } from "../src/simulator/simulator.ts";
import type { KeptSeries } from "../src/store/counts.ts";
import { emptyShard } from "../src/store/shard-document.ts";
import { createStore, type Store } from "../src/store/store.ts";
import { startTestRedis } from "../test/support/redis.ts";
import type { Report, Row } from "./report.ts";

const LOCATIONS = 1_000;
const RECORDINGS_PER_LOCATION = 4;
const PER_SHARD = 50;
const INTERVAL_MS = 600_000;
const ROUTES = ["entries", "area/data", "transactions/conversion-rate"] as const;
/** A Thursday in November. */
const DAY = Date.UTC(2026, 10, 19);

const countsRule: Rule = {
  id: "CountsImplausible",
  alert: "CountsImplausible",
  when: { kind: "counts", sensitivity: 30 },
  forMs: 0,
  keepFiringForMs: 0,
  respectSchedule: false,
  labels: {},
  annotations: {},
};

/** An hour at first, and two of a day after which nothing of the past is missing. */
export async function benchCounts(): Promise<Report> {
  const rows: Row[] = [];
  for (const [read, rules] of [
    ["entries", []],
    ["entries, zones and sales", [countsRule]],
  ] as const) {
    await using reading = await startReading(rules);
    rows.push({ read, hour: "the first", ...(await reading.hour(DAY + 11 * HOUR_MS)) });
    for (const first of [30, 36]) {
      await reading.fill(DAY + first * HOUR_MS - INTERVAL_MS);
      rows.push({ read, hour: `later, from ${first - 24}:00`, ...(await reading.hour(DAY + first * HOUR_MS)) });
    }
  }
  return {
    title: `Reading the counts of ${LOCATIONS} locations`,
    baseline: "our limit of one request per location and ten minutes",
    columns: {
      read: "read",
      hour: "hour",
      all: "requests an hour",
      ...Object.fromEntries(ROUTES.map((route) => [route, route])),
      limit: "limit",
      share: "share of it",
    },
    rows,
    notes: [
      `Counted by the simulator: ${LOCATIONS} locations with ${RECORDINGS_PER_LOCATION} recordings in ${LOCATIONS / PER_SHARD} shards, some of them abroad.`,
      "Later: the eight weeks before are stored, those of today and yesterday as they were read at first.",
    ],
  };
}

/** The daemon's work on counts beside its inventory, without its sweeps. */
async function startReading(rules: readonly Rule[]) {
  let at = DAY;
  const shared = { clock: { now: () => at }, log: silentLogger };
  const fleet = { locations: LOCATIONS, recordingsPerLocation: RECORDINGS_PER_LOCATION, seed: 1 };
  const [simulator, server] = await Promise.all([startSimulator({ ...fleet, clock: shared.clock }), startTestRedis()]);
  const settings = { ...simulator, requestTimeoutMs: 60_000, uptimeIndexTimezone: "recording" as const };
  const redis = new Redis(server.url);
  const store = createStore(redis, "bench");
  const service = createService({ ...shared, config: settings });
  const assigned = createAssigned();
  const watch = { locations: "all" as const, exclude: [], forgetAfterMs: 24 * HOUR_MS, locationsPerRequest: PER_SHARD };
  const { signal } = new AbortController();
  const deps = { ...store, ...shared, service, assigned, watch, signal };
  await createInventoryJob({
    ...deps,
    store: store.shards,
    locationDetails: [],
    assignedChanged: async () => {},
  }).refresh();
  const details = createRefreshDetails({ ...deps, store, locationsPerRequest: PER_SHARD });
  const counts = { intervalMs: INTERVAL_MS, closedDays: [] };
  const { refresh } = createRefreshCounts({ ...deps, rules, config: { counts } });
  const asked: string[] = [];
  simulator.events.on("request", ({ transport, endpoint }) => {
    if (transport === "socket") asked.push(endpoint);
  });
  for (const shard of assigned.shards()) {
    await sweep(shard);
    await details(shard, signal);
  }

  async function sweep(shard: number): Promise<void> {
    const locationIds = assigned.locations(shard);
    const before = { nonce: "", state: emptyShard };
    const snapshot = await service.statusUptime({ entities: locationIds, entityType: "location" });
    const { patch } = judgeShard(before.state, snapshot, {
      now: at,
      intervalMs: 5_000,
      forgetAfterMs: watch.forgetAfterMs,
      rules: [],
      inventory: store.inventory,
      locationIds,
      isAssigned: () => true,
      excluded: new Set(),
      uptime: () => undefined,
      inSchedule: () => true,
      scheduleOf: () => undefined,
      scheduleBegan: () => undefined,
    });
    const overview = overviewAfter(patch, { intervalMs: 5_000, inventory: store.inventory });
    await store.shards.commitShard(shard, { before, patch, overview, now: at, changes: [] });
  }

  return {
    /** What is asked in the hour from `since`, by route. */
    async hour(since: Instant): Promise<Row> {
      asked.length = 0;
      for (at = since; at < since + HOUR_MS; at += INTERVAL_MS) {
        // More at once than the daemon reads: that changes how long it takes, not what is asked.
        await Promise.all(assigned.shards().map((shard) => refresh(shard, signal)));
      }
      const limit = (LOCATIONS * HOUR_MS) / INTERVAL_MS;
      const by = ROUTES.map((route) => [route, asked.filter((one) => one === route).length]);
      return { all: asked.length, ...Object.fromEntries(by), limit, share: asked.length / limit };
    },
    /** Stores what would have been read by then. */
    async fill(by: Instant): Promise<void> {
      for (const id of assigned.shards().flatMap((shard) => assigned.locations(shard))) {
        await fillLocation(store, id, by, rules.length > 0);
      }
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      redis.disconnect();
      await Promise.all([simulator.close(), server.stop()]);
    },
  };
}

async function fillLocation(store: Store, id: string, by: Instant, all: boolean): Promise<void> {
  const { timezone = "UTC" } = store.inventory.location(id) ?? {};
  const days = localDays(timezone, by);
  const last = Array.from({ length: HOURS_KEPT }, (_, back) => days.lastHour - back * HOUR_MS);
  const isCorrected = by >= days.today + 6 * HOUR_MS;
  const early = new Set(last.filter((hour) => hour >= (isCorrected ? days.today : days.yesterday)));
  const series: KeptSeries = { hours: new Map(last.map((hour) => [hour, 10])), early, readings: [] };
  const zones = [...((await store.zones.read([id])).get(id)?.values() ?? [])].flat();
  await store.counts.save(id, {
    timezone,
    entries: series,
    zones: new Map(all ? zones.map((zone) => [zone, series]) : []),
    sales: all ? series : undefined,
  });
}
