/** Every notified alert gets its resolved notification, also where the recording can no longer recover. */
import { expect, it } from "vitest";
import { startWatch, type Watch, type WatchOptions } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Recordings are removed after two seconds; a list that lacks one of ten is accepted. */
const FORGETFUL: WatchOptions = {
  simulator: { locations: 10, recordingsPerLocation: 2 },
  adjust: (config) => ({ ...config, watch: { ...config.watch, forgetAfterMs: 2_000, inventoryIntervalMs: 1_000 } }),
};

async function darkCamera(watch: Watch) {
  const [camera] = watch.simulator.world.recordings;
  if (!camera) throw new Error("no camera");
  watch.simulator.world.setStatus(camera.id, "offline");
  await Promise.all([watch.slack.next(), watch.mail.next()]);
  return camera;
}

/** Expects one resolved notification at both, not as a recovery. */
async function toldAsLeft({ slack, mail }: Watch, name: string): Promise<void> {
  const [said, written] = await Promise.all([slack.next(), mail.next()]);
  expect(said.text).toMatch(/^⚪ .* no longer watched/);
  expect(written.subject).toMatch(/^⚪ .* no longer watched/);
  for (const text of [said.shown, written.text]) {
    expect(text).toContain(name);
    expect(text).not.toMatch(/recovered|is back/i);
  }
}

describeWithRedis("recordings that leave the fleet", () => {
  it.concurrent("an offline recording that leaves the fleet is reported as no longer watched, not as recovered", async () => {
    await using watch = await startWatch(FORGETFUL);
    const camera = await darkCamera(watch);
    watch.simulator.world.remove(camera.id);
    await toldAsLeft(watch, camera.name);
    expect([watch.slack.messages.length, watch.mail.messages.length]).toEqual([2, 2]);
  });

  it.concurrent("a removed location resolves the alerts of its offline recordings as no longer watched", async () => {
    await using watch = await startWatch(FORGETFUL);
    const camera = await darkCamera(watch);
    watch.simulator.world.remove({ locationId: camera.location.id });
    await toldAsLeft(watch, camera.name);
    const gone = async () =>
      !(await (await fetch(`${watch.app.address}/api/v1/locations`)).text()).includes(camera.location.id);
    await until("it is shown no more", gone);
    expect([watch.slack.messages.length, watch.mail.messages.length]).toEqual([2, 2]);
  });

  it.concurrent("after a route changed, the old receiver gets the end and the new one a new notification", async () => {
    const routes = (to: string) => `
  receiver: ops
  group_by: [location_id]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 4h
  routes: [ { matchers: [ alertname = "RecordingOffline" ], receiver: ${to} } ]`;
    const receivers = `
  - name: ops
    email_configs: [ { to: [ ops@example.com ] } ]
  - name: day
    email_configs: [ { to: [ day@example.com ] } ]
  - name: night
    email_configs: [ { to: [ night@example.com ] } ]`;
    await using watch = await startWatch({ route: routes("night"), receivers });
    const { simulator, mail } = watch;
    const subjects = (to: string) =>
      mail.messages.filter(({ rcpts }) => rcpts.includes(`${to}@example.com`)).map(({ subject }) => subject);
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    simulator.world.setStatus(camera.id, "offline");
    await until("the night is told", () => subjects("night").length === 1);
    await watch.reload((config) => config.replace("receiver: night }", "receiver: day }"));
    await until("the day is told", () => subjects("day").length === 1);
    simulator.world.setStatus(camera.id, "online");
    await until("both hear the end", () => subjects("day").length + subjects("night").length === 4);
    for (const who of ["day", "night"])
      expect(subjects(who)).toEqual([
        expect.stringMatching(/^🔴 Till \d+ offline/),
        expect.stringMatching(/^✅ Till \d+ recovered/),
      ]);
    expect(subjects("ops")).toEqual([]);
  });
});
