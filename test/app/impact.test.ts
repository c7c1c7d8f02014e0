import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { createUsualEntriesStore } from "../../src/store/location-details.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const IMPACT = /the location usually counts [\d,]+ entries on a (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day/;

/** Once the zones of all locations were read: as after some days of reading counts. */
async function countedFor({ redis: { url }, simulator }: Watch): Promise<void> {
  const redis = new Redis(url);
  try {
    const keys = keysUnder("lenswatch");
    const places = simulator.world.locations.map(({ id }) => id);
    await until("all zones are known", async () => (await redis.hlen(keys.zones)) === places.length);
    await until("all counts were read", async () => (await redis.hlen(keys.usualEntries)) === places.length);
    const usual = new Map(places.map((id) => [id, Array.from({ length: 7 }, () => 1_240)]));
    await createUsualEntriesStore(redis, keys).save(usual);
  } finally {
    redis.disconnect();
  }
}

describeWithRedis("the impact of an alert", () => {
  it.concurrent("is in every notification: the affected zones and the usual count of the location", async () => {
    await using watch = await startWatch();
    const camera = watch.simulator.world.locations[0]?.recordings[0];
    if (!camera) throw new Error("no camera");
    await countedFor(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    const [said, mailed] = await Promise.all([watch.slack.next(), watch.mail.next()]);
    for (const text of [said.shown, mailed.text, mailed.html ?? ""]) {
      // The character that keeps `:Entrance:` from becoming an emoji is invisible.
      expect(text.replaceAll("\u200b", "")).toContain(`Zone ${camera.taxonomies[0]?.replaceAll(":", " › ")}`);
      expect(text).toMatch(IMPACT);
    }
    const [alert] = (await (await fetch(`${watch.app.address}/api/v2/alerts`)).json()) as {
      annotations: Record<string, string>;
    }[];
    expect(alert?.annotations).toMatchObject({ zones: camera.taxonomies[0], impact: expect.stringMatching(IMPACT) });
  });

  it.concurrent("is left out where it is unknown, and delays nothing", async () => {
    await using watch = await startWatch({ before: (_, faults) => faults.set("no_reply", { route: "detail/list" }) });
    const camera = watch.simulator.world.locations[0]?.recordings[0];
    if (!camera) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    const { shown } = await watch.slack.next();
    expect(shown).toContain(camera.name);
    expect(shown).not.toContain("Zones:");
    expect(shown).not.toContain("Impact:");
  });
});
