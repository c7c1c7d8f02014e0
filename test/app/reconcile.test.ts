/** Keys deleted in Redis are created again, without extra notifications. */
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const keys = keysUnder("lenswatch");

/** The daemon's Redis and its queues, as seen by redis-cli. */
function hands({ redis: { url } }: Watch) {
  const connections: Redis[] = [];
  const queues: Queue[] = [];
  const connect = (): Redis => {
    const redis = new Redis(url, { maxRetriesPerRequest: null });
    connections.push(redis);
    return redis;
  };
  return {
    redis: connect(),
    queue(name: string): Queue {
      const queue = new Queue(name, { prefix: keys.queuePrefix, connection: connect() });
      queues.push(queue);
      return queue;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(queues.map((queue) => queue.close()));
      for (const redis of connections) redis.disconnect();
    },
  };
}

describeWithRedis("reconciling", () => {
  it("creates schedulers, jobs and assignments again that were deleted, without extra notifications", async () => {
    await using watch = await startWatch();
    await using hand = hands(watch);
    const { slack, simulator } = watch;
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    let notified = 0;
    /** The recording goes offline, or online again: one message says so. */
    const flips = async (status: "offline" | "online") => {
      simulator.world.setStatus(camera.id, status);
      const { text, shown } = await slack.next();
      expect(shown).toContain(camera.name);
      expect(text.startsWith("✅")).toBe(status === "online");
      expect(slack.messages).toHaveLength(++notified);
    };
    const queue = hand.queue("sweep-0");
    const schedulers = await queue.getJobSchedulers(0, -1);
    expect(schedulers.length).toBeGreaterThan(0);
    for (const { key } of schedulers) await queue.removeJobScheduler(key);
    await flips("offline");
    await until("there are schedulers", async () => (await queue.getJobSchedulers(0, -1)).length === schedulers.length);

    const jobs = await hand.redis.keys(`${keys.queuePrefix}:*:*`);
    const queued = jobs.filter((key) => /:(?:sweep-0|deliver|upkeep|digest):/.test(key));
    expect(queued.length).toBeGreaterThan(5);
    await hand.redis.del(...queued);
    await flips("online");

    const { assignments } = keys;
    await flips("offline");
    await hand.redis.hdel(assignments, camera.location.id);
    const isAssigned = async () => (await hand.redis.hexists(assignments, camera.location.id)) === 1;
    await until("it is assigned again", isAssigned);
    await flips("online");
    await hand.redis.del(assignments);
    await until("all are assigned again", async () => (await hand.redis.hlen(assignments)) === 4);
    await flips("offline");
  });
});
