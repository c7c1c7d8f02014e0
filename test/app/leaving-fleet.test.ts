/** Every notified alert gets its resolved notification, also where the recording can no longer recover. */
import { expect, it } from "vitest";
import { camerasOf, startWatch, type WatchOptions } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Recordings are removed after two seconds; a list that lacks one of ten is accepted. */
const FORGETFUL: WatchOptions = {
  simulator: { locations: 10, recordingsPerLocation: 2 },
  adjust: (config) => ({ ...config, watch: { ...config.watch, forgetAfterMs: 2_000, inventoryIntervalMs: 1_000 } }),
};

describeWithRedis("recordings that leave the fleet", () => {
  it("are reported as no longer watched, not as recovered, by themselves or with their location", async () => {
    await using watch = await startWatch(FORGETFUL);
    const { slack, mail, app, simulator } = watch;
    const [camera, other] = camerasOf(watch);
    for (const { id } of [camera, other]) simulator.world.setStatus(id, "offline");
    await until("all are told", () => slack.messages.length === 2 && mail.messages.length === 2);
    simulator.world.remove(camera.id);
    simulator.world.remove({ locationId: other.location.id });
    for (const { name } of [camera, other]) {
      const said = await slack.waitFor(
        ({ text, shown }) => /^⚪ .*no longer watched/.test(text) && shown.includes(name),
      );
      const written = await mail.waitFor(({ subject, text }) => subject.startsWith("⚪") && text.includes(name));
      for (const text of [said.shown, written.text]) expect(text).not.toMatch(/recovered|is back/i);
    }
    await until(
      "it is shown no more",
      async () => !(await (await fetch(`${app.address}/api/v1/locations`)).text()).includes(other.location.id),
    );
    expect([slack.messages.length, mail.messages.length]).toEqual([4, 4]);
  });
});
