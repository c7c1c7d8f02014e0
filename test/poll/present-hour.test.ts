import { expect, it } from "vitest";
import type { UptimeBucket } from "../../src/health/recording.ts";
import { figuresOf } from "../../src/health/uptime.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createScheduleLookup } from "../../src/poll/schedule-lookup.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR;
/** Friday; today is a holiday, on other days it is open from 08:00 to 20:00. */
const TODAY = Date.UTC(2026, 10, 20);

describeWithRedis("what the service reports for the present hour takes precedence", () => {
  const testStore = useTestStore();
  it.each([
    ["until now", TODAY + 10 * HOUR],
    ["of the whole of today", TODAY + 23 * HOUR],
  ])("where buckets are served %s", async (_, last) => {
    const { store } = testStore();
    const clock = { now: () => TODAY + 10 * HOUR + 5 * 60_000 };
    const one = aRecording("a", { locationId: "north", useUploadingSchedule: true, timezone: "UTC" });
    await store.inventory.saveRecordings([one]);
    const bucketsFrom = (from: number) => {
      const buckets: UptimeBucket[] = [];
      for (let at = from; at <= last; at += HOUR) {
        const hour = (at % DAY) / HOUR;
        const withinSchedule = at < TODAY && hour >= 8 && hour < 20;
        buckets.push(
          anUptimeBucket(at, withinSchedule ? 1 : 0, {
            withinSchedule,
            segmentsExpected: withinSchedule ? 60 : 0,
            segmentsReceived: withinSchedule ? 60 : 0,
          }),
        );
      }
      return buckets;
    };
    const state = {
      sweptAt: clock.now(),
      locations: new Map(),
      recordings: new Map([["a", { id: "a", locationId: "north" } as never]]),
    };
    const refresh = createRefreshUptime({
      ...{
        clock,
        log: silentLogger,
        uptime: store.uptime,
        inventory: store.inventory,
        figures: figuresOf([]),
        retainMs: 3 * DAY,
        indexTimezone: "recording" as const,
      },
      watch: { statusIntervalMs: 30_000, uptimeIntervalMs: 600_000 },
      service: {
        uptimes: async ({ start }) => ({
          results: [{ recording: one, buckets: bucketsFrom(Date.parse(start)) }],
          dropped: 0,
        }),
      },
      store: { ...store.shards, read: async () => ({ nonce: "", state }) },
    });
    await refresh(0, new AbortController().signal);
    expect(createScheduleLookup(store.uptime, store.inventory)(clock.now()).scheduleOf("a")).toBe("outside");
  });
});
