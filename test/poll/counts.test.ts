import { DateTime } from "luxon";
import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { PAUSE_SHARE, SLOW_AT_ONCE } from "../../src/poll/ask-slowly.ts";
import { createReadCounts, isInTrouble } from "../../src/poll/counts.ts";
import { FRESH_INTERVALS } from "../../src/poll/counts-judge.ts";
import { allowanceOf, localDays } from "../../src/poll/counts-plan.ts";
import { ServiceError } from "../../src/service/service.ts";
import type { KeptCounts } from "../../src/store/counts.ts";
import { HOUR, MINUTE, SECOND, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, DAY, UNBROKEN } from "./rig.ts";

const INTERVAL = 10 * MINUTE;
const places = (count: number) => Array.from({ length: count }, (_, i) => `l${i}`);
/** A Friday, 14:30 in Leeds. */
const NOW = Date.UTC(2026, 10, 20, 14, 30);

it.each(["Europe/London", "America/St_Johns", "Asia/Kolkata", "Pacific/Auckland", "America/New_York", "Nowhere/AtAll"])(
  "days and hours of %s are local, also where clocks change",
  (zone) => {
    for (let at = Date.UTC(2026, 2, 27); at < Date.UTC(2026, 3, 7); at += 67 * MINUTE) {
      const days = localDays(zone, at);
      const local = DateTime.fromMillis(at, { zone: zone === "Nowhere/AtAll" ? "utc" : zone });
      expect(days.today).toBe(local.startOf("day").toMillis());
      expect(days.yesterday).toBe(local.minus({ days: 1 }).startOf("day").toMillis());
      const settled = local.minus({ minutes: 20 }).startOf("hour");
      expect(days.lastHour).toBe(settled.toMillis() - HOUR);
    }
  },
);

it("nothing is asked where the shard's last sweep failed, or those of most of the fleet", () => {
  const good = { goodAt: 2, attemptedAt: 2 };
  const bad = { goodAt: 1, attemptedAt: 2 };
  const fleet = (...all: (typeof good)[]) => new Map(all.map((one, i) => [`shard:${i}`, one]));
  expect(isInTrouble(fleet(good, good, bad), 0)).toBe(false);
  expect(isInTrouble(fleet(bad, good, good), 0)).toBe(true);
  expect(isInTrouble(fleet(good, bad, bad), 0)).toBe(true);
  expect(isInTrouble(new Map([["uptime:1", bad]]), 0)).toBe(false);
});

it.each([
  { locations: 1_000, seconds: 3 },
  { locations: 10_000, seconds: 1 },
  { locations: 20_000, seconds: 0.8 },
])(
  "$locations locations are read while what they showed is fresh, at $seconds s a request",
  ({ locations, seconds }) => {
    const shards = locations / 50;
    const requests = shards * allowanceOf(50, INTERVAL, shards);
    expect(requests, "as the service allows").toBeLessThanOrEqual(locations);
    const roundMs = (requests / SLOW_AT_ONCE) * seconds * SECOND * (1 + PAUSE_SHARE);
    expect(roundMs).toBeLessThanOrEqual(FRESH_INTERVALS * INTERVAL);
  },
);

interface World {
  /** True count of an hour at a location or zone. */
  hour(location: string, at: number, zone: string): number | undefined;
  broken?: Error | undefined;
  timezone: string | undefined;
  refused: Set<string>;
  refusal: "bad_request" | "auth";
  asked: { route: string; start: number; end: number; at: number }[];
}

describeWithRedis("reading counts", () => {
  const testStore = useTestStore();

  function reading(locations: readonly string[], { all = false, intervalMs = INTERVAL, shards = 1 } = {}) {
    const { store, replica } = testStore();
    const clock = { at: NOW };
    const world: World = {
      refusal: "bad_request",
      hour: (_, at) => new Date(at).getUTCHours(),
      timezone: "Europe/London",
      refused: new Set(),
      asked: [],
    };
    type Query = { start: number; end?: number; locations: readonly string[]; taxonomies?: readonly string[] };
    function answer(route: string, { start, end = clock.at }: Query) {
      world.asked.push({ route, start, end, at: clock.at });
      if (world.broken) throw world.broken;
      if (world.refused.has(route)) throw new ServiceError(world.refusal, "Refused.");
      return (location: string, zone = "") => {
        let sum: number | undefined;
        for (let at = start; at < end; at += HOUR) {
          const one = world.hour(location, at, zone);
          if (one !== undefined) sum = (sum ?? 0) + one;
        }
        return sum;
      };
    }
    /** A route whose rows have these values. */
    const served =
      (route: string, valuesOf: (count: ReturnType<ReturnType<typeof answer>>) => object) => async (query: Query) => {
        const count = answer(route, query);
        const summary = query.locations.flatMap((location) =>
          (query.taxonomies ?? [undefined]).map((taxonomy) => ({
            ...{ location, taxonomy },
            values: valuesOf(count(location, taxonomy)),
          })),
        );
        return { summary, segments: undefined, units: {}, dropped: 0 } as never;
      };
    const deps = (used: typeof store) => ({
      clock: clockOf(clock),
      log: silentLogger,
      service: {
        entries: served("entries", (entries) => ({ entries })),
        areaData: served("zones", (area_total_entries) => ({ area_total_entries })),
        conversionRate: served("sales", () => ({ sales_conversion_rate: 0.5 })),
      },
      store: used,
      assigned: { locations: () => locations, shards: () => Array.from({ length: shards }, (_, i) => i) },
      watch: { locationsPerRequest: 50 },
      intervalMs,
      all,
      timezoneOf: () => world.timezone,
    });
    const read = createReadCounts(deps(store));
    const seen = new Map<string, KeptCounts>();
    const each = async ({ id, counts }: { id: string; counts: KeptCounts }) => void seen.set(id, counts);
    return {
      store,
      clock,
      world,
      seen,
      /** So many rounds, each of them after a while; gives what the last one came to. */
      ticks: async (count = 1, by = INTERVAL) => {
        let outcome: Awaited<ReturnType<typeof read>>;
        for (let i = 0; i < count; i++) {
          clock.at += by;
          outcome = await read(0, each, UNBROKEN);
        }
        return outcome;
      },
      restarted: () => createReadCounts(deps(replica())),
      each,
    };
  }

  const hoursAsked = ({ asked }: World) =>
    asked.filter(({ start, end }) => end - start === HOUR).map(({ start }) => start);

  it("today so far is read each time, an hour once it is over, the past within a day, and then nothing but these", async () => {
    const { ticks, world, seen, clock } = reading(places(2), { intervalMs: HOUR });
    await ticks(150, HOUR);
    const kept = seen.get("l0")?.entries;
    const days = localDays("Europe/London", clock.at);
    expect(kept?.hours.size, "eight weeks").toBe(8 * 7 * 24);
    expect(Math.max(...(kept?.hours.keys() ?? []))).toBe(days.lastHour);
    expect([...(kept?.hours ?? [])].every(([hour, count]) => count === new Date(hour).getUTCHours())).toBe(true);
    expect(kept?.readings.at(-1)).toMatchObject({ at: clock.at, since: days.today });
    expect(kept?.readings, "a day and a half").toHaveLength(36);
    const before = world.asked.length;
    await ticks(24, HOUR);
    expect((world.asked.length - before) / 24, "a reading, the last hour, an hour of yesterday").toBeCloseTo(3, 0);
  });

  it("the hours that are needed next are asked for first", async () => {
    const { ticks, world } = reading(places(12));
    await ticks(6);
    const hours = hoursAsked(world);
    const runs = Math.floor(NOW / HOUR) * HOUR;
    expect(Math.min(...hours.slice(0, 24)), "the last day").toBeGreaterThanOrEqual(runs - 26 * HOUR);
    const next = hours.slice(24, 40).filter((hour) => hour < runs - 2 * DAY);
    expect(next.slice(0, 8)).toEqual(Array.from({ length: 8 }, (_, week) => runs - (week + 1) * 7 * DAY));
  });

  it.each([1, 2, 5])("%i locations cost no more than a request each and ten minutes", async (many) => {
    const { ticks, world, seen } = reading(places(many), { all: true });
    await ticks(36);
    expect(world.asked.length).toBeLessThanOrEqual(36 * many + 1);
    const { entries, sales } = seen.get("l0") ?? {};
    expect(entries?.readings.length).toBeGreaterThanOrEqual(6);
    expect(sales?.readings.length).toBeGreaterThan(0);
    expect(entries?.hours.size).toBeGreaterThan(6);
  });

  it("zones and sales are read beside entries where a rule needs them, and forgotten where none does", async () => {
    const { store, ticks, seen } = reading(["leeds", "york"].concat(places(20)), { all: true });
    await store.zones.save(new Map([["leeds", new Map([["a", ["Tills"]]])]]));
    await ticks();
    const { zones, sales, entries } = seen.get("leeds") ?? {};
    expect(zones?.get("Tills")?.readings).toHaveLength(1);
    expect(sales?.readings[0]?.since, "since yesterday, so that somebody was counted").toBe(Date.UTC(2026, 10, 19));
    expect(sales?.readings[0]?.count).toBeGreaterThan(Number(entries?.readings[0]?.count) / 2);
    expect(zones?.get("Tills")?.hours.size).toBeGreaterThan(0);
    expect(seen.get("york")?.zones.size).toBe(0);
  });

  it("a zone that no recording covers is not shown, and forgotten after a week", async () => {
    const { store, ticks, seen, clock } = reading(places(12), { all: true });
    const cover = (zones: string[]) => store.zones.save(new Map([["l0", new Map([["a", zones]])]]));
    const stored = async () => (await store.counts.read(["l0"])).get("l0")?.zones.get("Tills")?.hours.size;
    await cover(["Tills"]);
    await ticks(3);
    const hours = await stored();
    expect(hours).toBeGreaterThan(0);
    await cover([]);
    await ticks();
    expect(seen.get("l0")?.zones.size).toBe(0);
    expect(await stored()).toBe(hours);
    await cover(["Tills"]);
    await ticks();
    expect(seen.get("l0")?.zones.get("Tills")?.hours.size).toBeGreaterThanOrEqual(hours ?? 0);
    await cover([]);
    clock.at += 8 * DAY;
    await ticks();
    expect(await stored()).toBeUndefined();
  });

  it("figures that cannot be true are no data, and a missing row is", async () => {
    const odd = ["null", "negative", "huge", "nan", "half"];
    const { world, ticks, seen } = reading([...odd, ...places(5)]);
    const figures: Record<string, number | undefined> = { negative: -1, huge: 1e300, nan: Number.NaN, half: 2.5 };
    world.hour = (location, at) => (at === Date.UTC(2026, 10, 20, 13) ? figures[location] : undefined);
    await ticks();
    const counts = odd.map((id) => seen.get(id)?.entries.hours.get(Date.UTC(2026, 10, 20, 13)));
    expect(counts).toEqual([null, null, null, null, 3]);
  });

  it("a day is read again when the service has corrected it", async () => {
    const { world, ticks, seen, clock } = reading(places(12));
    const hour = Date.UTC(2026, 10, 20, 13);
    await ticks();
    expect(seen.get("l0")?.entries.hours.get(hour)).toBe(13);
    world.hour = () => 99;
    await ticks(12);
    expect(seen.get("l0")?.entries.hours.get(hour), "not before").toBe(13);
    clock.at = Date.UTC(2026, 10, 21, 5, 29);
    await ticks(3);
    expect(seen.get("l0")?.entries.hours.get(hour), "the night is not over").toBe(13);
    await ticks(6);
    expect(seen.get("l0")?.entries.hours.get(hour)).toBe(99);
    expect(seen.get("l0")?.entries.early.has(hour)).toBe(false);
  });

  it("a failure ends the reading, keeps what was read, and a route that is refused is left out", async () => {
    const { world, ticks, seen, store } = reading(["leeds"].concat(places(20)), { all: true });
    world.refused.add("sales");
    expect(await ticks()).toBeUndefined();
    expect(seen.get("leeds")?.sales?.readings).toEqual([]);
    expect(seen.get("leeds")?.entries.readings).toHaveLength(1);
    world.asked.length = 0;
    await ticks();
    expect(new Set(world.asked.map(({ route }) => route)), "sales are left out for some hours").toEqual(
      new Set(["entries"]),
    );
    world.broken = new ServiceError("rate_limited", "Too many requests.", { retryAfterMs: HOUR });
    expect(await ticks()).toMatchObject({ code: "rate_limited" });
    world.broken = undefined;
    expect(await ticks(), "as long as the service asks").toBe("paused");
    expect((await store.counts.read(["leeds"])).get("leeds")?.entries.readings).toHaveLength(2);
    expect(await ticks(1, HOUR)).toBeUndefined();
    await store.shards.noteAttempt("shard:0", NOW + DAY, "No answer.");
    expect(await ticks()).toBe("paused");
  });

  it("entries that are refused are a failure, asked again each time, and a refused token stops other routes for half an hour", async () => {
    const { world, ticks, seen } = reading(places(20), { all: true });
    world.refused.add("entries").add("sales");
    expect(await ticks()).toMatchObject({ code: "bad_request" });
    world.refusal = "auth";
    expect(await ticks()).toMatchObject({ code: "auth" });
    world.refused.delete("entries");
    expect(await ticks()).toBeUndefined();
    expect(seen.get("l0")?.entries.readings).toHaveLength(1);
    world.refused.clear();
    await ticks(3);
    expect(seen.get("l0")?.sales?.readings.length).toBeGreaterThan(0);
  });

  it.each([
    [1, 12],
    [200, 6],
    [1_000, 4],
  ])("of %i shards each takes %i requests, and none goes on where the service asks to wait", async (shards, most) => {
    const { ticks, world, restarted, each } = reading(places(50), { shards });
    await ticks();
    expect(world.asked).toHaveLength(most);
    const refusal = new ServiceError("rate_limited", "Too many requests.", { retryAfterMs: HOUR });
    Object.defineProperty(world, "broken", { get: () => (world.asked.length === most + 3 ? refusal : undefined) });
    const read = restarted();
    await Promise.all([read(0, each, UNBROKEN), read(0, each, UNBROKEN)]);
    expect(world.asked.length, "the third, and what was under way").toBeLessThanOrEqual(most + 4);
  });

  it("hours of a time zone that begin elsewhere replace those of the one before", async () => {
    const { ticks, world, store, seen } = reading(places(12));
    world.timezone = undefined;
    await ticks(3);
    world.timezone = "Asia/Kolkata";
    await ticks(3);
    const { hours, early } = (await store.counts.read(["l0"])).get("l0")?.entries ?? {};
    expect(hours?.size).toBeGreaterThan(20);
    expect(
      [...(hours ?? [])].filter(([hour, count]) => hour % HOUR !== HOUR / 2 || count !== new Date(hour).getUTCHours()),
    ).toEqual([]);
    expect(hours).toEqual(seen.get("l0")?.entries.hours);
    expect([...(early ?? [])].every((hour) => hours?.has(hour))).toBe(true);
  });

  it("after a restart, or on another replica, nothing is asked twice", async () => {
    const { ticks, restarted, each, world, clock } = reading(places(12));
    await ticks();
    const first = hoursAsked(world);
    clock.at += INTERVAL;
    await restarted()(0, each, UNBROKEN);
    const again = hoursAsked(world).slice(first.length);
    expect(again.length).toBeGreaterThan(0);
    expect(again.filter((hour) => first.includes(hour))).toEqual([]);
  });
});
