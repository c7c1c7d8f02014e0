/** A fleet on several replicas: each start, on an empty Redis and on a filled one, and what a minute costs after it. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { type Child, startChild } from "./child.ts";
import { configText } from "./config-text.ts";
import { fillRedis } from "./fill.ts";
import { cpuSeconds, load, memory, resetPeak, usedMb } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage, type Stage } from "./stage.ts";
import { watchDaemon } from "./watching.ts";

const INTERVAL = "60s";
/** Both starts together, each with its minute. */
const BOUND_MS = 600_000;
const READY_EVERY_MS = 50;
const SETTLE_MS = 15_000;

interface Case {
  readonly recordings: number;
  readonly replicas: number;
  readonly seconds: number;
}

interface Reading {
  readonly cpuMs: number;
  readonly longestStallMs: number;
  readonly p99StallMs: number;
  readonly commands: Readonly<Record<string, number>>;
}

export async function benchMillion(one: Case): Promise<Report[]> {
  await using stage = await prepareStage(one.recordings);
  const config = configText({
    service: stage.service,
    redisUrl: stage.redis.url,
    statusInterval: INTERVAL,
    onlySweeps: true,
    webhooks: ["http://127.0.0.1:9/services/bench"],
  });
  const starts: Row[] = [];
  const minutes: Row[] = [];
  for (const phase of ["empty", "filled"]) {
    if (phase === "filled") await fillRedis(stage.redis.url, config, one.recordings);
    const [start, ...rows] = await runReplicas(stage, config, one, phase);
    if (start) starts.push(start);
    minutes.push(...rows);
  }
  return [startReport(one, starts), minuteReport(one, minutes)];
}

async function runReplicas(stage: Stage, config: string, one: Case, phase: string): Promise<Row[]> {
  const { recordings, replicas, seconds } = one;
  const patienceMs = BOUND_MS / 2 - SETTLE_MS - seconds * 1000;
  const watching = watchDaemon(stage.redis.url, recordings, patienceMs);
  const redis = new Redis(stage.redis.url);
  const children = Array.from({ length: replicas }, () => startChild("app-process.ts"));
  const [since, began] = [Date.now(), performance.now()];
  const sinceStart = () => (performance.now() - began) / 1000;
  const simulatorCpu = cpuSeconds(stage.servicePid);
  try {
    const ready = children.map((child) => untilReady(child, config, patienceMs).then(sinceStart, () => Number.NaN));
    const whole = await watching.sweptWhole(since).then(sinceStart, () => Number.NaN);
    const readyS = Math.max(...(await Promise.all(ready)));
    const starting = await each(children, (child) => child.ask<Reading>("read"));
    const peakMb = Math.max(...children.map(({ pid }) => memory(pid).peakMb));
    await sleep(SETTLE_MS);
    const minute = await watchMinute(stage, redis, children, seconds);
    const worstStallMs = Math.max(...starting.map(({ longestStallMs }) => longestStallMs));
    const simulatorCpuS = cpuSeconds(stage.servicePid) - simulatorCpu;
    const cpuS = starting.reduce((sum, { cpuMs }) => sum + cpuMs / 1000, 0) / replicas;
    const start = { phase, readyS, wholeS: whole, cpuS, worstStallMs, peakMb, simulatorCpuS, load: load() };
    return [start, ...minute.map((row) => ({ phase, ...row }))];
  } finally {
    await each(children, (child) => child.end());
    await watching.close();
    redis.disconnect();
  }
}

const each = <T>(children: readonly Child[], ask: (child: Child) => Promise<T>) => Promise.all(children.map(ask));

/** Begins with the stalls of the start. */
async function untilReady(child: Child, config: string, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  await child.ask("reset");
  const { address } = await child.ask<{ address: string }>("start", { config });
  while (!(await fetch(`${address}/readyz`)).ok) {
    if (performance.now() > deadline) throw new Error("not ready in time");
    await sleep(READY_EVERY_MS);
  }
}

async function watchMinute({ redis: server, servicePid }: Stage, redis: Redis, children: Child[], seconds: number) {
  await each(children, (child) => child.ask("reset"));
  for (const { pid } of children) resetPeak(pid);
  const pids = [server.pid, servicePid];
  const [before, cpuBefore] = [await processed(redis), pids.map(cpuSeconds)];
  await sleep(seconds * 1000);
  const readings = await each(children, (child) => child.ask<Reading>("read"));
  const after = await processed(redis);
  const perMinute = (total: number) => (total / seconds) * 60;
  const rows = children.map(({ pid }, i) => {
    const { cpuMs = 0, p99StallMs = 0, longestStallMs = 0, commands = {} } = readings[i] ?? {};
    const { nowMb, peakMb } = memory(pid);
    const sent = Object.values(commands).reduce((sum, count) => sum + count, 0) / seconds;
    const cpu = perMinute(cpuMs / 1000);
    return { process: `replica ${i + 1}`, cpu, nowMb, peakMb, p99StallMs, worstStallMs: longestStallMs, sent };
  });
  const sent = rows.reduce((sum, row) => sum + row.sent, 0);
  const [redisCpu, serviceCpu] = pids.map((pid, i) => perMinute(cpuSeconds(pid) - (cpuBefore[i] ?? 0)));
  const ran = (after - before) / seconds;
  return [
    ...rows,
    { process: "Redis", cpu: redisCpu ?? 0, nowMb: await usedMb(redis), peakMb: memory(server.pid).nowMb, sent, ran },
    { process: "simulator", cpu: serviceCpu ?? 0, nowMb: memory(servicePid).nowMb },
  ].map((row) => ({ ...row, load: load() }));
}

async function processed(redis: Redis): Promise<number> {
  return Number(/^total_commands_processed:(\d+)/m.exec(await redis.info("stats"))?.[1]);
}

const shape = ({ recordings, replicas }: Case) => `${recordings.toLocaleString("en-GB")} recordings on ${replicas}`;

function startReport(one: Case, rows: readonly Row[]): Report {
  return {
    title: `The start of ${shape(one)} replicas at one sweep a minute`,
    baseline: "goal: ready with a filled Redis within 20 s at 100,000 and 60 s at 1,000,000",
    columns: {
      phase: "Redis",
      readyS: "all ready, s",
      wholeS: "first whole sweep, s",
      cpuS: "CPU s each until then",
      worstStallMs: "worst stall ms",
      peakMb: "peak MB",
      simulatorCpuS: "simulator CPU s",
      load: "load",
    },
    rows,
    notes: [
      `Bounded to ${BOUND_MS / 60_000} minutes for both: – was not reached. Empty: names and 72 h of uptime are read too.`,
      "Filled: names, states, figures and 72 h of uptime of all recordings are there.",
    ],
  };
}

function minuteReport(one: Case, rows: readonly Row[]): Report {
  return {
    title: `A minute of ${shape(one)} replicas`,
    baseline: "goal at 1,000,000 on four: 8 CPU-s, 350 MB and p99 30 ms each; Redis 1 GB and 300 commands a second",
    columns: {
      phase: "Redis",
      process: "process",
      cpu: "CPU-s a minute",
      nowMb: "resident MB",
      peakMb: "peak MB",
      p99StallMs: "p99 stall ms",
      worstStallMs: "worst ms",
      sent: "commands a second",
      ran: "with those in scripts",
      load: "load",
    },
    rows,
    notes: ["Redis: used memory, and resident as its peak. No counts are read, and uptime at an empty start alone."],
  };
}
