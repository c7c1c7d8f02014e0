import { expect, it } from "vitest";
import type { Recording, RecordingUptime, UptimeBucket } from "../../src/health/recording.ts";
import { scheduleState } from "../../src/health/schedule.ts";
import { figuresOf } from "../../src/health/uptime.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { ServiceError } from "../../src/service/errors.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR;
/** A Friday, 14:05 in Leeds. */
const NOW = Date.UTC(2026, 10, 20, 14, 5);
const hours = createLocalHours();

const recording = (id: string, useUploadingSchedule: boolean): Recording =>
  aRecording(id, { locationId: "north", useUploadingSchedule });

/** Open from 08:00 to 20:00 where there is a schedule. */
function bucketsOf({ useUploadingSchedule, timezone }: Recording, from: number, to: number): UptimeBucket[] {
  const all: UptimeBucket[] = [];
  for (let startAt = from; startAt <= to; startAt += HOUR) {
    const hour = hours.at(startAt, timezone).ofWeek % 24;
    const withinSchedule = !useUploadingSchedule || (hour >= 8 && hour < 20);
    all.push(anUptimeBucket(startAt, 1, { withinSchedule, segmentsExpected: 1, segmentsReceived: 1 }));
  }
  return all;
}

describeWithRedis("learning a schedule", () => {
  const testStore = useTestStore();

  /** `weeksFail`: so many requests for weeks fail in passing. */
  async function watching(options: { refusesWeeks?: boolean; weeksFail?: number } = {}) {
    let failures = options.weeksFail ?? 0;
    const { store } = testStore();
    const fleet = [recording("a", true), recording("b", false)];
    await store.inventory.saveRecordings(fleet);
    const asked: { start: string; recids: readonly string[] }[] = [];
    const clock = { at: NOW };
    const state = {
      sweptAt: NOW,
      locations: new Map(),
      recordings: new Map(fleet.map(({ id }) => [id, { id, locationId: "north" } as never])),
    };
    const refresh = createRefreshUptime({
      clock: { now: () => clock.at },
      watch: { statusIntervalMs: 30_000, uptimeIntervalMs: 600_000 },
      log: silentLogger,
      service: {
        async uptimes({ start, recids = [] }) {
          asked.push({ start, recids });
          const from = Date.parse(start);
          if (NOW - from > 7 * DAY && failures-- > 0) throw new ServiceError("timeout", "too slow");
          if (options.refusesWeeks && NOW - from > 7 * DAY) throw new Error("too many days");
          const results = fleet
            .filter(({ id }) => recids.includes(id))
            .map((one): RecordingUptime => ({ recording: one, buckets: bucketsOf(one, from, clock.at) }));
          return { results, dropped: 0 };
        },
      },
      store: { ...store.shards, read: async () => ({ nonce: "", state }) },
      uptime: store.uptime,
      inventory: store.inventory,
      figures: figuresOf([]),
      retainMs: 3 * DAY,
      indexTimezone: "recording",
    });
    const stateAt = (id: string, at: number) => {
      const known = store.uptime.schedule(id);
      return known && scheduleState(known, at, (one) => hours.at(one, known.timezone));
    };
    return { refresh: () => refresh(0, new AbortController().signal), asked, clock, stateAt };
  }

  it("asks for weeks once, of those alone who have one, and then for what is new", async () => {
    const { refresh, asked, clock, stateAt } = await watching();
    await refresh();
    expect(asked).toEqual([
      { start: "2026-10-30", recids: ["a"] },
      { start: "2026-11-17", recids: ["b"] },
    ]);
    expect(stateAt("a", NOW + 4 * DAY)).toBe("within");
    expect(stateAt("a", NOW + 4 * DAY + 7 * HOUR)).toBe("outside");
    expect(stateAt("b", NOW), "it has none").toBeUndefined();
    clock.at += HOUR;
    await refresh();
    expect(asked.slice(2)).toEqual([{ start: "2026-11-20", recids: ["a", "b"] }]);
    expect(stateAt("a", NOW + 4 * DAY + 7 * HOUR)).toBe("outside");
  });

  it("learns day by day where weeks are refused", async () => {
    const { refresh, asked, stateAt } = await watching({ refusesWeeks: true });
    await refresh();
    expect(asked.map(({ recids }) => recids)).toEqual([["a"], ["a", "b"]]);
    expect(stateAt("a", NOW + 6 * DAY + 8 * HOUR), "Thursday was seen").toBe("outside");
    expect(stateAt("a", NOW + 2 * DAY + 8 * HOUR), "Sunday was not").toBe("unknown");
  });

  it("asks for weeks again that failed in passing, and goes by the days until then", async () => {
    const { refresh, asked, clock, stateAt } = await watching({ weeksFail: 2 });
    for (const _ of [1, 2]) {
      await refresh();
      expect(stateAt("a", NOW + 6 * DAY + 8 * HOUR), "Thursday was seen").toBe("outside");
      expect(stateAt("a", NOW + 2 * DAY + 8 * HOUR), "Sunday was not").toBe("unknown");
      clock.at += HOUR;
    }
    await refresh();
    expect(stateAt("a", NOW + 2 * DAY + 8 * HOUR)).toBe("outside");
    const weeks = asked.filter(({ start }) => start === "2026-10-30");
    expect(weeks.map(({ recids }) => recids)).toEqual([["a"], ["a"], ["a"]]);
  });

  it("takes weeks that fail again and again for refused", async () => {
    const { refresh, asked, clock } = await watching({ weeksFail: 100 });
    for (const _ of [1, 2, 3, 4, 5]) {
      await refresh();
      clock.at += HOUR;
    }
    expect(asked.filter(({ start }) => start === "2026-10-30")).toHaveLength(3);
  });
});
