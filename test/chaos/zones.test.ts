import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { scheduleSpans, zoneAtHour, zoneBeginning, zoneEnding } from "../../bench/chaos/zones.ts";

const QUARTERS = Array.from({ length: 96 }, (_, i) => Date.UTC(2026, 10, 20) + i * 900_000);

describe("zones made for a run", () => {
  it("are those in which schedules end, and begin, at a given quarter of an hour", () => {
    for (const at of QUARTERS) {
      for (const [zone, hour] of [
        [zoneEnding(at), 20],
        [zoneBeginning(at), 8],
        [zoneAtHour(23, at), 23],
      ] as const) {
        const local = DateTime.fromMillis(at, { zone: zone.name });
        expect([local.isValid, local.hour, local.minute]).toEqual([true, hour, 0]);
        expect(local.offset * 60_000).toBe(zone.offsetMs);
      }
    }
  });

  it("have the hours of their schedules where they are", () => {
    for (const at of QUARTERS) {
      const span = { from: at - 3_600_000, to: at + 3_600_000 };
      expect(scheduleSpans(zoneEnding(at), span)).toEqual([{ from: at - 12 * 3_600_000, to: at }]);
      expect(scheduleSpans(zoneBeginning(at), span)).toEqual([{ from: at, to: at + 12 * 3_600_000 }]);
      expect(scheduleSpans(zoneAtHour(2, at), span)).toEqual([]);
    }
  });
});
