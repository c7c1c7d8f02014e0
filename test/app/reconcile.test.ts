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

function cameras({ simulator }: Watch) {
  const [first, second] = simulator.world.locations.map(({ recordings }) => recordings[0]);
  if (!first || !second) throw new Error("no cameras");
  return [first, second] as const;
}

describeWithRedis("reconciling", () => {
  it.concurrent("deleted schedulers are created again, and a flip meanwhile is notified once", async () => {
    await using watch = await startWatch();
    await using hand = hands(watch);
    const [camera] = cameras(watch);
    const queue = hand.queue("sweep-0");
    const schedulers = await queue.getJobSchedulers(0, -1);
    expect(schedulers.length).toBeGreaterThan(0);
    for (const { key } of schedulers) await queue.removeJobScheduler(key);
    expect(await queue.getJobSchedulers(0, -1)).toEqual([]);
    watch.simulator.world.setStatus(camera.id, "offline");
    expect((await watch.slack.next()).shown).toContain(camera.name);
    await until("there are schedulers", async () => (await queue.getJobSchedulers(0, -1)).length === schedulers.length);
    watch.simulator.world.setStatus(camera.id, "online");
    expect((await watch.slack.next()).text).toMatch(/^✅/);
    expect(watch.slack.messages).toHaveLength(2);
  });

  it.concurrent("deleted queues are filled again, and a due message is sent once", async () => {
    await using watch = await startWatch({
      route: "{ receiver: ops, group_by: [location_id], group_wait: 3s, group_interval: 1s, repeat_interval: 4h }",
    });
    await using hand = hands(watch);
    const [camera, other] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await until("it is due", async () => (await hand.redis.zcard(keys.due("ops/slack/0"))) > 0);
    const names = await hand.redis.keys(`${keys.queuePrefix}:{sweep-0,deliver,upkeep,digest}:*`);
    const jobs = names.length > 0 ? names : await hand.redis.keys(`${keys.queuePrefix}:*:*`);
    const queued = jobs.filter((key) => /:(?:sweep-0|deliver|upkeep|digest):/.test(key));
    expect(queued.length).toBeGreaterThan(5);
    await hand.redis.del(...queued);
    expect((await watch.slack.next()).shown).toContain(camera.name);
    watch.simulator.world.setStatus(other.id, "offline");
    expect((await watch.slack.next()).shown).toContain(other.name);
    expect(watch.slack.messages).toHaveLength(2);
  });

  it.concurrent("a location without a shard is assigned one, without a notification", async () => {
    await using watch = await startWatch();
    await using hand = hands(watch);
    const [camera, other] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await hand.redis.hdel(keys.assignments, camera.location.id);
    await until(
      "it is assigned again",
      async () => (await hand.redis.hexists(keys.assignments, camera.location.id)) === 1,
    );
    watch.simulator.world.setStatus(other.id, "offline");
    expect((await watch.slack.next()).shown).toContain(other.name);
    watch.simulator.world.setStatus(camera.id, "online");
    const ended = await watch.slack.next();
    expect(ended.text).toMatch(/^✅/);
    expect(ended.shown).toContain(camera.name);
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("deleted shards are assigned again, without a notification", async () => {
    await using watch = await startWatch();
    await using hand = hands(watch);
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await hand.redis.del(keys.assignments);
    await until("they are assigned again", async () => (await hand.redis.hlen(keys.assignments)) === 4);
    watch.simulator.world.setStatus(camera.id, "online");
    expect((await watch.slack.next()).text).toMatch(/^✅/);
    expect(watch.slack.messages).toHaveLength(2);
  });
});
