import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Queues } from "../../src/cluster/queues.ts";
import { Schedulers } from "../../src/cluster/schedulers.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { connectRedis } from "../../src/store/redis.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

describeWithRedis("queues", () => {
  let redis: TestRedis;
  let queues: Queues;
  beforeAll(async () => {
    redis = await startTestRedis();
    queues = new Queues({
      connect: (name) => connectRedis({ url: redis.url }, silentLogger, name),
      prefix: "{queues}",
      log: silentLogger,
      onFailed: (queue, error) => expect.unreachable(`${queue}: ${error.message}`),
    });
    await queues.open();
  });
  afterAll(async () => {
    await queues.close();
    await redis.stop();
  });

  it("wait for a wake-up that a running job added until it is due, not until the next whole second", async () => {
    const watching = new Redis(redis.url);
    const monitor = await watching.monitor();
    const waits: number[] = [];
    monitor.on("monitor", (_time, [command, , timeout]: string[]) => {
      if (command?.toLowerCase() === "bzpopmin") waits.push(Number(timeout));
    });
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
    await queues.work("deliver", 2, async ({ data }) => {
      if (data.late) wake();
      else await queues.add("deliver", { late: true }, { delayMs: 1_300 });
    });
    await queues.add("deliver", {});
    await woken;
    const isExact = (seconds: number) => seconds < 1.31 && !Number.isInteger(seconds);
    expect(waits.filter(isExact)).not.toEqual([]);
    monitor.disconnect();
    watching.disconnect();
  });

  it("know the schedulers whose job waits for a worker", async () => {
    await queues.every("upkeep", "one", 60_000, { shard: 0 });
    await queues.every("upkeep", "the:other", 60_000, { shard: 1 });
    await queues.add("upkeep", { shard: 2 });
    expect(await queues.waiting("upkeep")).toEqual(new Set(["one", "the:other"]));
    const { promise: done, resolve } = Promise.withResolvers<void>();
    await queues.work("upkeep", 1, async ({ data }) => void (data.shard === 2 && resolve()));
    await done;
    expect(await queues.waiting("upkeep")).toEqual(new Set<string>());
  });

  it("a sweep that waits for a worker for long is one job, however often schedulers are revived", async () => {
    const assigned = createAssigned();
    assigned.set(new Map([["north", 0]]));
    const clock = { at: 0 };
    const everyMs = { statusIntervalMs: 10_000, inventoryIntervalMs: 1e9, requestTimeoutMs: 1e9, slotJobs: [] };
    const schedulers = new Schedulers({ clock: { now: () => clock.at }, queues, assigned, ...everyMs });
    await schedulers.assert(new Map());
    for (let i = 0; i < 5; i++) {
      clock.at += 30_000;
      await schedulers.revive(new Map());
    }
    const waiting: number[] = [];
    const queueJobs = (name: string, state: string, count: number) =>
      void (name === "sweep" && state === "waiting" && waiting.push(count));
    await queues.count({ queueJobs });
    expect(waiting).toEqual([1]);
  });
});
