/**
 * The process that sweeps: createSweep as the engine wires it, without BullMQ, against a simulator and a Redis of
 * other processes. Beside it the floor: the same frames parsed and the same documents read and written, bare.
 */
import { Redis } from "ioredis";
import { planIntegrations } from "../src/app/integrations.ts";
import { createAssigned } from "../src/cluster/shard-assignment.ts";
import { parseConfig } from "../src/config/load.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLogger } from "../src/lib/log.ts";
import { createCommit } from "../src/poll/commit.ts";
import { createInventoryJob } from "../src/poll/inventory.ts";
import { createSweep } from "../src/poll/sweep.ts";
import { createService } from "../src/service/service.ts";
import { createStore } from "../src/store/store.ts";
import { answerParent } from "./child.ts";
import { costOf } from "./measure.ts";
import { statusFrames } from "./status-frames.ts";

/** As many shards at once as the engine sweeps. */
const AT_ONCE = 8;
const PREFIX = "lenswatch";
const DAY_MS = 86_400_000;

let swept: Promise<Sweeping> | undefined;

answerParent({
  open: async ({ config }: { config: string }) => {
    swept = open(config);
    await swept;
  },
  ids: async () => (await opened()).ids(),
  sweep: async () => (await opened()).sweep(),
  figures: async () => (await opened()).figures(),
  floor: async () => (await opened()).floor(),
  frames: async () => (await opened()).frames(),
});
process.on("SIGTERM", () => process.exit());

function opened(): Promise<Sweeping> {
  if (!swept) throw new Error("not opened yet");
  return swept;
}

type Sweeping = Awaited<ReturnType<typeof open>>;

async function open(text: string) {
  const parsed = parseConfig(text, { file: "bench.yaml", env: {} });
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  const { config } = parsed;
  const { watch, rules, route } = config;
  const redis = new Redis(config.redis.url ?? "");
  const store = createStore(redis, PREFIX);
  const shared = { clock: systemClock, log: silentLogger };
  const service = createService({ ...shared, config: config.service });
  const assigned = createAssigned();
  const inventory = createInventoryJob({
    ...shared,
    service,
    assignments: store.assignments,
    assigned,
    inventory: store.inventory,
    store: store.shards,
    watch,
    locationDetails: [],
    signal: new AbortController().signal,
    assignedChanged: async () => {},
  });
  const failures: string[] = [];
  const sweep = createSweep({
    ...shared,
    service,
    store: store.shards,
    firing: store.firing,
    assigned,
    inventory: store.inventory,
    nameThem: inventory.nameThem,
    moved: () => {},
    commit: createCommit({
      ...shared,
      route,
      integrations: planIntegrations(config).map(({ integration }) => integration),
      wake: async () => {},
    }),
    uptime: { ...store.uptime, refreshFigures: (shard) => store.uptime.refreshFigures(shard, 0) },
    schedules: () => ({ scheduleOf: () => undefined, scheduleBegan: () => undefined, inSchedule: () => true }),
    rules,
    watch: { ...watch, exclude: [] },
    swept: (outcome) => {
      if (outcome !== "ok") failures.push(outcome);
    },
  });
  await inventory.refresh();
  const shards = assigned.shards();
  let frames: Buffer[] = [];

  return {
    async ids(): Promise<string[]> {
      const states = await store.shards.readAll(shards);
      return states.flatMap(({ recordings }) => [...recordings.keys()]);
    },
    async sweep() {
      const cost = await costOf(() => each(shards, sweep));
      if (failures.length > 0) throw new Error(`${failures.length} sweeps failed: ${failures[0]}`);
      return cost;
    },
    /** Uptime figures as a daemon has them, so that every sweep looks them up. */
    async figures() {
      for (const shard of shards) {
        const { state } = await store.shards.read(shard);
        const rows = new Map([...state.recordings.keys()].map((id) => [id, { ratios: [0.99] }]));
        await store.uptime.saveFigures(shard, { at: Date.now(), kinds: [DAY_MS], rows });
      }
    },
    /** Fetches the frames again; gives their bytes. */
    async frames(): Promise<number> {
      frames = await statusFrames(
        config.service,
        shards.map((shard) => assigned.locations(shard)),
      );
      return frames.reduce((sum, { length }) => sum + length, 0);
    },
    async floor() {
      const documents = await Promise.all(shards.map((shard) => redis.hget(store.keys.shard(shard), "d")));
      const receive = await costOf(() => this.frames());
      const parse = await costOf(() => frames.forEach(parseFrame));
      const access = await costOf(() =>
        each(shards, async (shard) => {
          await redis.get(`floor:${shard}`);
          await redis.set(`floor:${shard}`, documents[shard] ?? "");
        }),
      );
      return { receive, parse, access };
    },
  };
}

/** The rows of `<id>|<part>|<total>|<json>`. */
function parseFrame(frame: Buffer): unknown {
  let bar = -1;
  for (let i = 0; i < 3; i++) bar = frame.indexOf("|", bar + 1);
  return JSON.parse(frame.toString("utf8", bar + 1));
}

/** So many at once, until all are done. */
async function each(shards: readonly number[], work: (shard: number) => Promise<unknown>): Promise<void> {
  const left = [...shards];
  const worker = async () => {
    for (let shard = left.shift(); shard !== undefined; shard = left.shift()) await work(shard);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
