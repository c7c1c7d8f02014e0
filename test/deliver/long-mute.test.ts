/** Mute times that are longer than `group_interval`, and than any search of their end minute by minute. */
import { expect, it } from "vitest";
import { HOUR, integration, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { Lab } from "./lab.ts";

describeWithRedis("a mute time", () => {
  const testStore = useTestStore();
  it.each([1, 3, 10, 15])(
    "of %i hours: what still fires is sent when it ends, with a group_interval of 6 h",
    async (hours) => {
      const lab = new Lab(testStore(), [integration("ops/slack/0")]);
      const [from, to] = [480, 480 + hours * 60];
      const day = { name: "day", intervals: [{ times: [{ from, to }], location: "UTC" }] };
      lab.route = { ...lab.route, groupIntervalMs: 6 * HOUR, muteTimes: [day] };
      await lab.until(10);
      await lab.fires("a");
      await lab.until(20 * 60);
      expect(((lab.log[0]?.at ?? 0) - T0) / HOUR).toBe(hours);
    },
  );
});
