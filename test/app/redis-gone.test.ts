import { expect, it } from "vitest";
import { camerasOf, pictured, prepareWatch, startWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describeWithRedis("Redis down", () => {
  it.concurrent("is waited for at the start; a stop is obeyed without it too", async () => {
    await using stage = await prepareWatch();
    const { simulator, redis, slack } = stage;
    const [camera] = camerasOf(stage);
    const unreachable = "Redis is unreachable, retrying. Check redis.url and that it is running";
    await redis.kill();
    const daemon = await startDaemon(stage.config);
    expect((await daemon.logged(unreachable)).level).toBe("warn");
    const { address } = await daemon.logged("listening");
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const ready = await fetch(`${address}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("Redis cannot be reached")]);
    await redis.restart();
    await pictured(stage);
    simulator.world.setStatus(camera.id, "offline");
    expect((await slack.next()).shown).toContain(camera.name);
    await redis.kill();
    expect(await daemon.end("SIGTERM")).toBe(0);
  });

  it.concurrent("while running: flips meanwhile are notified when it is back, nothing twice", async () => {
    await using watch = await startWatch();
    const { simulator, redis, slack } = watch;
    const [first, second] = camerasOf(watch);
    simulator.world.setStatus(first.id, "offline");
    await slack.next();
    await redis.kill();
    const readiness = async () => (await fetch(`${watch.app.address}/readyz`)).status;
    await until("not ready", async () => (await readiness()) === 503);
    expect((await fetch(`${watch.app.address}/metrics`)).status).toBe(200);
    const page = await fetch(`${watch.app.address}/`);
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("The state cannot be read now")]);
    simulator.world.setStatus(first.id, "online");
    simulator.world.setStatus(second.id, "offline");
    await redis.restart();
    expect((await slack.waitFor(({ shown }) => shown.includes(second.name))).shown).toMatch(/offline|since/i);
    await slack.waitFor(({ text }) => text.startsWith("✅"));
    await until("ready", async () => (await readiness()) === 200);
    expect(slack.messages).toHaveLength(3);
  });
});
