/** Cost of the idle daemon, of its starts, and of a refresh of all uptime figures. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { type Child, startChild } from "./child.ts";
import { configText } from "./config-text.ts";
import { fillRedis } from "./fill.ts";
import { cpuSeconds, load, memory, resetPeak, usedMb } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage, type Stage } from "./stage.ts";
import { type Watching, watchDaemon } from "./watching.ts";

const INTERVAL = "5s";
/** For everything that starting stirred up to lie down again. */
const SETTLE_MS = 10_000;
const EMPTY_START_BOUND_MS = 60_000;

/** The daemon at a 5 s interval, watched from outside for so many seconds. */
export async function benchSteady(sizes: readonly number[], seconds: number): Promise<Report> {
  const rows: Row[] = [];
  for (const recordings of sizes) rows.push(...(await watchFleet(recordings, seconds)));
  return {
    title: `The daemon at a ${INTERVAL} interval`,
    baseline:
      "given, not measured here: exporter + Prometheus 2.42 + Alertmanager 0.25 at 5 s and 100,000 recordings: 11 CPU-s a minute, 1.4 GB",
    columns: {
      recordings: "recordings",
      phase: "phase",
      seconds: "s",
      cpuSeconds: "CPU s",
      cpuPerMinute: "CPU-s a minute",
      ofGiven: "of given",
      redisCpuPerMinute: "redis CPU-s a minute",
      ours: "commands a second, ours",
      bullmq: "BullMQ's",
      peakMb: "peak MB",
      endMb: "end MB",
      redisMb: "redis MB",
      load: "load",
    },
    rows,
    notes: [
      `empty start: until every shard was swept, ${EMPTY_START_BOUND_MS / 1000} s at most. All others have a Redis that holds names,`,
      "states, figures, 72 h of uptime and the 30 days from before. steady: sweeps alone; counts are not read.",
      "uptime refresh: every shard's figures again, with sweeps going on; due every 10 minutes. redis MB: used memory.",
    ],
  };
}

async function watchFleet(recordings: number, seconds: number): Promise<Row[]> {
  await using stage = await prepareStage(recordings);
  const { service, redis } = stage;
  const webhooks = ["http://127.0.0.1:9/services/bench"];
  const config = configText({ service, redisUrl: redis.url, statusInterval: INTERVAL, onlySweeps: true, webhooks });
  const begin = (child: Child) => child.ask("start", { config });
  const empty = await inDaemon(stage, recordings, EMPTY_START_BOUND_MS, async ({ child, phase, watching }) => [
    await phase("empty start", async () => {
      await begin(child);
      await watching.sweptWhole(0).catch(() => {});
    }),
  ]);
  await fillRedis(redis.url, config, recordings);
  const filled = await inDaemon(stage, recordings, undefined, async ({ child, phase, watching }) => {
    const since = Date.now();
    const start = await phase("start", async () => {
      await begin(child);
      await watching.swept(since);
    });
    await sleep(SETTLE_MS);
    const steady = await phase("steady", () => sleep(seconds * 1000));
    const refresh = await phase("uptime refresh", async () => {
      const refreshedAt = Date.now();
      await watching.refreshUptime();
      await watching.figured(refreshedAt);
    });
    return [start, compared(steady), refresh];
  });
  return [...empty, ...filled];
}

interface Observed {
  readonly child: Child;
  readonly watching: Watching;
  phase(name: string, work: () => Promise<unknown>): Promise<Row>;
}

async function inDaemon(
  stage: Stage,
  recordings: number,
  patienceMs: number | undefined,
  work: (observed: Observed) => Promise<Row[]>,
): Promise<Row[]> {
  const child = startChild("app-process.ts");
  const watching = watchDaemon(stage.redis.url, recordings, patienceMs);
  const redis = new Redis(stage.redis.url);
  const phase = async (name: string, timed: () => Promise<unknown>): Promise<Row> => {
    return { recordings, phase: name, ...(await observe(child, stage.redis.pid, redis, timed)) };
  };
  try {
    return await work({ child, watching, phase });
  } finally {
    await child.end();
    await watching.close();
    redis.disconnect();
  }
}

const GIVEN_AT = 100_000;
const GIVEN_CPU_PER_MINUTE = 11;

function compared(row: Row): Row {
  const comparable = row.recordings === GIVEN_AT;
  return comparable
    ? { ...row, ofGiven: `${Math.round((100 * Number(row.cpuPerMinute)) / GIVEN_CPU_PER_MINUTE)} %` }
    : row;
}

/** Without its event loop watched, which costs CPU by itself. */
async function observe(child: Child, redisPid: number, redis: Redis, work: () => Promise<unknown>): Promise<Row> {
  const sent = async () => {
    const { commands } = await child.ask<{ commands: Readonly<Record<string, number>> }>("read");
    const all = Object.values(commands).reduce((sum, count) => sum + count, 0);
    const ours = commands.lenswatch ?? 0;
    return { ours, bullmq: all - ours };
  };
  const [before, began] = [await sent(), performance.now()];
  const [cpu, redisCpu] = [cpuSeconds(child.pid), cpuSeconds(redisPid)];
  resetPeak(child.pid);
  await work();
  const seconds = (performance.now() - began) / 1000;
  const spent = cpuSeconds(child.pid) - cpu;
  const redisCpuPerMinute = ((cpuSeconds(redisPid) - redisCpu) / seconds) * 60;
  const { nowMb, peakMb } = memory(child.pid);
  const after = await sent();
  return {
    seconds,
    cpuSeconds: spent,
    cpuPerMinute: (spent / seconds) * 60,
    redisCpuPerMinute,
    ours: (after.ours - before.ours) / seconds,
    bullmq: (after.bullmq - before.bullmq) / seconds,
    peakMb,
    endMb: nowMb,
    redisMb: await usedMb(redis),
    load: load(),
  };
}
