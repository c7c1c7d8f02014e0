/** Keys deleted in Redis are created again, without extra notifications. */
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { camerasOf, startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const keys = keysUnder("lenswatch");

describeWithRedis("reconciling", () => {
  it("needs no job that was deleted, and creates assignments again, without extra notifications", async () => {
    await using watch = await startWatch();
    const redis = new Redis(watch.redis.url);
    const { slack, simulator } = watch;
    const [camera] = camerasOf(watch);
    let notified = 0;
    /** The recording goes offline, or online again: one message says so. */
    const flips = async (status: "offline" | "online") => {
      simulator.world.setStatus(camera.id, status);
      const { text, shown } = await slack.next();
      expect(shown).toContain(camera.name);
      expect(text.startsWith("✅")).toBe(status === "online");
      expect(slack.messages).toHaveLength(++notified);
    };
    await flips("offline");
    const jobs = await redis.keys(`${keys.queuePrefix}:*:*`);
    const queued = jobs.filter((key) => /:(?:deliver|digest):/.test(key));
    expect(queued.length).toBeGreaterThan(0);
    await redis.del(...queued);
    await flips("online");

    const { assignments } = keys;
    await flips("offline");
    await redis.hdel(assignments, camera.location.id);
    const isAssigned = async () => (await redis.hexists(assignments, camera.location.id)) === 1;
    await until("it is assigned again", isAssigned);
    await flips("online");
    await redis.del(assignments);
    await until("all are assigned again", async () => (await redis.hlen(assignments)) === 4);
    await flips("offline");
    redis.disconnect();
  });
});
