import { expect, it } from "vitest";
import { createBackfillUptime } from "../../src/poll/uptime-backfill.ts";
import { ServiceError } from "../../src/service/errors.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { DAY, UNBROKEN, uptimeOver } from "./rig.ts";

const NOW = Date.UTC(2026, 10, 20, 14, 5);
const YESTERDAY = { ratio: 0.25, segmentsExpected: 7 };

describeWithRedis("days from before a recording was known", () => {
  const testStore = useTestStore();

  async function watching(count: number, failures: Error[] = []) {
    const { store } = testStore();
    const fleet = Array.from({ length: count }, (_, i) =>
      aRecording(`r${i}`, { locationId: "north", timezone: "UTC" }),
    );
    await store.inventory.saveRecordings(fleet);
    const history = {
      buckets: [],
      days: { "2026-11-19": YESTERDAY },
      finishedDay: "2026-11-18",
      readFrom: "2026-11-17",
    };
    await store.uptime.saveHistories(0, new Map(fleet.map(({ id }) => [id, history])));
    const asked: { start: string; recids: readonly string[]; at: number }[] = [];
    const buckets = Array.from({ length: 20 * 24 }, (_, i) =>
      anUptimeBucket(NOW - (NOW % DAY) - (i + 1) * HOUR, 0.5, { segmentsExpected: 2 }),
    );
    const deps = uptimeOver(
      store,
      { at: NOW },
      {
        fleet,
        asked({ start, recids }) {
          asked.push({ start, recids, at: performance.now() });
          const failure = failures.shift();
          if (failure) throw failure;
        },
        bucketsOf: () => buckets,
      },
    );
    const days = async (id: string) => (await store.uptime.histories(0, [id])).get(id)?.days ?? {};
    const backfillAll = createBackfillUptime(deps);
    const backfill = (count: number) => {
      const ids = fleet.slice(0, count).map(({ id }) => id);
      return backfillAll(0, ids, UNBROKEN);
    };
    const hasPast = async () => (await store.uptime.histories(0, ["r0"])).get("r0")?.hasPast;
    return { backfill, asked, days, hasPast };
  }

  it("are asked for of a few at a time, five times a second after the first of them", async () => {
    const { backfill, asked, days } = await watching(70);
    await backfill(62);
    expect(asked.map(({ recids }) => recids.length)).toEqual([...Array(6).fill(10), 2]);
    expect((asked[6]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThan(350);
    const known = [await days("r61"), await days("r62")].map((one) => Object.keys(one).length);
    expect(known).toEqual([20, 1]);
  });

  it("are read as far as the service has them, and what was known stays", async () => {
    const { backfill, asked, days, hasPast } = await watching(1);
    await backfill(1);
    const known = await days("r0");
    expect(Object.keys(known).toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `2026-${dayName(i)}`));
    expect(known["2026-11-01"]).toEqual({ ratio: 0.5, segmentsExpected: 48 });
    expect(known["2026-11-19"]).toEqual(YESTERDAY);
    expect(asked).toMatchObject([{ start: "2026-10-21", recids: ["r0"] }]);
    expect(await hasPast()).toBe(true);
  });

  it("are marked as read once a day was refused too, and not after a failure in passing", async () => {
    const { backfill, days, hasPast } = await watching(1, [
      new ServiceError("timeout", "too slow"),
      ...[30, 7, 1].map((days) => new ServiceError("bad_request", `no ${days} days`)),
    ]);
    await backfill(1);
    expect(await hasPast()).toBeUndefined();
    await backfill(1);
    expect(await hasPast()).toBe(true);
    expect(await days("r0")).toEqual({ "2026-11-19": YESTERDAY });
  });
});

/** From 31 October to 19 November. */
function dayName(i: number): string {
  return new Date(Date.UTC(2026, 9, 31 + i)).toISOString().slice(5, 10);
}
