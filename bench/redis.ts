/** Redis use of a watched fleet: memory by purpose, and traffic and disk writes per sweep. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { type Keys, keysUnder } from "../src/store/keys.ts";
import { startDaemon } from "../test/support/daemon.ts";
import { configText } from "./config-text.ts";
import { load } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage } from "./stage.ts";
import { watchDaemon } from "./watching.ts";

const INTERVAL_S = 5;
const SETTLE_MS = 10_000;
const MB = 1e6;

/** Fleets of these sizes, each swept and with all its uptime figures; then watched for so many seconds. */
export async function benchRedis(sizes: readonly number[], seconds: number): Promise<Report> {
  const rows: Row[] = [];
  for (const recordings of sizes) rows.push(await fill(recordings, seconds));
  return {
    title: "What Redis holds and moves",
    baseline: "an empty server of the same version, in the same run",
    columns: {
      recordings: "recordings",
      emptyMb: "empty MB",
      usedMb: "used MB",
      peakMb: "peak MB",
      rssMb: "resident MB",
      bytesEach: "bytes a recording",
      uptimeMb: "uptime MB",
      namesMb: "names MB",
      shardsMb: "shards MB",
      restMb: "rest MB",
      inMb: "in MB a sweep",
      outMb: "out MB a sweep",
      aofMb: "append-only file MB a sweep",
      load: "load",
    },
    rows,
    notes: [
      "After a start with the default rules: 72 h of uptime history, no incident log yet. uptime, names, shards: MEMORY USAGE.",
      `Of a sweep of the whole fleet with nothing changing, at an interval of ${INTERVAL_S} s; all else that goes on included.`,
      "No figure for the append-only file where Redis rewrote it meanwhile.",
    ],
  };
}

async function fill(recordings: number, seconds: number): Promise<Row> {
  await using stage = await prepareStage(recordings);
  const { service, redis: server } = stage;
  const redis = new Redis(server.url);
  const empty = await look(redis);
  const webhooks = ["http://127.0.0.1:9/services/bench"];
  const statusInterval = `${INTERVAL_S}s`;
  const daemon = await startDaemon(configText({ service, redisUrl: server.url, statusInterval, webhooks }));
  const watching = watchDaemon(server.url, recordings);
  try {
    await watching.swept(0);
    await watching.figured(0);
    await sleep(SETTLE_MS);
    const before = await look(redis);
    await sleep(seconds * 1000);
    const after = await look(redis);
    const bySweep = (field: "received" | "sent" | "appended") =>
      ((after[field] - before[field]) / seconds) * (INTERVAL_S / MB);
    const rewritten = after.rewrites !== before.rewrites;
    const kinds = await usageByKind(redis, keysUnder("lenswatch"), watching.shards);
    const known = kinds.uptimeMb + kinds.namesMb + kinds.shardsMb;
    return {
      recordings,
      emptyMb: empty.used / MB,
      usedMb: after.used / MB,
      peakMb: after.peak / MB,
      rssMb: after.resident / MB,
      bytesEach: (after.used - empty.used) / recordings,
      ...kinds,
      restMb: (after.used - empty.used) / MB - known,
      inMb: bySweep("received"),
      outMb: bySweep("sent"),
      aofMb: rewritten ? Number.NaN : bySweep("appended"),
      load: load(),
    };
  } finally {
    await watching.close();
    await daemon.end("SIGTERM");
    redis.disconnect();
  }
}

/** Bytes, as the server counts them; `appended` restarts with each of the `rewrites` of its file. */
async function look(redis: Redis) {
  const text = await redis.info("memory", "stats", "persistence");
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1]);
  return {
    used: field("used_memory"),
    peak: field("used_memory_peak"),
    resident: field("used_memory_rss"),
    received: field("total_net_input_bytes"),
    sent: field("total_net_output_bytes"),
    appended: field("aof_current_size"),
    rewrites: field("aof_rewrites"),
  };
}

async function usageByKind(redis: Redis, keys: Keys, shards: number) {
  const numbers = Array.from({ length: shards }, (_, i) => i);
  const mbOf = async (names: readonly string[]) => {
    const sizes = await Promise.all(names.map((name) => redis.memory("USAGE", name, "SAMPLES", 0)));
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) / MB;
  };
  return {
    uptimeMb: await mbOf(numbers.map(keys.uptime)),
    namesMb: await mbOf([keys.recordings, keys.locations, keys.assignments, keys.locationsSeen, keys.zones]),
    shardsMb: await mbOf(numbers.flatMap((shard) => [keys.shard(shard), keys.figures(shard)])),
  };
}
