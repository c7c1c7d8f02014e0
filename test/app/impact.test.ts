import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const IMPACT = /the location usually counts [\d,]+ entries on a (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day/;

/** Number of locations with known usual counts. */
async function known({ redis: { url } }: Watch): Promise<number> {
  const redis = new Redis(url);
  try {
    return await redis.hlen(keysUnder("lenswatch").usualEntries);
  } finally {
    redis.disconnect();
  }
}

describeWithRedis("the impact of an alert", () => {
  it.concurrent("is in every notification: the affected zones and the usual count of the location", async () => {
    await using watch = await startWatch();
    const camera = watch.simulator.world.locations[0]?.recordings[0];
    if (!camera) throw new Error("no camera");
    await until("all places are known", async () => (await known(watch)) === 4);
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
