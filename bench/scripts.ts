/** Many alerts in one group and a mute time: the longest that Redis and the daemon's event loop stand still. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { stringify } from "yaml";
import { planIntegrations } from "../src/app/integrations.ts";
import type { Config } from "../src/config/config.ts";
import { parseConfig } from "../src/config/load.ts";
import { judgeShard } from "../src/health/judge.ts";
import type { RecordingStatus } from "../src/health/recording.ts";
import { overviewAfter } from "../src/health/shard-overview.ts";
import { silentLogger } from "../src/lib/log.ts";
import { createCommit } from "../src/poll/commit.ts";
import { createStore } from "../src/store/store.ts";
import { startTestRedis } from "../test/support/redis.ts";
import { startSlackSink } from "../test/support/slack-sink.ts";
import { type Child, startChild } from "./child.ts";
import { offlineAtOnce } from "./config-text.ts";
import { load } from "./measure.ts";
import type { Report, Row } from "./report.ts";

const PER_SHARD = 1_000;
const PER_LOCATION = 20;
const FIRING = 10_000;
const BASELINE = 100;
const PATIENCE_MS = 120_000;

/** Fleets of these sizes, each with 100 alerts in one group, then with 10,000. */
export async function benchScripts(sizes: readonly number[]): Promise<Report> {
  const rows: Row[] = [];
  for (const recordings of sizes) {
    const baseline = await phases(recordings, Math.min(BASELINE, recordings));
    const many = await phases(recordings, Math.min(FIRING, recordings));
    for (const [i, row] of many.entries()) {
      const { scriptMs = 0, stallMs = 0 } = baseline[i] ?? {};
      rows.push({ ...row, baseScriptMs: scriptMs, baseStallMs: stallMs, times: Number(row.stallMs) / Number(stallMs) });
    }
  }
  return {
    title: "Many alerts in one group, with a mute time",
    baseline: `the same with ${BASELINE} alerts, in the same run`,
    columns: {
      recordings: "recordings",
      firing: "firing",
      phase: "phase",
      wallMs: "wall ms",
      script: "slowest command",
      scriptMs: "its ms",
      baseScriptMs: "baseline ms",
      stallMs: "longest stall ms",
      baseStallMs: "baseline ms",
      times: "× baseline",
      load: "load",
    },
    rows,
    notes: ["The slowest command: of all that Redis ran meanwhile (SLOWLOG). Every alert is in two groups, one muted."],
  };
}

async function phases(recordings: number, firing: number): Promise<Row[]> {
  const server = await startTestRedis();
  const redis = new Redis(server.url);
  const sink = await startSlackSink();
  const child = startChild("app-process.ts");
  try {
    const config = configOf(server.url, sink.url);
    const fleet = createFleet(redis, config, recordings);
    for (let shard = 0; shard < fleet.shards; shard++) await fleet.sweep(shard, firing - shard * PER_SHARD);
    const measure = measuring(redis, child, { recordings, firing });
    const address = { url: "" };
    const settled = async (messages: number) => {
      await sink.waitFor(() => sink.messages.length >= messages, PATIENCE_MS);
      await sleep(1_000);
    };
    const get = (path: string) => async () => {
      const reply = await fetch(`${address.url}${path}`);
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${path}: ${reply.status}`);
    };
    return [
      await measure("start, first message", async () => {
        address.url = (await child.ask<{ address: string }>("start", { config: config.text })).address;
        await settled(1);
      }),
      await measure("one alert ends", async () => {
        await fleet.sweep(0, Math.min(firing, PER_SHARD) - 1);
        await settled(2);
      }),
      await measure("status page", get("/")),
      await measure("/api/v2/alerts", get("/api/v2/alerts")),
      await measure("/api/v2/alerts/groups", get("/api/v2/alerts/groups")),
      await measure("/metrics", get("/metrics")),
      await measure("all end", async () => {
        for (let shard = 0; shard * PER_SHARD < firing; shard++) await fleet.sweep(shard, 0);
        await settled(3);
      }),
    ];
  } finally {
    await child.end();
    redis.disconnect();
    await sink.close();
    await server.stop();
  }
}

function measuring(redis: Redis, child: Child, facts: Row) {
  const scripts = (redis as unknown as { scriptsSet: Record<string, { sha: string }> }).scriptsSet;
  const names = new Map(Object.entries(scripts).map(([name, { sha }]) => [sha, name.replace("lenswatch_", "")]));
  return async (phase: string, work: () => Promise<unknown>): Promise<Row> => {
    await redis.config("SET", "slowlog-log-slower-than", 500);
    await redis.config("SET", "slowlog-max-len", 20_000);
    await redis.slowlog("RESET");
    await child.ask("reset");
    const began = performance.now();
    await work();
    const wallMs = performance.now() - began;
    const { longestStallMs } = await child.ask<{ longestStallMs: number }>("read");
    const log = (await redis.slowlog("GET", 20_000)) as [number, number, number, string[]][];
    const [slowest] = log.sort((a, b) => b[2] - a[2]);
    const [command = "none above 0.5 ms", sha = ""] = slowest?.[3] ?? [];
    const script = names.get(sha) ?? `${command} ${sha}`.slice(0, 40).toLowerCase();
    return {
      ...facts,
      phase,
      wallMs,
      script,
      scriptMs: (slowest?.[2] ?? 0) / 1000,
      stallMs: longestStallMs,
      load: load(),
    };
  };
}

/** No service answers there: the daemon goes on with what is stored. */
function configOf(redisUrl: string, webhook: string): Config & { text: string } {
  const nowhere = "http://127.0.0.1:9";
  const text = stringify({
    service: {
      base_url: nowhere,
      ws_url: "ws://127.0.0.1:9",
      auth_url: nowhere,
      client_id: "bench",
      client_secret: "bench",
      audience: "bench",
    },
    redis: { url: redisUrl },
    rules: [offlineAtOnce],
    inhibit_rules: [],
    time_intervals: [{ name: "always", time_intervals: [{ times: [{ start_time: "00:00", end_time: "24:00" }] }] }],
    route: {
      receiver: "slack",
      group_by: ["alertname"],
      group_wait: "0s",
      routes: [
        {
          receiver: "muted",
          matchers: ["alertname = RecordingOffline"],
          mute_time_intervals: ["always"],
          continue: true,
        },
        { receiver: "slack", matchers: ["alertname = RecordingOffline"], group_interval: "1s" },
      ],
    },
    receivers: ["slack", "muted"].map((name) => ({ name, slack_configs: [{ api_url: webhook }] })),
    http: { listen: "127.0.0.1:0" },
  });
  const parsed = parseConfig(text, { file: "bench.yaml", env: {} });
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  return { ...parsed.config, text };
}

function createFleet(redis: Redis, config: Config, recordings: number) {
  const store = createStore(redis, "lenswatch");
  const plans = planIntegrations(config);
  const integrations = plans.map(({ integration }) => integration);
  const commit = createCommit({ log: silentLogger, route: config.route, integrations, wake: async () => {} });
  const locationsOf = (shard: number) =>
    Array.from({ length: PER_SHARD / PER_LOCATION }, (_, i) => `location-${shard}-${i}`);
  return {
    shards: Math.ceil(recordings / PER_SHARD),
    /** Stores a sweep of a shard, its first so many recordings offline, as the daemon would. */
    async sweep(shard: number, offline: number): Promise<void> {
      const now = Date.now();
      const locationIds = locationsOf(shard);
      await redis.hset(store.keys.started, { state: "summed", since: 0 });
      await redis.hset(store.keys.assignments, Object.fromEntries(locationIds.map((id) => [id, shard])));
      await redis.hset(store.keys.locationsSeen, Object.fromEntries(locationIds.map((id) => [id, now])));
      const readings = Array.from({ length: PER_SHARD }, (_, i) => ({
        recordingId: `recording-${shard}-${i}`,
        locationId: locationIds[Math.floor(i / PER_LOCATION)],
        status: (i < offline ? "offline" : "online") as RecordingStatus,
        lastSeenAt: i < offline ? now - 60_000 : now,
        averageQuality: 0.99,
      }));
      const before = await store.shards.read(shard);
      const { patch, transitions } = judgeShard(
        before.state,
        { readings, unreadable: [], unidentified: 0 },
        {
          now,
          intervalMs: 30_000,
          forgetAfterMs: 86_400_000,
          rules: config.rules,
          inventory: store.inventory,
          locationIds,
          excluded: new Set(),
          uptime: () => undefined,
          isAssigned: () => false,
          inSchedule: () => true,
          scheduleOf: () => undefined,
          scheduleBegan: () => undefined,
        },
      );
      await commit.evaluation(transitions, (changes) =>
        store.shards.commitShard(shard, {
          before,
          patch,
          overview: overviewAfter(patch, { intervalMs: 5_000, inventory: store.inventory }),
          now,
          changes,
        }),
      );
    },
  };
}
