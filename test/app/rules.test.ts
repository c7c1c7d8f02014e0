import { expect, it } from "vitest";
import { metricsOf, startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import type { SlackMessage } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;
/** Every kind of condition; uptime alone is read each second. */
const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
  - alert: RecordingDegraded
    when: { status: degraded }
    for: 1s
  - alert: LowQuality
    when: { average_quality: { below: 0.7, clear_above: 0.8 } }
    for: 0s
  - alert: LowUptime
    when: { overall_uptime: { below: 0.9, clear_above: 0.95, over: 24h } }
  - alert: RecordingMissing
    when: { missing: true }
    for: 1s
  - alert: LocationOffline
    when: { location_offline: { at_least: 100%, clear_below: 80%, min_recordings: 2 } }
    for: 0s
  - alert: ServicePartlyUnreachable
    when: { service: partly_unreachable }
    for: 1s
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 1s`;

const metrics = ({ app }: Watch) => metricsOf(app);

describeWithRedis("each rule, from the service to Slack", () => {
  it("fires from what the service answers, and ends with it", async () => {
    await using watch = await startWatch({
      simulator: { locations: 6, recordingsPerLocation: 3 },
      watch: "{ status_interval: 1s, uptime_interval: 1s, inventory_interval: 1h }",
      rules: RULES,
      before(world) {
        const [{ id } = { id: "" }] = world.locations[3]?.recordings ?? [];
        world.setStatus(id, "offline", Date.now() - 12 * HOUR);
        world.setStatus(id, "online", Date.now() - 6 * HOUR);
      },
    });
    const { slack } = watch;
    const { world, faults } = watch.simulator;
    const [graded, blurred, shop, low, missing] = world.locations;
    const camera = (of: typeof graded, at = 0) => of?.recordings[at] ?? { id: "", name: "none" };
    /** The first message about it that matches, wherever it is among those of the others. */
    const told = (name: string, pattern: RegExp) => {
      const isMeant = ({ text, shown }: SlackMessage) => pattern.test(text) && `${text}${shown}`.includes(name);
      return Promise.any([slack.waitFor(isMeant), slack.starts.waitFor(isMeant)]);
    };

    world.setStatus(camera(graded).id, "degraded");
    world.setQuality(camera(blurred).id, 0.6);
    world.setStatus({ locationId: shop?.id ?? "" }, "offline");
    const gone = camera(missing);
    world.remove(gone.id);
    await told(camera(graded).name, /degraded/);
    expect((await told(camera(blurred).name, /quality/)).shown).toContain("quality 60 %");
    await told(shop?.name ?? "", /all 3 recordings offline/);
    await told(camera(low).name, /with low uptime/);
    await told(gone.name, /missing/);

    world.setStatus(camera(graded).id, "offline");
    world.setQuality(camera(blurred).id, 0.75);
    await told(camera(graded).name, /degraded, offline/);
    await until("the quality was read again", async () => (await metrics(watch)).includes("} 0.75"));
    world.setStatus(camera(graded).id, "online");
    world.setStatus(camera(shop).id, "online");
    world.setQuality(camera(blurred).id, 0.9);
    const back = await told(camera(graded).name, /^✅/);
    for (const words of ["was degraded", "was offline"]) expect(back.shown).toContain(words);
    await told(shop?.name ?? "", /2 recordings still offline · .* — 1 of 3 recovered/);
    await told(camera(blurred).name, /^✅/);
    expect(slack.messages.filter(({ shown }) => shown.includes(camera(blurred).name))).toHaveLength(2);

    // Statuses go on meanwhile.
    faults.set("http_error", { status: 503, endpoint: "uptimes" });
    await told("", /Analytics service partly unreachable/);
    world.setStatus(camera(graded, 1).id, "offline");
    await told(camera(graded, 1).name, /Till \d+ offline/);
    faults.clearAll();
    await told("", /^✅ Analytics service recovered/);
    expect(slack.messages.some(({ text }) => text.includes("Analytics service unreachable"))).toBe(false);
  });
});
