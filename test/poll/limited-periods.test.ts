import { expect, it } from "vitest";
import type { Recording, RecordingUptime, UptimeBucket } from "../../src/health/recording.ts";
import { scheduleState } from "../../src/health/schedule.ts";
import { figuresOf } from "../../src/health/uptime.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { createPeriods } from "../../src/poll/uptime-ask.ts";
import { ServiceError } from "../../src/service/errors.ts";
import type { Days } from "../../src/service/service.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR,
  MINUTE = 60_000;
const hours = createLocalHours();
/** Friday 14:05 UTC. */
const NOW = Date.UTC(2026, 10, 20, 14, 5);
describeWithRedis("schedules are known from the beginning", () => {
  const testStore = useTestStore();
  it.each([365, 14, 7, 4, 1])("of a service that gives %d days at most", async (most) => {
    const { store } = testStore();
    const one: Recording = aRecording("a", { locationId: "north", useUploadingSchedule: true, timezone: "UTC" });
    await store.inventory.saveRecordings([one]);
    const clock = { at: NOW };
    const refresh = createRefreshUptime({
      clock: { now: () => clock.at },
      watch: { statusIntervalMs: 30_000, uptimeIntervalMs: 10 * MINUTE },
      log: silentLogger,
      service: {
        async uptimes({ start, end }) {
          if ((Date.parse(end) - Date.parse(start)) / DAY + 1 > most)
            throw new ServiceError("bad_request", "too many days");
          const buckets: UptimeBucket[] = [];
          for (let at = Date.parse(start); at <= clock.at; at += HOUR) {
            const h = (at % DAY) / HOUR;
            const w = h >= 8 && h < 20;
            buckets.push(
              anUptimeBucket(at, 1, { withinSchedule: w, segmentsExpected: w ? 60 : 0, segmentsReceived: w ? 60 : 0 }),
            );
          }
          return { results: [{ recording: one, buckets } satisfies RecordingUptime], dropped: 0 };
        },
      },
      store: {
        ...store.shards,
        read: async () => ({
          nonce: "",
          state: {
            sweptAt: clock.at,
            locations: new Map(),
            recordings: new Map([["a", { id: "a", locationId: "north" } as never]]),
          },
        }),
      },
      uptime: store.uptime,
      inventory: store.inventory,
      figures: figuresOf([]),
      retainMs: 3 * DAY,
      indexTimezone: "recording",
    });
    const wrong: string[] = [];
    for (; clock.at < NOW + 1.5 * DAY; clock.at += 10 * MINUTE) {
      await refresh(0, new AbortController().signal);
      for (let m = 1; m <= 10; m++) {
        const at = clock.at + m * MINUTE;
        const h = new Date(at).getUTCHours();
        const known = store.uptime.schedule("a");
        const state = known ? scheduleState(known, at, (x) => hours.at(x, "UTC")) : "unknown";
        if ((h < 8 || h >= 20) && state !== "outside") wrong.push(new Date(at).toISOString().slice(5, 16));
      }
    }
    // Nights of which the first minutes of each hour count as within, so that every camera is reported offline.
    expect(wrong).toEqual([]);
  });
});

it.each([
  [22, [22, 22]],
  [14, [22, 7, 7, 7, 1, 7, 7, 7, 1]],
  [3, [22, 7, ...Array(22).fill(1), ...Array(22).fill(1)]],
])("of a service that gives %d days these are asked for, again as accepted", async (most, lengths) => {
  const asked: number[] = [];
  const inPeriods = createPeriods();
  const ask = async ({ start, end }: Days) => {
    const days = (Date.parse(end) - Date.parse(start)) / DAY + 1;
    asked.push(days);
    if (days > most) throw new ServiceError("bad_request", "too many days");
    return [start, end];
  };
  const days = { start: "2026-10-20", end: "2026-11-10" };
  for (let i = 0; i < 2; i++) {
    const parts = await inPeriods(days, ask);
    expect([parts[0]?.[0], parts.at(-1)?.[1]]).toEqual([days.start, days.end]);
  }
  expect(asked).toEqual(lengths);
});

it("a refusal of what was accepted before is not about its length", async () => {
  let isRefusing = false;
  const asked: Days[] = [];
  const inPeriods = createPeriods();
  const ask = async (days: Days) => {
    asked.push(days);
    if (isRefusing) throw new ServiceError("bad_request", "no such recording");
  };
  await inPeriods({ start: "2026-10-20", end: "2026-11-10" }, ask);
  isRefusing = true;
  await expect(inPeriods({ start: "2026-10-21", end: "2026-11-11" }, ask)).rejects.toThrow("no such recording");
  expect(asked).toHaveLength(2);
});
