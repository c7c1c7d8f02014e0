/** Another client with write access to the Redis can neither end lenswatch nor lose its own keys. */
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { camerasOf, pictured, prepareWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import type { SlackMessage } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

const RUBBISH = ["", "x", "{", "[]", '{"v":999}', '{"__proto__":{"x":1}}', "\u0000\ud83d", "9".repeat(400)];
const OURS = "{lenswatch}:*";
const PATHS = ["/", "/?show=locations", "/api/v1/recordings", "/api/v1/incidents", "/api/v2/alerts", "/metrics"];

type Spoil = (redis: Redis, key: string, rubbish: string) => Promise<unknown>;

/** Values of the same type with invalid content. */
const spoilValues: Spoil = async (redis, key, rubbish) => {
  switch (await redis.type(key)) {
    case "hash":
      return redis.hset(key, Object.fromEntries((await redis.hkeys(key)).map((field) => [field, rubbish])));
    case "list":
      return redis.lset(key, 0, rubbish);
    case "set":
      return redis.sadd(key, rubbish);
    case "zset":
      return redis.zadd(key, "1", rubbish);
    case "string":
      return redis.set(key, rubbish);
    default:
      return undefined;
  }
};

/** A value of another type than expected. */
const spoilTypes: Spoil = async (redis, key) => {
  const isString = (await redis.type(key)) === "string";
  await redis.del(key);
  return isString ? redis.rpush(key, "x") : redis.set(key, "x");
};

async function spoilAll(redis: Redis, spoil: Spoil): Promise<number> {
  const keys = await redis.keys(OURS);
  // Keys that the daemon repaired meanwhile are overwritten again in the next round.
  for (const [i, key] of keys.entries()) {
    await spoil(redis, key, RUBBISH[i % RUBBISH.length] ?? "").catch(() => undefined);
  }
  return keys.length;
}

describeWithRedis("another client of the same Redis", () => {
  it("a writer of invalid data cannot end the process: every request is answered, and state is built again", async () => {
    await using stage = await prepareWatch();
    const redis = new Redis(stage.redis.url);
    await redis.mset("lenswatch:theirs", "1", "{theirs}:lenswatch", "2");
    const daemon = await startDaemon(stage.config);
    const { address } = await daemon.logged("listening");
    await pictured(stage);
    const [camera, other] = camerasOf(stage);
    stage.simulator.world.setStatus(camera.id, "offline");
    await stage.slack.waitFor(({ shown }) => shown.includes(camera.name));

    for (const spoil of [spoilValues, spoilTypes]) {
      expect(await spoilAll(redis, spoil)).toBeGreaterThan(20);
      for (const path of PATHS) {
        const answer = await fetch(address + path);
        expect([200, 404, 500, 503], `${path}: ${answer.status}`).toContain(answer.status);
        await answer.text();
      }
      expect((await fetch(`${address}/healthz`)).status).toBe(200);
    }
    const { length } = stage.slack.messages;
    await redis.flushall();
    await redis.mset("lenswatch:theirs", "1", "{theirs}:lenswatch", "2");
    const isAgain = (one: SlackMessage) =>
      stage.slack.messages.indexOf(one) >= length && one.shown.includes(camera.name);
    await Promise.any([
      stage.slack.starts.waitFor(({ shown }) => shown.includes(camera.name)),
      stage.slack.waitFor(isAgain),
    ]);
    stage.simulator.world.setStatus(other.id, "offline");
    await stage.slack.waitFor(({ shown }) => shown.includes(other.name));
    await until("nothing of theirs was touched", async () => {
      const theirs = (await redis.keys("*")).filter((key) => !key.startsWith("{lenswatch}"));
      return theirs.sort().join() === "lenswatch:theirs,{theirs}:lenswatch";
    });
    redis.disconnect();
    expect(await daemon.end("SIGTERM")).toBe(0);
  });
});
