import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Queues } from "../../src/cluster/queues.ts";
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
});
