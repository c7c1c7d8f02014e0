import fc from "fast-check";
import { expect, it } from "vitest";
import type { KnownSchedule } from "../../src/health/schedule.ts";
import type { UptimeHistory } from "../../src/store/uptime-history.ts";
import { describeWithRedis } from "../support/redis.ts";
import { HOUR, T0, useTestStore } from "./fixtures.ts";

const DAY = 24 * HOUR;
const ratio = fc.option(
  fc.double({ min: 0, max: 1, noNaN: true }).map((n) => n + 0),
  { nil: undefined },
);
const count = fc.option(fc.nat(10_000), { nil: undefined });

const history: fc.Arbitrary<UptimeHistory> = fc.record({
  buckets: fc.array(
    fc.record({
      startAt: fc.nat(30_000_000).map((minutes) => minutes * 60_000),
      withinSchedule: fc.boolean(),
      segmentsExpected: count,
      segmentsReceived: count,
      avgUptimeOnSegment: fc.constant(undefined),
      pcSegmentsReceived: fc.constant(undefined),
      overallUptime: ratio,
    }),
    { maxLength: 5 },
  ),
  days: fc.dictionary(
    fc.constantFrom("2026-03-01", "2026-03-02"),
    fc.record({ ratio: fc.double({ min: 0, max: 1, noNaN: true }).map((n) => n + 0), segmentsExpected: fc.nat() }),
  ),
  finishedDay: fc.option(fc.constant("2026-03-01"), { nil: undefined }),
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
  quality: fc.option(
    fc.record({
      hour: fc.nat(600_000),
      levels: fc.stringMatching(/^[!-~]{1,168}$/),
      days: fc.option(fc.record({ day: fc.nat(30_000), levels: fc.stringMatching(/^[!-~]{1,90}$/) }), {
        nil: undefined,
      }),
    }),
    { nil: undefined },
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
      { seed: 1, numRuns: 100 },
    );
  });

  it("gives the recordings below a threshold by current figures, and none once these are stale", async () => {
    const { uptime } = testStore().store;
    const figures = (b: number) =>
      new Map([
        [
          DAY,
          new Map([
            ["a", 0.95],
            ["b", b],
          ]),
        ],
      ]);
    const low = () => [...uptime.below(0, DAY, 0.95)];
    expect(low()).toEqual([]);
    await uptime.saveFigures(0, T0, figures(0.9));
    expect(low()).toEqual(["b"]);
    expect([...uptime.below(0, DAY, 0.9)]).toEqual([]);
    expect([...uptime.below(0, 2 * DAY, 0.95)]).toEqual([]);
    await uptime.saveFigures(0, T0, figures(0.99));
    expect(low()).toEqual([]);
    await uptime.saveFigures(0, T0, figures(0.5));
    expect(low()).toEqual(["b"]);
    await uptime.refreshFigures(0, T0 + 1);
    expect(low()).toEqual([]);
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

  it("figures are read per window; new ones replace all of the shard's old ones and no other's", async () => {
    const { uptime } = testStore().store;
    const figures = (...rows: [string, number][]) => new Map([[DAY, new Map(rows)]]);
    await uptime.saveFigures(0, T0, figures(["a", 0.5], ["b", 1]));
    await uptime.saveFigures(1, T0, figures(["c", 0]));
    await uptime.saveFigures(0, T0 + 1, figures(["a", 0.25]));
    expect(["a", "b", "c"].map((id) => uptime.figure(id, DAY))).toEqual([0.25, undefined, 0]);
    expect(uptime.figure("a", HOUR)).toBeUndefined();
  });

  it("another replica reads them, and drops those that are too old", async () => {
    await testStore().store.uptime.saveFigures(0, T0, new Map([[DAY, new Map([["a", 0.5]])]]));
    const { uptime } = testStore().replica();
    await uptime.refreshFigures(0, T0);
    expect(uptime.figure("a", DAY)).toBe(0.5);
    await uptime.refreshFigures(0, T0 + 1);
    expect(uptime.figure("a", DAY)).toBeUndefined();
    await uptime.refreshFigures(7, T0);
  });

  it("schedules are read by every replica, and stay when figures grow old", async () => {
    const shop: KnownSchedule = { timezone: "Europe/London", hours: "10?".repeat(56), current: undefined };
    const current = { from: T0, to: T0 + HOUR, withinSchedule: false };
    const schedules = new Map([
      ["a", shop],
      ["b", { ...shop, current }],
    ]);
    const { uptime } = testStore().store;
    await uptime.saveFigures(0, T0, new Map(), schedules);
    const replica = testStore().replica().uptime;
    await replica.refreshFigures(0, T0);
    await replica.refreshFigures(0, T0 + DAY);
    for (const store of [uptime, replica]) {
      expect(["a", "b", "c"].map((id) => store.schedule(id))).toEqual([shop, { ...shop, current }, undefined]);
    }
    await uptime.saveFigures(0, T0 + 1, new Map(), new Map([["b", shop]]));
    expect(["a", "b"].map((id) => uptime.schedule(id))).toEqual([undefined, shop]);
  });

  it("figures from before there were schedules are read", async () => {
    await testStore().redis.hset(`{${testStore().prefix}}:figures:0`, {
      n: "1",
      d: `{"at":${T0},"windows":[[${DAY},{"a":0.5}]]}`,
    });
    const { uptime } = testStore().store;
    await uptime.refreshFigures(0, T0);
    expect([uptime.figure("a", DAY), uptime.schedule("a")]).toEqual([0.5, undefined]);
  });
});
