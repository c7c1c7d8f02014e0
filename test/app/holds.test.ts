import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startWatch, type Watch } from "../support/watch.ts";

const SITE_RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    labels: { severity: critical }
  - alert: LocationOffline
    when: { location_offline: { at_least: 100%, clear_below: 80%, min_recordings: 2 } }
    for: 0s
    labels: { severity: critical }`;

/** Every alert a message of its own: what is said of one is never hidden in what is said of another. */
const APART =
  "{ receiver: ops, group_by: [alertname, recording_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4h }";

function shop(watch: Watch, index = 0) {
  const location = watch.simulator.world.locations[index];
  if (!location) throw new Error("no such location");
  return location;
}

async function suppressed(watch: Watch, reason: string): Promise<number> {
  const text = await (await fetch(`${watch.app.address}/metrics`)).text();
  const line = text
    .split("\n")
    .find(
      (one) =>
        one.startsWith("lenswatch_notifications_suppressed_total") && one.includes(`reason="${reason}"`),
    );
  return Number(line?.split(" ").at(-1) ?? 0);
}

describeWithRedis("an alert that explains others", () => {
  it.concurrent("speaks for them: a dark shop is one message that names its cameras, and none for each", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 4 },
      rules: SITE_RULES,
      route: APART,
    });
    const { world } = watch.simulator;
    const { id, name, recordings } = shop(watch);
    world.setStatus({ locationId: id }, "offline");
    const told = await watch.slack.next();
    expect(told.text).toContain(`${name}: all 4 recordings offline`);
    expect(told.shown).toContain("Stands for 4 recordings: ");
    for (const recording of recordings) expect(told.shown).toContain(recording.name);
    const letter = await watch.mail.next();
    for (const recording of recordings) expect(letter.text).toContain(recording.name);
    await until("each camera's own was held", async () => (await suppressed(watch, "inhibited")) >= 8);
    world.setStatus({ locationId: id }, "online");
    expect((await watch.slack.next()).text).toMatch(/^Recovered: 1 location/);
    expect((await watch.mail.next()).subject).toMatch(/^Recovered: 1 location/);
    world.setStatus(shop(watch, 1).recordings[0]?.id ?? "", "offline");
    expect((await watch.slack.next()).text).toContain("1 recording offline");
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("leaves a camera that is still dark when the shop is back to be told then", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 4 },
      rules: SITE_RULES,
      // Nothing but the shop's end makes anybody look again.
      route: APART.replace("group_interval: 1s", "group_interval: 1h"),
    });
    const { world } = watch.simulator;
    const { id, recordings } = shop(watch);
    world.setStatus({ locationId: id }, "offline");
    await watch.slack.next();
    await until("held", async () => (await suppressed(watch, "inhibited")) >= 8);
    const [first, second, ...others] = recordings;
    if (!first || !second) throw new Error("no recordings");
    for (const one of [first, second]) world.setStatus(one.id, "online");
    const told = await Promise.all(
      others.map(({ name }) =>
        watch.slack.waitFor(
          ({ shown, text }) => text.includes("1 recording offline") && shown.includes(name),
        ),
      ),
    );
    expect(told).toHaveLength(2);
    expect(
      watch.slack.messages.some(
        ({ text, shown }) => text.includes("1 recording") && shown.includes(first.name),
      ),
    ).toBe(false);
  });

  it.concurrent("takes no end away from what was told before it", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 2 },
      rules: SITE_RULES,
      route: APART,
    });
    const { world } = watch.simulator;
    const { name, recordings } = shop(watch);
    const [first, second] = recordings;
    if (!first || !second) throw new Error("no recordings");
    world.setStatus(first.id, "offline");
    expect((await watch.slack.next()).text).toContain("1 recording offline");
    world.setStatus(second.id, "offline");
    const parent = await watch.slack.next();
    expect(parent.text).toContain(`${name}: all 2 recordings offline`);
    expect(parent.shown).toContain("Stands for 2 recordings: ");
    world.setStatus(first.id, "online");
    const back = await watch.slack.waitFor(
      ({ text, shown }) => text.startsWith("Recovered: 1 recording") && shown.includes(first.name),
    );
    expect(back.shown).toContain("was offline");
    await watch.slack.waitFor(
      ({ text, shown }) => text.includes("1 recording offline") && shown.includes(second.name),
    );
  });
});
