/** The cost of one sweep of the whole fleet beside its floor. */
import { Redis } from "ioredis";
import { startChild } from "./child.ts";
import { configText, offlineAtOnce } from "./config-text.ts";
import { type Cost, load, series } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage, type Stage } from "./stage.ts";

const WARM_UP = 4;
const FLIPPING_SHARE = 0.01;

/** One rule of each kind; offline recordings are notified at once. */
export const RULES = [
  offlineAtOnce,
  { alert: "LowQuality", when: { average_quality: { below: 0.7, clear_above: 0.8 } }, for: "15m" },
  { alert: "LowUptime", when: { overall_uptime: { below: 0.95, clear_above: 0.97, over: "24h" } } },
  { alert: "RecordingMissing", when: { missing: true }, for: "10m" },
  { alert: "LocationOffline", when: { location_offline: { at_least: "100%", clear_below: "80%", min_recordings: 2 } } },
  {
    alert: "CameraServerOffline",
    when: { group_offline: { by: "camera_server", at_least: "100%", clear_below: "80%", min_recordings: 3 } },
  },
];

interface Floor {
  readonly receive: Cost;
  readonly parse: Cost;
  readonly access: Cost;
}

/** Sweeps fleets of these sizes `times` times each: healthy, with 1 % going offline, and with these coming back. */
export async function benchSweep(sizes: readonly number[], times: number): Promise<Report> {
  const rows: Row[] = [];
  for (const recordings of sizes) {
    await using stage = await prepareStage(recordings);
    rows.push(...(await sweepFleet(stage, recordings, times)));
  }
  return {
    title: "One sweep of the whole fleet",
    baseline: "floor = JSON.parse of the same frames, and GET and SET of the same documents, in the same process",
    columns: {
      recordings: "recordings",
      fleet: "fleet",
      cpuMs: "CPU ms",
      cpuWorst: "worst",
      floorCpuMs: "floor CPU ms",
      cpuRatio: "× floor",
      receiveCpuMs: "receiving ms",
      receivedRatio: "× floor and receiving",
      wallMs: "wall ms",
      wallWorst: "worst",
      floorWallMs: "floor wall ms",
      wallRatio: "× floor",
      redisCpuMs: "redis CPU ms",
      commands: "commands",
      replyMb: "reply MB",
      writtenMb: "written MB",
      load: "load",
    },
    rows,
    notes: [
      "CPU of the sweeping process alone; its ratio is the median sweep's over the median floor's.",
      "Receiving: the CPU of getting the same frames over a bare WebSocket, which the floor leaves out.",
      "Commands are those the server counted, what scripts call inside included; written: all that it was sent.",
    ],
  };
}

async function sweepFleet(stage: Stage, recordings: number, times: number): Promise<Row[]> {
  const config = configText({
    service: stage.service,
    redisUrl: stage.redis.url,
    statusInterval: "5s",
    webhooks: ["http://127.0.0.1:9/services/bench"],
    rules: RULES,
  });
  const child = startChild("sweep-process.ts");
  try {
    await child.ask("open", { config });
    await child.ask("sweep");
    await child.ask("figures");
    for (let i = 0; i < WARM_UP; i++) await child.ask("sweep");
    const replyBytes = await child.ask<number>("frames");
    for (let i = 0; i < WARM_UP; i++) await child.ask("floor");
    const ids = await child.ask<string[]>("ids");
    const flipping = ids.filter((_, i) => i % (1 / FLIPPING_SHARE) === 0);
    const measured = { stage, recordings, replyMb: replyBytes / 1e6, times, ask: child.ask };
    const healthy = await measure(measured, { healthy: undefined });
    const turn = (status: "online" | "offline") => () => stage.setStatus(flipping, status);
    return [...healthy, ...(await measure(measured, { "1 % off": turn("offline"), "1 % back": turn("online") }))];
  } finally {
    await child.end();
  }
}

interface Measured {
  readonly stage: Stage;
  readonly recordings: number;
  readonly replyMb: number;
  readonly times: number;
  readonly ask: <T>(name: string) => Promise<T>;
}

/** Sweeps fleets in turns, each after what its turn changes. */
async function measure(
  { stage, times, ask, ...facts }: Measured,
  fleets: Readonly<Record<string, (() => Promise<unknown>) | undefined>>,
): Promise<Row[]> {
  const floors: Floor[] = [];
  const runs = await Promise.all(
    Object.entries(fleets).map(async ([fleet, turn]) => {
      return { fleet, turn, sweeps: [] as Cost[], server: await redisMeter(stage.redis.url) };
    }),
  );
  for (let i = 0; i < times; i++) {
    for (const { turn, sweeps, server } of runs) {
      await turn?.();
      await server.begin();
      sweeps.push(await ask<Cost>("sweep"));
      await server.end();
      floors.push(await ask<Floor>("floor"));
    }
  }
  for (const { server } of runs) server.close();
  return runs.map(({ fleet, sweeps, server }) => ({ ...facts, fleet, ...rowOf(sweeps, floors), ...server.median() }));
}

function rowOf(sweeps: readonly Cost[], floors: readonly Floor[]): Row {
  const cpu = series(sweeps.map(({ cpuMs }) => cpuMs));
  const wall = series(sweeps.map(({ wallMs }) => wallMs));
  const floorCpuMs = series(floors.map(({ parse, access }) => parse.cpuMs + access.cpuMs)).median;
  const receiveCpuMs = series(floors.map(({ receive }) => receive.cpuMs)).median;
  const floorWallMs = series(floors.map(({ parse, access }) => parse.wallMs + access.wallMs)).median;
  return {
    cpuMs: cpu.median,
    cpuWorst: cpu.worst,
    floorCpuMs,
    cpuRatio: cpu.median / floorCpuMs,
    receiveCpuMs,
    receivedRatio: cpu.median / (floorCpuMs + receiveCpuMs),
    wallMs: wall.median,
    wallWorst: wall.worst,
    floorWallMs,
    wallRatio: wall.median / floorWallMs,
    parseCpuMs: series(floors.map(({ parse }) => parse.cpuMs)).median,
    load: load(),
  };
}

/** CPU and commands of the server between `begin` and `end`, its own two looks left out. */
export async function redisMeter(url: string) {
  const redis = new Redis(url);
  const look = async () => {
    const text = await redis.info("cpu", "stats");
    const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
    return {
      cpuMs: 1000 * (field("used_cpu_user") + field("used_cpu_sys")),
      commands: field("total_commands_processed"),
      writtenMb: field("total_net_input_bytes") / 1e6,
    };
  };
  let before = await look();
  const spent: (typeof before)[] = [];
  return {
    async begin() {
      before = await look();
    },
    async end() {
      const after = await look();
      const commands = after.commands - before.commands - 1;
      spent.push({ cpuMs: after.cpuMs - before.cpuMs, commands, writtenMb: after.writtenMb - before.writtenMb });
    },
    median: () => ({
      redisCpuMs: series(spent.map(({ cpuMs }) => cpuMs)).median,
      commands: series(spent.map(({ commands }) => commands)).median,
      writtenMb: series(spent.map(({ writtenMb }) => writtenMb)).median,
    }),
    close: () => redis.disconnect(),
  };
}
