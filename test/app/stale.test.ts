import { expect, it } from "vitest";
import { camerasOf, startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;
const APART = "{ receiver: ops, group_by: [recording_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4h }";

function shiftedClock() {
  let shift = 0;
  const forward = (ms: number) => {
    shift += ms;
  };
  return { clock: { now: () => Date.now() + shift }, forward };
}

const SERVER_RULES = `
  - alert: CameraServerOffline
    when: { group_offline: { by: camera_server, at_least: 100%, clear_below: 80%, min_recordings: 3 } }
    for: 0s
    respect_schedule: false`;

/** Whether something happened to a recording or its groups; at Slack, where what the mail server is sent says nothing about that. */
async function happened({ app }: Watch, id: string, wanted: string, at: string | null = "ops/slack/0") {
  const response = await fetch(`${app.address}/api/v1/recordings/${id}/timeline`);
  const { items } = (await response.json()) as { items: { integration: string | null; reason: string }[] };
  return items.some(({ integration, reason }) => integration === at && reason === wanted);
}

describeWithRedis("after a pause", () => {
  it.concurrent("a reminder waits until its recording was read, and then says what is true", async () => {
    const { clock, forward } = shiftedClock();
    await using watch = await startWatch({ clock, route: APART });
    const { simulator, slack } = watch;
    const [back, dark] = camerasOf(watch);
    for (const camera of [back, dark]) {
      simulator.world.setStatus(camera.id, "offline");
      await slack.waitFor(({ shown }) => shown.includes(camera.name));
    }
    await watch.app.stop();
    const before = slack.messages.length;
    forward(14 * HOUR);
    simulator.world.setStatus(back.id, "online");
    simulator.faults.set("http_error", { status: 503 });
    simulator.faults.set("drop_sockets", {});
    await watch.start();
    await slack.waitFor(({ text }) => text.includes("unreachable"));
    for (const { id } of [back, dark])
      await until("Slack's reminder was suppressed", () => happened(watch, id, "stale"));
    expect(slack.messages).toHaveLength(before + 1);

    simulator.faults.clearAll();
    await slack.waitFor(({ shown }) => shown.includes(back.name) && /recovered/i.test(shown));
    await slack.waitFor(({ shown }) => shown.includes(dark.name) && shown.includes("still offline"));
    const after = slack.messages.slice(before).map(({ shown }) => shown);
    expect(after.filter((shown) => shown.includes(back.name) && /still offline/.test(shown))).toEqual([]);
  });

  it.concurrent("a reminder about a camera server waits until its recordings were read", async () => {
    const { clock, forward } = shiftedClock();
    const simulated = { locations: 4, recordingsPerLocation: 3 };
    await using watch = await startWatch({ clock, rules: SERVER_RULES, simulator: simulated, route: APART });
    const { simulator, slack } = watch;
    const servers = Map.groupBy(simulator.world.recordings, ({ cameraServer }) => cameraServer).values();
    const dark = [...servers].find(({ length }) => length >= 3) ?? [];
    const id = dark[0]?.id ?? "none";
    for (const recording of dark) simulator.world.setStatus(recording.id, "offline");
    await slack.waitFor(({ text }) => /camera server/i.test(text));
    await watch.app.stop();
    forward(14 * HOUR);
    for (const recording of dark) simulator.world.setStatus(recording.id, "online");
    simulator.faults.set("http_error", { status: 503 });
    simulator.faults.set("drop_sockets", {});
    await watch.start();
    await until("the reminder was suppressed", () => happened(watch, id, "stale"));
    simulator.faults.clearAll();
    await slack.waitFor(({ shown }) => /recovered/i.test(shown));
    expect(slack.messages.map(({ shown }) => shown).filter((one) => /still/.test(one))).toEqual([]);
  });

  it.concurrent("however short, what was true before is not sent before its recording was read", async () => {
    await using watch = await startWatch({ route: APART.replace("group_wait: 0s", "group_wait: 3s") });
    const { simulator, slack } = watch;
    const [back] = camerasOf(watch);
    simulator.world.setStatus(back.id, "offline");
    await until("it fires", () => happened(watch, back.id, "firing", null));
    await watch.app.stop();
    simulator.world.setStatus(back.id, "online");
    simulator.faults.set("http_error", { status: 503 });
    simulator.faults.set("drop_sockets", {});
    await watch.start();
    await until("it is due, and was not read", () => happened(watch, back.id, "stale"));
    simulator.faults.clearAll();
    await until("it was read", () => happened(watch, back.id, "resolved", null));
    expect(slack.messages.filter(({ shown }) => shown.includes(back.name))).toEqual([]);
  });
});
