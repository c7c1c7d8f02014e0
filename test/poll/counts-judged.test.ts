import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createCountsLookup, createFollowTogether } from "../../src/poll/counts-judge.ts";
import { createRefreshCounts } from "../../src/poll/refresh-counts.ts";
import { rule } from "../health/shard-history.ts";
import { alertState } from "../metrics/fleets.ts";
import { HOUR, MINUTE, useTestStore } from "../store/fixtures.ts";
import { aRecordingState } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, UNBROKEN } from "./rig.ts";

/** A Friday, 17:00 in UTC. */
const NOW = Date.UTC(2026, 10, 20, 17);
const TODAY = Date.UTC(2026, 10, 20);
const INTERVAL = 10 * MINUTE;
const when = { kind: "counts", sensitivity: 30 } as const;

/** Visits of an hour: from 9:00 to 20:00, a little different each time. */
const usualIn = (at: number) => {
  const hour = new Date(at).getUTCHours();
  return hour >= 9 && hour < 20 ? 40 + ((at / HOUR) % 7) : 0;
};

const ids = ["leeds", "york", "bath", "derby", "hull", "stoke"];

describeWithRedis("what counts come to", () => {
  const testStore = useTestStore();

  /** Locations of one time zone; those in `fell` count nothing since 10:00. */
  async function watching(fell: ReadonlySet<string>, shardOf = (_id: string) => 0) {
    const { store } = testStore();
    const clock = { at: NOW };
    const countIn = (id: string, from: number, to: number) => {
      let sum = 0;
      for (let at = from; at < to; at += INTERVAL) sum += fell.has(id) && at >= TODAY + 10 * HOUR ? 0 : usualIn(at) / 6;
      return Math.round(sum);
    };
    const soldIn = (from: number, to: number) => Math.round(countIn("", from, to) / 2);
    for (const id of ids) {
      const series = (since: number, count: (from: number, to: number) => number) => {
        const hours = new Map<number, number>();
        for (let at = NOW - 8 * 7 * 24 * HOUR; at < NOW - HOUR; at += HOUR) hours.set(at, count(at, at + HOUR));
        const readings = [];
        for (let at = TODAY + INTERVAL; at <= NOW; at += INTERVAL)
          readings.push({ at, since, count: count(since, at) });
        return { hours, early: new Set<number>(), readings };
      };
      const entries = series(TODAY, (from, to) => countIn(id, from, to));
      const sales = series(TODAY - 24 * HOUR, soldIn);
      await store.counts.save(id, { timezone: "UTC", entries, zones: new Map(), sales });
    }
    const recordings = new Map(ids.map((id) => [`r-${id}`, aRecordingState(`r-${id}`, { locationId: id })]));
    const state = { sweptAt: NOW, recordings, locations: new Map() };
    type Query = { locations: readonly string[]; start: number; end?: number };
    const served = async ({ locations, start, end = NOW }: Query) => {
      const summary = locations.map((location) => {
        const entries = countIn(location, start, end);
        return { location, values: { entries, sales_conversion_rate: soldIn(start, end) / entries } };
      });
      return { summary, segments: undefined, units: {}, dropped: 0 } as never;
    };
    const { refresh, judge } = createRefreshCounts({
      ...store,
      clock: clockOf(clock),
      log: silentLogger,
      shards: { ...store.shards, read: async () => ({ nonce: "", state }) },
      assigned: {
        locations: (shard: number) => ids.filter((id) => shardOf(id) === shard),
        shards: () => [...new Set(ids.map((id) => shardOf(id)))],
        shardOf,
      } as never,
      service: { entries: served, areaData: served, conversionRate: served },
      rules: [rule("CountsImplausible", when)],
      watch: { locationsPerRequest: 50 },
      config: { counts: { intervalMs: INTERVAL, closedDays: [] } },
    });
    await Promise.all([0, 1, 2].map((shard) => store.shards.noteAttempt(`details:${shard}`, NOW)));
    const follow = createCountsLookup(store.countVerdicts, INTERVAL);
    const together = createFollowTogether(store.countVerdicts, [when], INTERVAL);
    clock.at += INTERVAL;
    const round = async (shard: number) => {
      await refresh(shard, UNBROKEN);
      await judge();
    };
    return { round, clock, follow, together, store, recordings };
  }

  it("a location whose only recording is missing does not record", async () => {
    const { round, clock, follow, recordings } = await watching(new Set(["york"]));
    const facts = { timezone: "UTC", problem: "missing" } as const;
    const missing = alertState("RecordingMissing", { state: "firing", startsAt: TODAY + 10 * HOUR, facts });
    recordings.set("r-york", aRecordingState("r-york", { locationId: "york", alerts: { RecordingMissing: missing } }));
    await round(0);
    expect((await follow(clock.at))?.(when, "location", "york")).toMatchObject({ reason: "not_recording" });
  });

  it("one location that counts nothing is found, with what is usual; the others are as usual, and old verdicts show nothing", async () => {
    const { round, clock, follow, together, store } = await watching(new Set(["york"]));
    await round(0);
    const found = await follow(clock.at);
    expect(found?.(when, "location", "york")).toMatchObject({
      met: true,
      reason: "witnessed",
      counts: { counted: 0, witness: { kind: "tills" } },
    });
    expect(found?.(when, "location", "york")?.counts?.expected).toBeGreaterThan(100);
    expect(found?.(when, "location", "leeds")).toMatchObject({ met: false, reason: "as_usual" });
    expect(found?.({ ...when, sensitivity: 31 }, "location", "york")).toBeUndefined();
    expect(await together(clock.at)).toEqual([]);
    const { hours } = await store.countVerdicts.refreshJudged();
    const york = hours.find(({ locationId }) => locationId === "york");
    expect(york).toMatchObject({ hour: NOW - 2 * HOUR, counted: 0 });
    expect(york?.expected).toBeGreaterThan(30);
    expect(await follow(clock.at + 4 * INTERVAL)).toBeUndefined();
    expect(await together(clock.at + 4 * INTERVAL)).toBeUndefined();
    expect((await store.usualEntries.read(["york"])).size).toBe(1);
    await store.countVerdicts.forgetAll();
    expect((await store.usualEntries.read(["york"])).size).toBe(0);
    expect(await store.countVerdicts.refreshJudged()).toEqual({ at: 0, rules: {}, hours: [] });
    expect((await store.countVerdicts.assessed()).size).toBe(0);
  });

  it("most locations at once are one finding about their time zone", async () => {
    const { round, clock, follow, together } = await watching(new Set(ids.slice(0, 5)));
    await round(0);
    expect((await follow(clock.at))?.(when, "location", "york")?.met).not.toBe(true);
    expect(await together(clock.at)).toMatchObject([{ label: "timezone", value: "UTC", dropped: 5 }]);
  });

  it("nothing is judged before most of the fleet was read, and a location by its own shard only", async () => {
    const moved = { york: 0 };
    const shardOf = (id: string) => (id === "york" ? moved.york : ids.indexOf(id) % 3);
    const { round, clock, follow, together, store } = await watching(new Set(["york"]), shardOf);
    await round(0);
    expect(await together(clock.at), "after a pause").toBeUndefined();
    await round(1);
    expect((await follow(clock.at))?.(when, "location", "york")?.met).toBe(true);
    moved.york = 1;
    await round(1);
    const { hours } = await store.countVerdicts.refreshJudged();
    expect(hours.filter(({ locationId }) => locationId === "york")).toHaveLength(1);
  });
});
