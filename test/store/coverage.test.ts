import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { coverage, HOUR, T0, useTestStore } from "./fixtures.ts";

const MINUTE = 60_000;
const DAY = 24 * HOUR;

describeWithRedis("the time that was watched", () => {
  useTestStore();

  it("continues while sweeps follow one another, and begins again after a gap", async () => {
    for (const minutes of [0, 1, 2, 7, 8, 30, 31]) await coverage.note(T0 + minutes * MINUTE, 5 * MINUTE);
    expect(await coverage.since(T0)).toEqual([
      { from: T0, to: T0 + 8 * MINUTE },
      { from: T0 + 30 * MINUTE, to: T0 + 31 * MINUTE },
    ]);
    expect(await coverage.since(T0 + 20 * MINUTE)).toEqual([{ from: T0 + 30 * MINUTE, to: T0 + 31 * MINUTE }]);
  });

  it("never goes back when a replica is late", async () => {
    await coverage.note(T0, 5 * MINUTE);
    await coverage.note(T0 + 3 * MINUTE, 5 * MINUTE);
    await coverage.note(T0 + 2 * MINUTE, 5 * MINUTE);
    expect(await coverage.since(T0)).toEqual([{ from: T0, to: T0 + 3 * MINUTE }]);
  });

  it("is forgotten after ten weeks", async () => {
    await coverage.note(T0, MINUTE);
    await coverage.note(T0 + 71 * DAY, MINUTE);
    expect(await coverage.since(0)).toEqual([{ from: T0 + 71 * DAY, to: T0 + 71 * DAY }]);
  });
});
