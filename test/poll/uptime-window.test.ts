import { expect, it } from "vitest";
import type { RecordingUptime } from "../../src/health/recording.ts";
import { uptimeRetentionMs, windowsOf } from "../../src/health/uptime.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRefreshUptime, startUptimeWork } from "../../src/poll/uptime.ts";
import { uptimeRule } from "../health/shard-history.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const NOW = Date.UTC(2026, 10, 20, 14, 30);
const JUST_NOW = Date.UTC(2026, 10, 20, 13);
/** `old` was down until three days ago; `young` was set up yesterday. */
const fleet = [
  { recording: aRecording("old", { timezone: "UTC" }), since: NOW - 60 * DAY, upSince: NOW - 3 * DAY },
  { recording: aRecording("young", { timezone: "UTC" }), since: NOW - DAY, upSince: NOW - DAY },
];

describeWithRedis("a window of uptime", () => {
  const testStore = useTestStore();

  function watching() {
    const { store } = testStore();
    const asked: string[] = [];
    const clock = { at: NOW };
    const service = { fails: false };
    const recordings = new Map(fleet.map(({ recording: { id } }) => [id, { id, locationId: "north" } as never]));
    const state = { sweptAt: NOW, locations: new Map(), recordings };
    /** As configured: figures over a day, and over `overMs`. */
    const refreshWith = (overMs: number) => {
      const rules = [uptimeRule({ when: { kind: "overall_uptime", below: 0.95, clearAbove: 0.95, overMs } })];
      return createRefreshUptime({
        clock: { now: () => clock.at },
        log: silentLogger,
        service: {
          async uptimes({ start, recids = [] }) {
            asked.push(start);
            if (service.fails) throw new Error("No answer.");
            const own = fleet.filter(({ recording }) => recids.includes(recording.id));
            const results = own.map(({ recording, since, upSince }): RecordingUptime => {
              const buckets = [];
              for (let at = Date.parse(start); at <= clock.at; at += HOUR) {
                if (at >= since) buckets.push(anUptimeBucket(at, at >= upSince ? 1 : 0));
              }
              return { recording, buckets };
            });
            return { results, dropped: 0 };
          },
        },
        store: { ...store.shards, read: async () => ({ nonce: "", state }) },
        uptime: store.uptime,
        inventory: store.inventory,
        windowsMs: windowsOf(rules),
        retainMs: uptimeRetentionMs(rules),
        indexTimezone: "recording",
      })(0);
    };
    const figures = (overMs: number) => fleet.map(({ recording }) => store.uptime.figure(recording.id, overMs));
    return { refreshWith, figures, asked, clock, service, store };
  }

  it("has a figure once all of it was read, with days before the recording existed", async () => {
    const { refreshWith, figures, asked, service, clock } = watching();
    await refreshWith(DAY);
    expect([asked, figures(DAY)]).toEqual([["2026-11-17"], [1, 1]]);
    service.fails = true;
    await refreshWith(WEEK);
    expect(figures(WEEK)).toEqual([undefined, undefined]);
    service.fails = false;
    await refreshWith(WEEK);
    expect(asked.slice(1)).toEqual(["2026-11-11", "2026-11-11"]);
    expect(figures(WEEK)[0]).toBeCloseTo(3 / 7, 1);
    expect(figures(WEEK)[1]).toBe(1);
    clock.at += HOUR;
    await refreshWith(WEEK);
    expect(asked.at(-1), "once").toBe("2026-11-20");
  });

  it("that was shorter in between is read again", async () => {
    const { refreshWith, figures, asked, clock } = watching();
    for (const overMs of [WEEK, DAY, WEEK]) {
      await refreshWith(overMs);
      clock.at += HOUR;
    }
    expect(asked).toEqual(["2026-11-11", "2026-11-20", "2026-11-11"]);
    expect(figures(WEEK)[0]).toBeCloseTo(3 / 7, 1);
  });

  it("is read at once after it was configured, and never where it is known", async () => {
    const { refreshWith, store } = watching();
    await refreshWith(DAY);
    const added: unknown[] = [];
    const start = (windowsMs: readonly number[]) =>
      startUptimeWork(
        {
          queues: { work: async () => {}, add: async (queue, data) => void added.push([queue, data]) },
          assigned: { shards: () => [0] } as never,
          statusIntervalMs: 30_000,
          uptime: store.uptime,
        },
        windowsMs,
        async () => true,
      );
    await start([DAY]);
    expect(added).toEqual([]);
    await start([DAY, WEEK]);
    expect(added).toEqual([["uptime", { shard: 0 }]]);
  });

  it("of a history whose first day is not known is read again", async () => {
    const { refreshWith, asked, store } = watching();
    const buckets = [anUptimeBucket(JUST_NOW, 1)];
    const history = { buckets, days: {}, finishedDay: "2026-11-19" };
    await store.uptime.saveHistories(0, new Map(fleet.map(({ recording: { id } }) => [id, history])));
    await refreshWith(DAY);
    expect(asked).toEqual(["2026-11-17"]);
  });
});
