import { expect, it } from "vitest";
import { integration, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { by, Lab } from "./lab.ts";

describeWithRedis("a silence that is extended while it suppresses an alert", () => {
  const testStore = useTestStore();

  it("suppresses it until its new end, and is the same silence", async () => {
    const lab = new Lab(testStore(), [integration("ops/slack/0")]);
    const id = await lab.silence('location_id="1"', 10);
    await lab.fires("a");
    await lab.until(9);
    const changes = lab.changes();
    expect(await changes.extendSilence(id, T0 + 60 * MINUTE, by)).toBe(true);
    expect(await changes.extendSilence(id, T0 + 30 * MINUTE, by)).toBe(true);
    await lab.until(59);
    expect(lab.lines()).toEqual([]);
    expect(await changes.silences()).toMatchObject([{ id, startsAt: T0, endsAt: T0 + 60 * MINUTE }]);
    await lab.until(62);
    expect(lab.lines()).toHaveLength(1);
    expect(await changes.extendSilence(id, T0 + 90 * MINUTE, by)).toBe(false);
  });
});
