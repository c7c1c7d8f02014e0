/** A scrape of a large fleet, and how long the daemon's event loop stands still in it and otherwise. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "./child.ts";
import { configText } from "./config-text.ts";
import { fillRedis } from "./fill.ts";
import { load, memory, resetPeak, series } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage } from "./stage.ts";
import { type Watching, watchDaemon } from "./watching.ts";

const INTERVAL_SECONDS = 5;
const SWEEPS = 6;
const SETTLE_MS = 5_000;

interface Reading {
  readonly cpuMs: number;
  readonly longestStallMs: number;
  readonly p99StallMs: number;
  readonly commands: Readonly<Record<string, number>>;
}

interface Addresses {
  readonly address: string;
  readonly copier: string;
}

interface Subject {
  readonly recordings: number;
  readonly child: Child;
  readonly watching: Watching;
  readonly addresses: Addresses;
}

/** Scrapes each fleet `times` times; then only sweeps; then refreshes its uptime figures. */
export async function benchScrape(sizes: readonly number[], times: number): Promise<Report[]> {
  const scrapes: Row[] = [];
  const stalls: Row[] = [];
  for (const recordings of sizes) {
    await inDaemon(recordings, async (subject, starting) => {
      for (const encoding of ["identity", "gzip"]) scrapes.push(await scrapeOften(subject, times, encoding));
      stalls.push(starting, await onlySweeps(subject), await refreshing(subject));
    });
  }
  return [scrapeReport(scrapes), stallReport(stalls)];
}

async function inDaemon(recordings: number, work: (subject: Subject, starting: Row) => Promise<void>): Promise<void> {
  await using stage = await prepareStage(recordings);
  const config = configText({
    service: stage.service,
    redisUrl: stage.redis.url,
    statusInterval: `${INTERVAL_SECONDS}s`,
    webhooks: ["http://127.0.0.1:9/services/bench"],
  });
  await fillRedis(stage.redis.url, config, recordings);
  const watching = watchDaemon(stage.redis.url, recordings);
  const since = Date.now();
  const child = startChild("app-process.ts");
  try {
    await child.ask("reset");
    resetPeak(child.pid);
    const addresses = await child.ask<Addresses>("start", { config });
    await watching.swept(since);
    const starting = stallRow(recordings, "start with a filled Redis", child, await child.ask("read"));
    await sleep(SETTLE_MS);
    await work({ recordings, child, watching, addresses }, starting);
  } finally {
    await child.end();
    await watching.close();
  }
}

async function scrapeOften({ recordings, child, addresses }: Subject, times: number, encoding: string): Promise<Row> {
  const scrapes: Fetched[] = [];
  const copies: Fetched[] = [];
  const longest: number[] = [];
  const bytes = await child.ask<number>("copyOf", { url: `${addresses.address}/metrics` });
  for (let i = 0; i < times; i++) {
    await child.ask("reset");
    scrapes.push(await fetched(child, `${addresses.address}/metrics`, encoding));
    longest.push((await child.ask<Reading>("read")).longestStallMs);
    await child.ask("reset");
    copies.push(await fetched(child, addresses.copier, encoding));
  }
  const median = (all: readonly Fetched[], key: "wallMs" | "cpuMs") => series(all.map((one) => one[key])).median;
  return {
    recordings,
    encoding,
    megabytes: bytes / 1e6,
    series: scrapes[0]?.series ?? 0,
    wallMs: median(scrapes, "wallMs"),
    copyWallMs: median(copies, "wallMs"),
    wallRatio: median(scrapes, "wallMs") / median(copies, "wallMs"),
    cpuMs: median(scrapes, "cpuMs"),
    copyCpuMs: median(copies, "cpuMs"),
    longestStallMs: series(longest).median,
    worstStallMs: series(longest).worst,
    load: load(),
  };
}

interface Fetched {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly series: number;
}

async function fetched(child: Child, url: string, encoding: string): Promise<Fetched> {
  const began = performance.now();
  const body = Buffer.from(await (await fetch(url, { headers: { "accept-encoding": encoding } })).arrayBuffer());
  const wallMs = performance.now() - began;
  const { cpuMs } = await child.ask<Reading>("read");
  const isSample = (line: string) => line !== "" && !line.startsWith("#");
  return { wallMs, cpuMs, series: body.toString("utf8").split("\n").filter(isSample).length };
}

async function onlySweeps({ recordings, child }: Subject): Promise<Row> {
  resetPeak(child.pid);
  await child.ask("reset");
  await sleep(SWEEPS * INTERVAL_SECONDS * 1000);
  const reading = await child.ask<Reading>("read");
  const ours = reading.commands.lenswatch ?? 0;
  const all = Object.values(reading.commands).reduce((sum, count) => sum + count, 0);
  return {
    ...stallRow(recordings, "sweeps alone", child, reading),
    sweepCpuMs: reading.cpuMs / SWEEPS,
    ours: ours / SWEEPS,
    bullmq: (all - ours) / SWEEPS,
  };
}

async function refreshing({ recordings, child, watching }: Subject): Promise<Row> {
  resetPeak(child.pid);
  await child.ask("reset");
  const since = Date.now();
  await watching.refreshUptime();
  await watching.figured(since);
  return stallRow(recordings, "uptime refresh", child, await child.ask("read"));
}

function stallRow(recordings: number, phase: string, child: Child, reading: Reading): Row {
  return {
    recordings,
    phase,
    longestStallMs: reading.longestStallMs,
    p99StallMs: reading.p99StallMs,
    cpuMs: reading.cpuMs,
    peakMb: memory(child.pid).peakMb,
    load: load(),
  };
}

function scrapeReport(rows: readonly Row[]): Report {
  return {
    title: "A scrape of /metrics",
    baseline: "a bare HTTP server in the same process that serves the same bytes over loopback, gzipped alike",
    columns: {
      recordings: "recordings",
      encoding: "encoding",
      megabytes: "MB",
      series: "series",
      wallMs: "wall ms",
      copyWallMs: "copy ms",
      wallRatio: "× copy",
      cpuMs: "CPU ms",
      copyCpuMs: "copy CPU ms",
      longestStallMs: "longest stall ms",
      worstStallMs: "worst",
      load: "load",
    },
    rows,
    notes: ["Sweeps go on meanwhile. Longest stall: the median over the scrapes, and the worst of them."],
  };
}

function stallReport(rows: readonly Row[]): Report {
  return {
    title: "The daemon's event loop, and what BullMQ adds",
    baseline: "a timer of 1 ms in the daemon's own process (perf_hooks.monitorEventLoopDelay)",
    columns: {
      recordings: "recordings",
      phase: "phase",
      longestStallMs: "longest stall ms",
      p99StallMs: "p99 ms",
      cpuMs: "CPU ms",
      sweepCpuMs: "CPU ms a sweep",
      ours: "commands a sweep, ours",
      bullmq: "BullMQ's",
      peakMb: "peak MB",
      load: "load",
    },
    rows,
    notes: [`Commands: what this process sent to Redis per interval of ${INTERVAL_SECONDS} s, its upkeep included.`],
  };
}
