/** Cost of the idle daemon, of its start, and of a refresh of all uptime figures. */
import { setTimeout as sleep } from "node:timers/promises";
import { startDaemon } from "../test/support/daemon.ts";
import { compiled, memorySettings } from "./compile.ts";
import { configText } from "./config-text.ts";
import { cpuSeconds, load, memory, resetPeak } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage } from "./stage.ts";
import { watchDaemon } from "./watching.ts";

const INTERVAL = "5s";
/** For everything that starting stirred up to lie down again. */
const SETTLE_MS = 10_000;

/** `lenswatch run` at a 5 s interval, watched from outside for so many seconds. */
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
      peakMb: "peak MB",
      endMb: "end MB",
      redisMb: "redis MB",
      load: "load",
    },
    rows,
    notes: [
      "start: from spawn until every shard was swept and all uptime figures (72 h) were read for the first time.",
      "steady: sweeps alone. uptime refresh: every shard's figures again, with sweeps going on; due every 10 minutes.",
      "The 30 days from before a recording was known are read once, behind the figures: partly within what is measured.",
    ],
  };
}

async function watchFleet(recordings: number, seconds: number): Promise<Row[]> {
  await using stage = await prepareStage(recordings);
  const webhooks = ["http://127.0.0.1:9/services/bench"];
  const { service, redis } = stage;
  const config = configText({ service, redisUrl: redis.url, statusInterval: INTERVAL, webhooks });
  const watching = watchDaemon(redis.url, recordings);
  const daemon = await startDaemon(config, { main: compiled("src/main.ts"), env: memorySettings });
  const phase = async (name: string, work: () => Promise<unknown>): Promise<Row> => ({
    recordings,
    phase: name,
    ...(await observe(daemon.pid, redis.pid, work)),
  });
  try {
    const start = await phase("start", async () => {
      await daemon.logged("started");
      await watching.swept(0);
      await watching.figured(0);
    });
    await sleep(SETTLE_MS);
    const steady = await phase("steady", () => sleep(seconds * 1000));
    const refresh = await phase("uptime refresh", async () => {
      const since = Date.now();
      await watching.refreshUptime();
      await watching.figured(since);
    });
    return [start, compared(steady), refresh];
  } finally {
    await watching.close();
    await daemon.end("SIGTERM");
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

async function observe(pid: number, redisPid: number, work: () => Promise<unknown>): Promise<Row> {
  const began = performance.now();
  const cpu = cpuSeconds(pid);
  const redisCpu = cpuSeconds(redisPid);
  resetPeak(pid);
  await work();
  const seconds = (performance.now() - began) / 1000;
  const spent = cpuSeconds(pid) - cpu;
  const { nowMb, peakMb } = memory(pid);
  return {
    seconds,
    cpuSeconds: spent,
    cpuPerMinute: (spent / seconds) * 60,
    redisCpuPerMinute: ((cpuSeconds(redisPid) - redisCpu) / seconds) * 60,
    peakMb,
    endMb: nowMb,
    redisMb: memory(redisPid).nowMb,
    load: load(),
  };
}
