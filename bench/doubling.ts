/** What a sweep of the whole fleet costs as the fleet doubles. */
import { startChild } from "./child.ts";
import { configText } from "./config-text.ts";
import { fillRedis } from "./fill.ts";
import { type Cost, load, memory, series } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage, RECORDINGS_PER_LOCATION } from "./stage.ts";
import { RULES, redisMeter } from "./sweep.ts";

const SMALLEST = 1_000;
const WARM_UP = 3;

/** From about 1,000 recordings up to `largest`, each twice as many, swept `times` times by one process. */
export async function benchDoubling(largest: number, times: number): Promise<Report> {
  const rows: Row[] = [];
  for (let step = Math.max(0, Math.round(Math.log2(largest / SMALLEST))); step >= 0; step--) {
    const locations = Math.round(largest / 2 ** step / RECORDINGS_PER_LOCATION);
    rows.push(compared(await sweepFilled(locations * RECORDINGS_PER_LOCATION, times), rows.at(-1)));
  }
  return {
    title: "Each time twice as many recordings",
    baseline: "the row before; goal: 2.1 × at each step",
    columns: {
      recordings: "recordings",
      cpuMs: "CPU ms a sweep",
      cpuRatio: "× before",
      redisCpuMs: "redis CPU ms",
      redisRatio: "× before",
      commands: "commands",
      commandsRatio: "× before",
      residentMb: "resident MB",
      residentRatio: "× before",
      load: "load",
    },
    rows,
    notes: ["Medians of healthy sweeps of the whole fleet by one process, with names and uptime figures stored."],
  };
}

async function sweepFilled(recordings: number, times: number): Promise<Row> {
  await using stage = await prepareStage(recordings);
  const webhooks = ["http://127.0.0.1:9/services/bench"];
  const { service, redis } = stage;
  const config = configText({ service, redisUrl: redis.url, statusInterval: "60s", webhooks, rules: RULES });
  await fillRedis(redis.url, config, recordings);
  const child = startChild("sweep-process.ts");
  const server = await redisMeter(redis.url);
  try {
    await child.ask("open", { config });
    for (let i = 0; i < WARM_UP; i++) await child.ask("sweep");
    const sweeps: Cost[] = [];
    for (let i = 0; i < times; i++) {
      await server.begin();
      sweeps.push(await child.ask<Cost>("sweep"));
      await server.end();
    }
    const { redisCpuMs, commands } = server.median();
    const { median: cpuMs } = series(sweeps.map((one) => one.cpuMs));
    return { recordings, cpuMs, redisCpuMs, commands, residentMb: memory(child.pid).nowMb, load: load() };
  } finally {
    server.close();
    await child.end();
  }
}

function compared(row: Row, before: Row | undefined): Row {
  const ratio = (key: string) => Number(row[key]) / Number(before?.[key]);
  return {
    ...row,
    cpuRatio: ratio("cpuMs"),
    redisRatio: ratio("redisCpuMs"),
    commandsRatio: ratio("commands"),
    residentRatio: ratio("residentMb"),
  };
}
