import { expect, it } from "vitest";
import type { App } from "../../src/app/app.ts";
import { camerasOf, metricsOf, pictured, prepareWatch, sampleOf, startWatch, type Watch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const exposesFleet = async (app: Pick<App, "address">) =>
  (await metricsOf(app)).includes("\nlenswatch_recording_online{");

const sweepsOf = async (app: App) => sampleOf(await metricsOf(app), "lenswatch_sweep_duration_seconds_count");

const readyOf = async (app: App) => {
  const answer = await fetch(`${app.address}/readyz`);
  return { status: answer.status, ...((await answer.json()) as { notes: string[] }) };
};

const restsAt = async (app: App) => (await readyOf(app)).notes.some((note) => note.includes("takes no new"));

/** Changes the status and waits for the message on Slack. */
async function flips(watch: Pick<Watch, "simulator" | "slack">, camera: { id: string; name: string }) {
  const heard = watch.slack.messages.length;
  watch.simulator.world.setStatus(camera.id, "offline");
  await until(`${camera.name} was told`, () =>
    watch.slack.messages.slice(heard).some(({ shown }) => shown.includes(camera.name)),
  );
}

/** A machine whose clock is half a minute ahead; the daemon has the time of Redis. */
const AHEAD = {
  env: { NODE_OPTIONS: "--import=data:text/javascript,const%20now=Date.now;Date.now=()=>now()%2B30_000" },
};

describeWithRedis("several replicas on one Redis", () => {
  it.concurrent("sweep once an interval and send everything once; one of them exposes the fleet", async () => {
    await using watch = await startWatch();
    const apps = [watch.app, await watch.join(), await watch.join()];
    const began = performance.now();
    const before = await Promise.all(apps.map(sweepsOf));
    for (const camera of camerasOf(watch)) await flips(watch, camera);
    for (const { id } of camerasOf(watch)) watch.simulator.world.setStatus(id, "online");
    await until(
      "all ends were told",
      () => watch.slack.messages.filter(({ text }) => text.startsWith("✅")).length === 3,
    );
    const seconds = (performance.now() - began) / 1_000;
    const sweeps = await Promise.all(apps.map(sweepsOf));
    const swept = sweeps.reduce((sum, count, i) => sum + count - (before[i] ?? 0), 0);
    expect(swept).toBeGreaterThan(seconds / 2);
    expect(swept).toBeLessThanOrEqual(seconds + 2);
    expect(watch.slack.messages).toHaveLength(6);
    expect((await Promise.all(apps.map(exposesFleet))).filter(Boolean)).toHaveLength(1);
    const areReady = async () => (await Promise.all(apps.map(readyOf))).every(({ status }) => status === 200);
    await until("all are ready", areReady);
  });

  it.concurrent("use the configuration loaded last; a replica with an older one stands by, and takes over when the newer stops", async () => {
    await using watch = await startWatch();
    const [first, second, third] = camerasOf(watch);
    watch.config = watch.config.replace("severity: critical", "severity: page");
    const newer = await watch.join();
    await until("the older rests", () => restsAt(watch.app));
    await until("the older is ready all the same", async () => (await readyOf(watch.app)).status === 200);
    expect((await readyOf(newer)).notes).toEqual([]);
    const swept = await sweepsOf(watch.app);
    await flips(watch, first);
    const severity = async (app: App) =>
      /lenswatch_alerts\{alertname="RecordingOffline",severity="(\w+)",state="firing"\} 1/.exec(
        await metricsOf(app),
      )?.[1];
    await until("the newer exposes the fleet", async () => (await severity(newer)) === "page");
    expect(await sweepsOf(watch.app)).toBe(swept);
    await newer.stop().catch(() => {});
    await until("the older works again", async () => !(await restsAt(watch.app)));
    await flips(watch, second);
    expect(await sweepsOf(watch.app)).toBeGreaterThan(swept);
    await watch.reload((config) => config.replace("group_interval: 1s", "group_interval: 2s"));
    await flips(watch, third);
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("split the work by role: one polls, one delivers, one serves HTTP", async () => {
    await using watch = await startWatch({ role: "poll" });
    const [first, second] = camerasOf(watch);
    const web = await watch.join("web");
    watch.simulator.world.setStatus(first.id, "offline");
    await until("it fires", async () =>
      (await (await fetch(`${web.address}/api/v2/alerts`)).text()).includes(first.id),
    );
    expect(watch.slack.messages).toEqual([]);
    expect(watch.slack.starts.messages).toEqual([]);
    const notify = await watch.join("notify");
    expect((await watch.slack.starts.next()).shown).toContain(first.name);
    await flips(watch, second);
    expect(await Promise.all([web, notify].map(sweepsOf))).toEqual([0, 0]);
    expect(await sweepsOf(watch.app)).toBeGreaterThan(0);
    const notified = 'lenswatch_notifications_total{receiver="ops",integration="slack"}';
    expect(sampleOf(await metricsOf(notify), notified)).toBeGreaterThan(0);
    for (const app of [watch.app, web]) expect(sampleOf(await metricsOf(app), notified)).toBe(0);
    for (const app of [watch.app, web, notify]) expect(await readyOf(app)).toMatchObject({ status: 200 });
    expect(await (await fetch(`${web.address}/`)).text()).toContain(first.name);
    const exposing = await Promise.all([watch.app, web, notify].map(exposesFleet));
    expect(exposing.filter(Boolean)).toHaveLength(1);
  });

  it("as processes, in a rolling update: what a paused one had under way changes nothing, nothing is lost or repeated", async () => {
    await using stage = await prepareWatch({
      simulator: { locations: 4, recordingsPerLocation: 1 },
      // Longer than the first is paused: what it had under way is answered.
      requestTimeout: "60s",
      watch: "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1h, locations_per_request: 1 }",
    });
    const { world, faults } = stage.simulator;
    const old = await startDaemon(stage.config);
    await pictured(stage);
    const next = await startDaemon(stage.config.replace("group_by: [location_id]", "group_by: [recording_id]"), AHEAD);
    const address = String((await next.logged("listening")).address);
    await next.logged("started");
    const sample = async (series: string) => sampleOf(await metricsOf({ address }), series);
    await until("the new one sweeps", async () => (await sample("lenswatch_sweep_duration_seconds_count")) > 0);
    let asked = 0;
    stage.simulator.events.on("request", ({ endpoint }) => void (endpoint === "status/uptime" && asked++));
    const askedAgain = (times: number) => {
      const before = asked;
      return until("each shard was asked for again", () => asked >= before + times * 4);
    };
    // Of each replica some sweep is under way at any time.
    faults.set("slow", { ms: 800, endpoint: "status/uptime" });
    await askedAgain(1);
    old.signal("SIGSTOP");
    const messages = (beginning: string) => stage.slack.messages.filter(({ text }) => text.startsWith(beginning));
    // Answers are of this moment or later: what the first asked for shows it too.
    for (const { id } of world.recordings) world.setStatus(id, "offline");
    await until("all begin", () => messages("🔴").length === 4);
    old.signal("SIGCONT");
    await askedAgain(2);
    for (const { id } of world.recordings) world.setStatus(id, "online");
    expect(await old.end("SIGTERM")).toBe(0);
    await until("all end", () => messages("✅").length === 4);
    const sweptAt = await sample("lenswatch_last_sweep_timestamp_seconds");
    expect(sweptAt).toBeGreaterThan(0);
    expect(sweptAt * 1_000).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await next.end("SIGTERM")).toBe(0);
    expect(stage.slack.messages).toHaveLength(8);
  });
});
