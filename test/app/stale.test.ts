import { expect, it } from "vitest";
import { startWatch, type Watch } from "../support/app.ts";
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

function cameras({ simulator }: Watch) {
  const [first, second, third] = simulator.world.recordings;
  if (!first || !second || !third) throw new Error("no cameras");
  return [first, second, third] as const;
}

/** Whether Slack's own reminder about a recording was suppressed; that to the mail server says nothing about it. */
async function isStaleAtSlack({ app }: Watch, id: string): Promise<boolean> {
  const response = await fetch(`${app.address}/api/v1/recordings/${id}/timeline`);
  const { items } = (await response.json()) as { items: { integration: string | null; reason: string }[] };
  return items.some(({ integration, reason }) => integration === "ops/slack/0" && reason === "stale");
}

describeWithRedis("after a pause", () => {
  it.concurrent("a reminder waits until its recording was read, and then says what is true", async () => {
    const { clock, forward } = shiftedClock();
    await using watch = await startWatch({ clock, route: APART });
    const { simulator, slack } = watch;
    const [back, dark] = cameras(watch);
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
    for (const { id } of [back, dark]) await until("Slack's reminder was suppressed", () => isStaleAtSlack(watch, id));
    expect(slack.messages).toHaveLength(before + 1);

    simulator.faults.clearAll();
    await slack.waitFor(({ shown }) => shown.includes(back.name) && /recovered/i.test(shown));
    await slack.waitFor(({ shown }) => shown.includes(dark.name) && shown.includes("still offline"));
    const after = slack.messages.slice(before).map(({ shown }) => shown);
    expect(after.filter((shown) => shown.includes(back.name) && /still offline/.test(shown))).toEqual([]);
  });
});
