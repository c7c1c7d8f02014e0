import { describe, expect, it } from "vitest";
import { planFleet, planOptionsOf, waitForCrossing } from "../../bench/chaos/fleet.ts";

const MINUTE = 60_000;
const NINE = Date.UTC(2026, 10, 20, 9);
const LENGTH = 8 * MINUTE;

describe("the fleet of a chaos run", () => {
  it("has schedules that end and begin where a full quarter of an hour falls into it", () => {
    expect(planFleet({ recordings: 2_000 }, NINE + 10 * MINUTE, LENGTH).crossing).toBe(NINE + 15 * MINUTE);
    for (const minute of [1, 5, 14]) {
      const day = planFleet({ recordings: 2_000 }, NINE + minute * MINUTE, LENGTH);
      expect([day.crossing, day.twilight]).toEqual([undefined, 0]);
      expect(day.night).toBe(20);
    }
  });

  it("is waited for no longer than it takes", () => {
    for (let minute = 0; minute < 15; minute += 0.25) {
      const now = NINE + minute * MINUTE;
      const waitMs = waitForCrossing(now, LENGTH);
      expect(planFleet({ recordings: 2_000 }, now + waitMs, LENGTH).crossing).toBe(
        NINE + (minute > 12.5 ? 30 : 15) * MINUTE,
      );
      expect(waitMs).toBeLessThan(15 * MINUTE - LENGTH + 4 * MINUTE);
    }
  });

  it("has as many recordings as asked for, those with schedules last", () => {
    const day = planFleet({ recordings: 2_000 }, NINE + 10 * MINUTE, LENGTH);
    const { locations, scheduled } = day.fleet;
    expect(5 * (locations + scheduled.length)).toBe(2_000);
    const ids = Array.from({ length: 400 }, (_, i) => `5f${i.toString(16).padStart(2, "0")}`);
    const places = planOptionsOf(day, ids, NINE + 11 * MINUTE);
    expect(places.scheduled.crossingAt).toBe(4 * MINUTE);
    expect(places.scheduled.night[0]).toBe(locations);
    expect(places.scheduled.begins.at(-1)).toBe(399);
    expect(places.receiverOf(9)).toBe(1);
  });
});
