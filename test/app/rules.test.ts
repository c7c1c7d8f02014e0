import { on } from "node:events";
import { expect, it } from "vitest";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const offline = (more = "") => `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s${more}`;

const place = (watch: Watch, index = 0) => {
  const location = watch.simulator.world.locations[index];
  if (!location) throw new Error("no such location");
  return location;
};
const camera = (watch: Watch, index = 0) => {
  const recording = place(watch).recordings[index];
  if (!recording) throw new Error("no such recording");
  return recording;
};

describeWithRedis("each rule, from the service to Slack", () => {
  it.concurrent("status: degraded fires by itself, and its end says so when the recording goes offline instead", async () => {
    await using watch = await startWatch({
      rules: `${offline()}
  - alert: RecordingDegraded
    when: { status: degraded }
    for: 1s`,
    });
    const { world } = watch.simulator;
    const { id, name } = camera(watch);
    world.setStatus(id, "degraded");
    expect((await watch.slack.next()).text).toMatch(/Till \d+ degraded/);
    world.setStatus(id, "offline");
    const dark = await watch.slack.next();
    expect(dark.shown).not.toMatch(/recovered/i);
    world.setStatus(id, "online");
    const back = await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(back.shown).toContain(name);
    expect(back.shown).toContain("was degraded");
    expect(back.shown).toContain("was offline");
  });

  it.concurrent("average_quality: fires below, holds in between, ends at clear_above", async () => {
    await using watch = await startWatch({
      rules: `
  - alert: LowQuality
    when: { average_quality: { below: 0.7, clear_above: 0.8 } }
    for: 0s`,
    });
    const { world } = watch.simulator;
    const { id } = camera(watch);
    world.setQuality(id, 0.6);
    expect((await watch.slack.next()).shown).toContain("quality 60 %");
    world.setQuality(id, 0.75);
    await until("it was read again", async () =>
      (await (await fetch(`${watch.app.address}/metrics`)).text()).includes("} 0.75"),
    );
    world.setQuality(id, 0.9);
    expect((await watch.slack.next()).text).toMatch(/^✅/);
    expect(watch.slack.messages).toHaveLength(2);
  });

  it.concurrent("overall_uptime: an outage in the history fires, from figures the service counts", async () => {
    await using watch = await startWatch({
      watch: "{ status_interval: 1s, uptime_interval: 1s, inventory_interval: 1h }",
      rules: `
  - alert: LowUptime
    when: { overall_uptime: { below: 0.9, clear_above: 0.95, over: 24h } }`,
      before(world) {
        const id = world.recordings[0]?.id ?? "";
        const now = Date.now();
        world.setStatus(id, "offline", now - 12 * 3_600_000);
        world.setStatus(id, "online", now - 6 * 3_600_000);
      },
    });
    const { id, name } = camera(watch);
    const isLow = ({ text }: { text: string }) => text.includes("with low uptime");
    const { slack } = watch;
    const notified = await Promise.any([slack.waitFor(isLow), slack.starts.waitFor(isLow)]);
    expect(notified.text).toMatch(/Till \d+ with low uptime/);
    expect(notified.shown).toContain(name);
    const metrics = await (await fetch(`${watch.app.address}/metrics`)).text();
    const line = metrics
      .split("\n")
      .find((one) => one.startsWith("lenswatch_recording_overall_uptime_ratio") && one.includes(id));
    expect(Number(line?.split(" ").at(-1))).toBeGreaterThan(0.6);
    expect(Number(line?.split(" ").at(-1))).toBeLessThan(0.85);
  });

  it.concurrent("overall_uptime: a longer window is read at the reload, not at the next refresh", async () => {
    await using watch = await startWatch({
      watch: "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1h }",
      rules: `
  - alert: LowUptime
    when: { overall_uptime: { below: 0.9, over: 24h } }`,
      before(world) {
        const [id, now] = [world.recordings[0]?.id ?? "", Date.now()];
        world.setStatus(id, "offline", now - 144 * 3_600_000);
        world.setStatus(id, "online", now - 72 * 3_600_000);
      },
    });
    await until("there are figures", async () =>
      (await (await fetch(`${watch.app.address}/metrics`)).text()).includes("overall_uptime_ratio{"),
    );
    await watch.reload((config) => config.replace("over: 24h", "over: 168h"));
    expect((await watch.slack.next()).text).toMatch(/Till \d+ with low uptime/);
  });

  it.concurrent("missing: absent from answers, without those that rows with no id may be", async () => {
    await using watch = await startWatch({
      rules: `
  - alert: RecordingMissing
    when: { missing: true }
    for: 1s`,
    });
    const { world, faults } = watch.simulator;
    const [first, second] = [camera(watch, 0), camera(watch, 1)];
    await until("all are known", async () => (await known(watch)) === 8);
    faults.set("wrong_types", { recordings: [second.id], field: "recording_id" });
    await sweeps(watch, 4);
    expect(watch.slack.messages).toHaveLength(0);
    world.remove(first.id);
    expect((await watch.slack.next()).shown).toContain(first.name);
    expect(watch.slack.messages[0]?.shown).not.toContain(second.name);
  });

  it.concurrent("location_offline: fires for an offline location, and ends when enough of it is online", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 3 },
      rules: `
  - alert: LocationOffline
    when: { location_offline: { at_least: 100%, clear_below: 80%, min_recordings: 2 } }
    for: 0s`,
    });
    const { world } = watch.simulator;
    const shop = place(watch);
    world.setStatus({ locationId: shop.id }, "offline");
    expect((await watch.slack.next()).text).toContain(`${shop.name}: all 3 recordings offline`);
    world.setStatus(shop.recordings[0]?.id ?? "", "online");
    expect((await watch.slack.next()).text).toMatch(/^⚪ 1 of 3 recordings recovered · .* 2 still offline/);
  });

  it.concurrent("service: partly_unreachable when uptime figures go stale, while statuses go on", async () => {
    await using watch = await startWatch({
      watch: "{ status_interval: 1s, uptime_interval: 1s, inventory_interval: 1h }",
      rules: `${offline()}
  - alert: ServicePartlyUnreachable
    when: { service: partly_unreachable }
    for: 1s
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 1s`,
    });
    const { world, faults } = watch.simulator;
    await until("figures are there", async () =>
      (await (await fetch(`${watch.app.address}/metrics`)).text()).includes("overall_uptime_ratio{"),
    );
    faults.set("http_error", { status: 503, endpoint: "uptimes" });
    expect((await watch.slack.next()).text).toContain("Analytics service partly unreachable");
    world.setStatus(camera(watch).id, "offline");
    expect((await watch.slack.next()).text).toMatch(/Till \d+ offline/);
    faults.clearAll();
    await watch.slack.waitFor(({ text }) => text.startsWith("✅ Analytics service recovered"));
    expect(watch.slack.messages.some(({ text }) => text.includes("service unreachable"))).toBe(false);
  });

  it.concurrent("service: a location list that is suddenly empty is reported and not applied", async () => {
    await using watch = await startWatch({
      watch: "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1s }",
      rules: `${offline()}
  - alert: ServicePartlyUnreachable
    when: { service: partly_unreachable }
    for: 1s`,
    });
    const { world, faults } = watch.simulator;
    await until("all are known", async () => (await known(watch)) === 8);
    faults.set("empty_list", {});
    const notified = await watch.slack.next();
    expect(notified.text).toContain("Analytics service partly unreachable");
    expect(notified.shown).toContain("watch.exclude");
    world.setStatus(camera(watch).id, "offline");
    expect((await watch.slack.next()).text).toMatch(/Till \d+ offline/);
    faults.clearAll();
    expect((await watch.slack.next()).text).toMatch(/^✅ Analytics service recovered/);
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("for: a shorter flip sends nothing", async () => {
    await using watch = await startWatch({ rules: offline().replace("for: 0s", "for: 8s") });
    const { world } = watch.simulator;
    const [short, long] = [camera(watch, 0), camera(watch, 1)];
    world.setStatus(short.id, "offline");
    world.setStatus(long.id, "offline");
    await until("pending", async () => (await pending(watch)) === 2);
    world.setStatus(short.id, "online");
    const notified = await watch.slack.next();
    expect(notified.shown).toContain(long.name);
    expect(notified.shown).not.toContain(short.name);
    expect(await pending(watch)).toBe(0);
  });

  it.concurrent("a recording that is no longer watched gets its resolved notification", async () => {
    await using watch = await startWatch();
    const { id, name } = camera(watch);
    watch.simulator.world.setStatus(id, "offline");
    await watch.slack.next();
    await watch.mail.next();
    await watch.app.stop();
    watch.config = watch.config.replace("status_interval: 1s,", `status_interval: 1s, exclude: [ "${id}" ],`);
    await watch.start();
    const ended = await watch.slack.next();
    expect(ended.text).toMatch(/^⚪ .* no longer watched/);
    expect(ended.shown).toContain(name);
    expect(ended.shown).not.toMatch(/recovered|back/i);
  });

  it.concurrent("a removed rule resolves its alerts, with the reason", async () => {
    await using watch = await startWatch();
    watch.simulator.world.setStatus(camera(watch).id, "offline");
    await watch.slack.next();
    await watch.mail.next();
    await watch.app.stop();
    watch.config = watch.config.replace("alert: RecordingOffline", "alert: CameraDark");
    await watch.start();
    const ended = await watch.slack.waitFor(({ shown }) => /rule removed/i.test(shown));
    expect(ended.shown).not.toMatch(/recovered/i);
    expect(watch.slack.messages.some(({ text }) => /Till \d+ offline/.test(text))).toBe(true);
  });

  it.concurrent("a firing alert is sent again after repeat_interval, as a reminder", async () => {
    await using watch = await startWatch({
      route: "{ receiver: ops, group_by: [location_id], group_wait: 0s, group_interval: 1s, repeat_interval: 2s }",
    });
    watch.simulator.world.setStatus(camera(watch).id, "offline");
    const first = await watch.slack.next();
    const second = await watch.slack.next();
    expect(second.text).toMatch(/^🔴 Reminder: Till \d+ still offline/);
    expect(second.receivedAt - first.receivedAt).toBeGreaterThanOrEqual(1_900);
  });
});

/** Waits until the service has answered this many more status requests. */
async function sweeps({ simulator }: Watch, count: number): Promise<void> {
  let left = count;
  for await (const [request] of on(simulator.events, "request")) {
    if (request.endpoint === "status/uptime" && --left === 0) return;
  }
}

async function pending(watch: Watch): Promise<number> {
  const text = await (await fetch(`${watch.app.address}/metrics`)).text();
  return Number(
    /^lenswatch_alerts\{alertname="RecordingOffline",severity="[^"]*",state="pending"\} (\d+)$/m.exec(text)?.[1] ?? 0,
  );
}

async function known(watch: Watch): Promise<number> {
  const text = await (await fetch(`${watch.app.address}/metrics`)).text();
  return Number(/^lenswatch_recordings\{status="online"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
