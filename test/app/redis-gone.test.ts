import { expect, it } from "vitest";
import { pictured, prepareWatch, startWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describeWithRedis("Redis down", () => {
  it.concurrent("at the start: logs one sentence, and continues without a restart once it is up", async () => {
    await using stage = await prepareWatch();
    await stage.redis.kill();
    const daemon = await startDaemon(stage.config);
    const said = await daemon.logged("Redis is unreachable, retrying. Check redis.url and that it is running");
    expect(said.level).toBe("warn");
    const { address } = await daemon.logged("listening");
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const ready = await fetch(`${address}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain("Redis cannot be reached");
    await stage.redis.restart();
    await pictured(stage);
    const [camera] = stage.simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    stage.simulator.world.setStatus(camera.id, "offline");
    expect((await stage.slack.next()).shown).toContain(camera.name);
    expect(await daemon.end("SIGTERM")).toBe(0);
  });

  it.concurrent("at the start: a stop is obeyed at once", async () => {
    await using stage = await prepareWatch();
    await stage.redis.kill();
    const daemon = await startDaemon(stage.config);
    await daemon.logged("listening");
    const asked = performance.now();
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(performance.now() - asked).toBeLessThan(60_000);
  });

  it.concurrent("while running: flips meanwhile are notified when it is back, nothing twice", async () => {
    await using watch = await startWatch();
    const { simulator, redis, slack } = watch;
    const [first, second] = simulator.world.locations.map(({ recordings }) => recordings[0]);
    if (!first || !second) throw new Error("no cameras");
    simulator.world.setStatus(first.id, "offline");
    await slack.next();
    await redis.kill();
    await until("not ready", async () => (await fetch(`${watch.app.address}/readyz`)).status === 503);
    expect((await fetch(`${watch.app.address}/metrics`)).status).toBe(200);
    simulator.world.setStatus(first.id, "online");
    simulator.world.setStatus(second.id, "offline");
    await redis.restart();
    expect((await slack.waitFor(({ shown }) => shown.includes(second.name))).shown).toMatch(/offline|since/i);
    await slack.waitFor(({ text }) => text.startsWith("✅"));
    await until("ready", async () => (await fetch(`${watch.app.address}/readyz`)).status === 200);
    expect(slack.messages).toHaveLength(3);
  });

  it.concurrent("while running: a stop is obeyed at once, and the next start continues from the stored state", async () => {
    await using stage = await prepareWatch();
    const daemon = await startDaemon(stage.config);
    await pictured(stage);
    const [camera] = stage.simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    stage.simulator.world.setStatus(camera.id, "offline");
    await stage.slack.next();
    const notified = () => daemon.log.filter(({ msg, reason }) => msg === "notified" && reason === "first").length;
    await until("both integrations wrote it down", () => notified() === 2);
    await stage.redis.kill();
    await daemon.logged("Redis is unreachable, retrying. Check redis.url and that it is running");
    const asked = performance.now();
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(performance.now() - asked).toBeLessThan(60_000);
    await stage.redis.restart();
    stage.simulator.world.setStatus(camera.id, "online");
    const next = await startDaemon(stage.config);
    expect((await stage.slack.next()).text).toContain("✅");
    expect(stage.slack.messages).toHaveLength(2);
    await next.end("SIGTERM");
  });

  it.concurrent("emptied: the fleet is read again without a restart", async () => {
    await using watch = await startWatch();
    const { Redis } = await import("ioredis");
    const redis = new Redis(watch.redis.url);
    await redis.flushall();
    redis.disconnect();
    const [camera] = watch.simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.starts.waitFor(({ shown }) => shown.includes(camera.name));
    await watch.mail.starts.waitFor(({ text }) => text.includes(camera.name));
  });
});
