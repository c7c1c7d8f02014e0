import { Redis } from "ioredis";
import { expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.ts";
import { pictured, prepareWatch, startWatch, type Watch } from "../support/app.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

async function metricsOf({ address }: Pick<App, "address">): Promise<string> {
  return (await fetch(`${address}/metrics`)).text();
}

const exposesFleet = async (app: Pick<App, "address">) =>
  (await metricsOf(app)).includes("\nlenswatch_recording_online{");

const sampleOf = (metrics: string, series: string) =>
  Number(
    metrics
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length) ?? 0,
  );

const sweepsOf = async (app: App) => sampleOf(await metricsOf(app), "lenswatch_sweep_duration_seconds_count");

const readyOf = async (app: App) => {
  const answer = await fetch(`${app.address}/readyz`);
  return { status: answer.status, ...((await answer.json()) as { notes: string[] }) };
};

const restsAt = async (app: App) => (await readyOf(app)).notes.some((note) => note.includes("takes no new"));

function cameras(watch: Pick<Watch, "simulator">) {
  const [first, second, third] = watch.simulator.world.locations.map(({ recordings }) => recordings[0]);
  if (!first || !second || !third) throw new Error("no cameras");
  return [first, second, third] as const;
}

/** Changes the status and waits for the message on Slack. */
async function flips(watch: Pick<Watch, "simulator" | "slack">, camera: { id: string; name: string }) {
  const heard = watch.slack.messages.length;
  watch.simulator.world.setStatus(camera.id, "offline");
  await until(`${camera.name} was told`, () =>
    watch.slack.messages.slice(heard).some(({ shown }) => shown.includes(camera.name)),
  );
}

/** Of a daemon whose machine's clock is so many ms off. */
const skewed = (by: string) => ({
  env: { NODE_OPTIONS: `--import=data:text/javascript,const%20now=Date.now;Date.now=()=>now()${by}` },
});

describeWithRedis("several replicas on one Redis", () => {
  it.concurrent("sweep once an interval and send everything once; one of them exposes the fleet", async () => {
    await using watch = await startWatch();
    const apps = [watch.app, await watch.join(), await watch.join()];
    const began = performance.now();
    const before = await Promise.all(apps.map(sweepsOf));
    for (const camera of cameras(watch)) await flips(watch, camera);
    for (const { id } of cameras(watch)) watch.simulator.world.setStatus(id, "online");
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
    expect((await Promise.all(apps.map(readyOf))).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it.concurrent("after a kill another replica exposes the fleet within seconds", async () => {
    await using watch = await startWatch();
    await watch.app.stop().catch(() => {});
    const first = await startDaemon(watch.config);
    const { address } = await first.logged("listening");
    await first.logged("started");
    await until("the first exposes", () => exposesFleet({ address: String(address) }));
    const second = await watch.join();
    expect(await exposesFleet(second)).toBe(false);
    await first.end("SIGKILL");
    await until("the second exposes", () => exposesFleet(second));
  });

  it.concurrent("use the configuration loaded last; a replica with an older one stands by, and takes over when the newer stops", async () => {
    await using watch = await startWatch();
    const [first, second, third] = cameras(watch);
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
    const [first, second] = cameras(watch);
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

  it.concurrent("as processes: the shards of one that is paused are swept by the other, and what it had under way changes nothing", async () => {
    await using stage = await prepareWatch({
      simulator: { locations: 8, recordingsPerLocation: 1 },
      // Longer than the first is paused: what it had under way is answered.
      requestTimeout: "60s",
      watch: "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1h, locations_per_request: 1 }",
    });
    const { world, faults } = stage.simulator;
    const first = await startDaemon(stage.config);
    await pictured(stage);
    const second = await startDaemon(stage.config);
    const { address } = await second.logged("listening");
    await second.logged("started");
    const swept = async () =>
      sampleOf(await metricsOf({ address: String(address) }), "lenswatch_sweep_duration_seconds_count");
    await until("the second sweeps", async () => (await swept()) > 0);
    let asked = 0;
    stage.simulator.events.on("request", ({ endpoint }) => void (endpoint === "status/uptime" && asked++));
    const askedAgain = (times: number) => {
      const before = asked;
      return until("each shard was asked for again", () => asked >= before + times * 8);
    };
    // Of each replica some sweep is under way at any time.
    faults.set("slow", { ms: 800, endpoint: "status/uptime" });
    await askedAgain(1);
    first.signal("SIGSTOP");
    const messages = (beginning: string) => stage.slack.messages.filter(({ text }) => text.startsWith(beginning));
    // Answers are of this moment or later: what the first asked for shows it too.
    for (const { id } of world.recordings) world.setStatus(id, "offline");
    await until("all begin", () => messages("🔴").length === 8);
    first.signal("SIGCONT");
    await askedAgain(2);
    for (const { id } of world.recordings) world.setStatus(id, "online");
    await until("all end", () => messages("✅").length === 8);
    expect(stage.slack.messages).toHaveLength(16);
    expect(await Promise.all([first.end("SIGTERM"), second.end("SIGTERM")])).toEqual([0, 0]);
  });

  it.concurrent("each holds the states, names and figures of its own shards, and of no other", async () => {
    await using watch = await startWatch({
      simulator: { locations: 12, recordingsPerLocation: 1 },
      watch: "{ status_interval: 1s, uptime_interval: 1s, inventory_interval: 1h, locations_per_request: 1 }",
    });
    /** By connection to this Redis, one of each replica: how often each shard's keys were used. */
    const used = new Map<Redis, Map<string, number>>();
    const { sendCommand } = Redis.prototype;
    using _ = vi.spyOn(Redis.prototype, "sendCommand").mockImplementation(function note(this: Redis, ...args) {
      const key = args[0].args.find((arg) => /:(?:shard|figures|uptime):\d+$/.test(String(arg)));
      if (key && String(this.options.port) === new URL(watch.redis.url).port) {
        const own = used.get(this) ?? new Map<string, number>();
        used.set(this, own.set(String(key), (own.get(String(key)) ?? 0) + 1));
      }
      return sendCommand.apply(this, args);
    });
    await watch.join();
    await until("the second has its share", () => used.size === 2 && used.values().every(({ size }) => size >= 3 * 6));
    // On a machine under load a replica can be late enough for the other to sweep a shard of its own meanwhile.
    await until("each shard is swept and has its uptime read, again and again, by one of them", () => {
      const often = [...used.values()].flatMap((keys) => [...keys].filter(([, times]) => times > 3));
      if (new Set(often.map(([key]) => key)).size < 3 * 12) return false;
      const [first = new Set(), second = new Set()] = [...used.values()].map((keys) => new Set(keys.keys()));
      for (const keys of used.values()) keys.clear();
      return first.size === 3 * 6 && second.size === 3 * 6 && first.isDisjointFrom(second);
    });
  });

  it.concurrent("as processes: one on a machine whose clock is ahead has the time of Redis from its first sweep on", async () => {
    await using stage = await prepareWatch();
    const daemon = await startDaemon(stage.config, skewed("%2B30_000"));
    await pictured(stage);
    const { address } = await daemon.logged("listening");
    const metrics = await metricsOf({ address: String(address) });
    const sweptAt = sampleOf(metrics, "lenswatch_last_sweep_timestamp_seconds");
    expect(sweptAt).toBeGreaterThan(0);
    expect(sweptAt * 1_000).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await daemon.end("SIGTERM")).toBe(0);
  });

  it.concurrent("as processes: two whose clocks are half a minute ahead and behind sweep their shares in time", async () => {
    await using stage = await prepareWatch({
      simulator: { locations: 12, recordingsPerLocation: 1 },
      watch: "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1h, locations_per_request: 1 }",
    });
    const steady = await startDaemon(stage.config);
    await pictured(stage);
    const joined = await Promise.all(["%2B30_000", "-30_000"].map((by) => startDaemon(stage.config, skewed(by))));
    const sweepsOf = async (daemon: Daemon) => {
      const { address } = await daemon.logged("listening");
      return sampleOf(await metricsOf({ address: String(address) }), "lenswatch_sweep_duration_seconds_count");
    };
    await until("all sweep", async () => (await Promise.all(joined.map(sweepsOf))).every((sweeps) => sweeps > 0));
    const askedAt = new Map<string, number[]>();
    stage.simulator.events.on("request", ({ endpoint, body }) => {
      if (endpoint === "status/uptime") askedAt.getOrInsert(JSON.stringify(body), []).push(performance.now());
    });
    await until("each shard is swept again and again", () => {
      const often = [...askedAt.values()].filter((times) => times.length >= 6);
      return often.length === 12;
    });
    const gaps = [...askedAt.values()].flatMap((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
    expect(Math.max(...gaps)).toBeLessThan(15_000);
    const ends = await Promise.all([steady, ...joined].map((daemon) => daemon.end("SIGTERM")));
    expect(ends).toEqual([0, 0, 0]);
  });

  it.concurrent("as processes: a rolling update loses nothing and repeats nothing", async () => {
    await using stage = await prepareWatch();
    const [first, second] = cameras(stage);
    const old = await startDaemon(stage.config);
    await pictured(stage);
    await flips(stage, first);
    const next = await startDaemon(stage.config.replace("group_by: [location_id]", "group_by: [recording_id]"));
    await next.logged("started");
    stage.simulator.world.setStatus(second.id, "offline");
    expect(await old.end("SIGTERM")).toBe(0);
    await stage.slack.waitFor(({ shown }) => shown.includes(second.name));
    stage.simulator.world.setStatus(first.id, "online");
    await stage.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(await next.end("SIGTERM")).toBe(0);
    expect(stage.slack.messages).toHaveLength(3);
  });
});
