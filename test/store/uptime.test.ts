import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { UptimeBucket } from "../../src/health/recording.ts";
import type { KnownSchedule } from "../../src/health/schedule.ts";
import type { UptimeHistory } from "../../src/store/uptime-history.ts";
import { anUptimeBucket } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { HOUR, T0, useTestStore } from "./fixtures.ts";

const DAY = 24 * HOUR;
/** As stored: with four decimals. */
const ratio = fc.nat(10_000).map((parts) => parts / 10_000);
const count = fc.option(fc.oneof(fc.constant(60), fc.nat(10_000), fc.maxSafeNat()), { nil: undefined });

/** Buckets of an hour or less, with gaps, repeated values, and clocks set by a part of an hour. */
const buckets: fc.Arbitrary<UptimeBucket[]> = fc
  .tuple(
    fc.nat(30_000_000),
    fc.array(
      fc.record({
        minutes: fc.oneof(fc.constant(60), fc.constantFrom(15, 30, 90, 180, 60 * 24 * 9)),
        times: fc.oneof(fc.constant(1), fc.nat(150)),
        withinSchedule: fc.boolean(),
        segmentsExpected: count,
        segmentsReceived: count,
        overallUptime: fc.option(ratio, { nil: undefined }),
      }),
      { maxLength: 20 },
    ),
  )
  .map(([first, steps]) => {
    let minute = first;
    return steps.flatMap(({ minutes, times, ...figures }) =>
      Array.from({ length: times }, () => {
        const startAt = minute * 60_000;
        minute += minutes;
        return { startAt, ...figures, avgUptimeOnSegment: undefined, pcSegmentsReceived: undefined };
      }),
    );
  });
const days = fc.dictionary(
  fc.nat(400).map((n) => new Date(T0 + n * DAY).toISOString().slice(0, 10)),
  fc.record({ ratio, segmentsExpected: fc.nat() }),
);

const history: fc.Arbitrary<UptimeHistory> = fc.record({
  buckets,
  days,
  finishedDay: fc.option(fc.constant("2026-03-01"), { nil: undefined }),
  isNextSettled: fc.constantFrom(true, undefined),
  readFrom: fc.option(fc.constant("2026-02-01"), { nil: undefined }),
  schedule: fc.option(
    fc.record({
      hours: fc.stringMatching(/^[1-9a-v]{168}$/),
      until: fc.nat(30_000_000).map((minutes) => minutes * 60_000),
    }),
    { nil: undefined },
  ),
  online: fc.option(
    fc.nat(30_000_000).map((minutes) => ({ from: minutes * 60_000, to: (minutes + 7) * 60_000 })),
    { nil: undefined },
  ),
  quality: fc.option(fc.record({ hour: fc.nat(600_000), levels: fc.stringMatching(/^[!-~]{1,168}$/) }), {
    nil: undefined,
  }),
});

/** Figures over a day. */
const figures = (
  at: number,
  ratios: Readonly<Record<string, number>>,
  schedules: Record<string, KnownSchedule> = {},
) => ({
  at,
  kinds: [DAY],
  rows: new Map(
    Object.keys({ ...ratios, ...schedules }).map((id) => {
      return [id, { ratios: [ratios[id] ?? null], schedule: schedules[id] }] as const;
    }),
  ),
});

describeWithRedis("uptime", () => {
  const testStore = useTestStore();

  it("a history comes back as it was: no data stays no data, never 0", async () => {
    const { uptime } = testStore().store;
    await fc.assert(
      fc.asyncProperty(history, async (saved) => {
        await uptime.saveHistories(0, new Map([["cam", saved]]));
        const read = (await uptime.histories(0, ["cam", "nobody"])).get("cam");
        expect(read).toEqual({ ...saved, days: { ...saved.days } });
      }),
      { numRuns: 100 },
    );
  });

  it("a history takes less than 1.2 kB: three days of hours that all differ, thirty days and the quality", async () => {
    const { redis, store } = testStore();
    const parts = (i: number) => (i * 7_919) % 300;
    const kept: UptimeHistory = {
      buckets: Array.from({ length: 72 }, (_, i) => anUptimeBucket(T0 + i * HOUR, 1 - parts(i) / 10_000)),
      days: Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [
          new Date(T0 - i * DAY).toISOString().slice(0, 10),
          { ratio: 1 - parts(i) / 10_000, segmentsExpected: 1_440 },
        ]),
      ),
      finishedDay: "2026-03-01",
      readFrom: "2026-02-01",
      quality: { hour: 500_000, levels: "x".repeat(168) },
    };
    await store.uptime.saveHistories(0, new Map([["cam", kept]]));
    expect(await redis.hstrlen(store.keys.uptime(0), "cam")).toBeLessThan(1_200);
  });

  it("histories that come one after another are packed one after another, and written together", async () => {
    const { store, keys } = testStore();
    const packed: string[] = [];
    async function* come() {
      for (const id of ["a", "b"]) {
        const one: UptimeHistory = {
          get buckets() {
            packed.push(id);
            return [];
          },
          days: {},
          finishedDay: undefined,
        };
        yield [id, one] as const;
        expect(packed.at(-1)).toBe(id);
        expect(await keys()).toEqual([]);
      }
    }
    await store.uptime.saveHistories(0, come());
    expect([...(await store.uptime.histories(0, ["a", "b"])).keys()]).toEqual(["a", "b"]);
  });

  it("recordings that left the shard lose their history", async () => {
    const { uptime } = testStore().store;
    const empty: UptimeHistory = { buckets: [], days: {}, finishedDay: undefined };
    await uptime.saveHistories(
      0,
      new Map([
        ["stays", empty],
        ["left", empty],
      ]),
    );
    await uptime.forgetOthers(0, new Set(["stays"]));
    expect([...(await uptime.histories(0, ["stays", "left"])).keys()]).toEqual(["stays"]);
    await uptime.forgetOthers(0, new Set());
    expect(await testStore().keys()).toEqual([]);
  });

  it("figures and the schedule of a recording that moved stay those of its new shard", async () => {
    const { uptime } = testStore().store;
    const a: KnownSchedule = { timezone: "UTC", hours: "1".repeat(168), served: [] };
    await uptime.saveFigures(0, figures(T0, { a: 0.5, b: 1 }, { a }));
    await uptime.saveFigures(1, figures(T0 + 1, { a: 0.4 }, { a }));
    await uptime.saveFigures(0, figures(T0 + 2, { b: 0.9 }));
    expect([uptime.figure("a", DAY), uptime.figure("a", 2 * DAY)]).toEqual([0.4, undefined]);
    expect(uptime.schedule("a")).toEqual(a);
    await uptime.saveFigures(1, figures(T0 + 3, {}));
    expect([uptime.figure("a", DAY), uptime.schedule("a")]).toEqual([undefined, undefined]);
  });

  it("another replica reads them, and drops those that are too old", async () => {
    await testStore().store.uptime.saveFigures(0, figures(T0, { a: 0.5 }));
    const { uptime } = testStore().replica();
    await uptime.refreshFigures([0], T0);
    expect(uptime.figure("a", DAY)).toBe(0.5);
    await uptime.refreshFigures([0], T0 + 1);
    expect(uptime.figure("a", DAY)).toBeUndefined();
    await uptime.refreshFigures([7], T0);
  });

  it("figures that were not asked for in ten minutes leave memory, and are read again when they are", async () => {
    const { uptime } = testStore().store;
    await uptime.saveFigures(0, figures(T0, { a: 0.5 }));
    const later = performance.now() + 600_000;
    const clock = vi.spyOn(performance, "now").mockReturnValue(later);
    try {
      await uptime.saveFigures(1, figures(T0, { b: 0.25 }));
      expect(["a", "b"].map((id) => uptime.figure(id, DAY))).toEqual([undefined, 0.25]);
      await uptime.refreshFigures([0], T0);
      expect(["a", "b"].map((id) => uptime.figure(id, DAY))).toEqual([0.5, 0.25]);
    } finally {
      clock.mockRestore();
    }
  });

  it("schedules are read by every replica, and stay when figures grow old", async () => {
    const shop: KnownSchedule = { timezone: "Europe/London", hours: "10?".repeat(56), served: [] };
    const served = [{ from: T0, to: T0 + HOUR, withinSchedule: false }];
    const { uptime } = testStore().store;
    await uptime.saveFigures(0, figures(T0, {}, { a: shop, b: { ...shop, served } }));
    const replica = testStore().replica().uptime;
    await replica.refreshFigures([0], T0);
    await replica.refreshFigures([0], T0 + DAY);
    for (const store of [uptime, replica]) {
      expect(["a", "b", "c"].map((id) => store.schedule(id))).toEqual([shop, { ...shop, served }, undefined]);
    }
    await uptime.saveFigures(0, figures(T0 + 1, {}, { b: shop }));
    expect(["a", "b"].map((id) => uptime.schedule(id))).toEqual([undefined, shop]);
  });

  it("figures of shards that come and go are those that were stored last", async () => {
    const { uptime } = testStore().store;
    const id = (n: number) => `r${n}`;
    const of = (ratio: number, n: number) => (ratio * n) / 2_000;
    const shard = fc.record({ shard: fc.nat(3), ids: fc.uniqueArray(fc.nat(2_000), { maxLength: 900 }), ratio });
    await fc.assert(
      fc.asyncProperty(fc.array(shard, { minLength: 1, maxLength: 8 }), async (saves) => {
        const expected = new Map<string, { shard: number; ratio: number }>();
        for (let n = 0; n < 4; n++) await uptime.saveFigures(n, figures(T0, {}));
        for (const { shard, ids, ratio } of saves) {
          await uptime.saveFigures(shard, figures(T0, Object.fromEntries(ids.map((n) => [id(n), of(ratio, n)]))));
          for (const [one, had] of expected) if (had.shard === shard) expected.delete(one);
          for (const n of ids) expected.set(id(n), { shard, ratio: of(ratio, n) });
        }
        const all = Array.from({ length: 2_001 }, (_, n) => id(n));
        expect(all.map((one) => uptime.figure(one, DAY))).toEqual(all.map((one) => expected.get(one)?.ratio));
      }),
      { numRuns: 30 },
    );
  });
});
