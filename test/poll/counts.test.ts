import { DateTime } from "luxon";
import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { PAUSE_SHARE, SLOW_AT_ONCE } from "../../src/poll/ask-slowly.ts";
import { createReadCounts, isInTrouble } from "../../src/poll/counts.ts";
import { FRESH_INTERVALS } from "../../src/poll/counts-judge.ts";
import { allowanceOf, isFinal, localDays } from "../../src/poll/counts-plan.ts";
import { ServiceError } from "../../src/service/service.ts";
import type { KeptCounts } from "../../src/store/counts.ts";
import { HOUR, MINUTE, SECOND, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const INTERVAL = 10 * MINUTE;
/** A Friday, 14:30 in Leeds. */
const NOW = Date.UTC(2026, 10, 20, 14, 30);

it.each(["Europe/London", "America/St_Johns", "Asia/Kolkata", "Pacific/Auckland", "America/New_York", "Nowhere/AtAll"])(
  "days and hours of %s are local, also where clocks change",
  (zone) => {
    for (let at = Date.UTC(2026, 2, 27); at < Date.UTC(2026, 3, 7); at += 37 * MINUTE) {
      const days = localDays(zone, at);
      const local = DateTime.fromMillis(at, { zone: zone === "Nowhere/AtAll" ? "utc" : zone });
      expect(days.today).toBe(local.startOf("day").toMillis());
      expect(days.yesterday).toBe(local.minus({ days: 1 }).startOf("day").toMillis());
      const settled = local.minus({ minutes: 20 }).startOf("hour");
      expect(days.lastHour).toBe(settled.toMillis() - HOUR);
    }
  },
);

it("an hour is final once the night after its day is over", () => {
  const days = localDays("Europe/London", NOW);
  const yesterday = days.today - HOUR;
  expect(isFinal(days.lastHour, days, NOW)).toBe(false);
  expect(isFinal(yesterday, days, NOW)).toBe(true);
  const atNight = days.today + HOUR;
  expect(isFinal(yesterday, localDays("Europe/London", atNight), atNight)).toBe(false);
  expect(isFinal(yesterday - DAY, localDays("Europe/London", atNight), atNight)).toBe(true);
});

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

const UNBROKEN = new AbortController().signal;

interface World {
  /** True count of an hour at a location or zone. */
  hour(location: string, at: number, zone: string): number | undefined;
  broken?: Error | undefined;
  timezone: string | undefined;
  refused: Set<string>;
  refusal: "bad_request" | "auth";
  asked: { route: string; start: number; end: number; locations: readonly string[]; at: number }[];
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
    function answer(route: string, query: { start: number; end?: number; locations: readonly string[] }) {
      const { start, end = clock.at } = query;
      world.asked.push({ route, start, end, locations: query.locations, at: clock.at });
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
    const reply = (summary: unknown) => ({ summary, segments: undefined, units: {}, dropped: 0 }) as never;
    const deps = (used: typeof store) => ({
      clock: { now: () => clock.at },
      log: silentLogger,
      service: {
        async entries(query: Parameters<typeof answer>[1]) {
          const count = answer("entries", query);
          return reply(query.locations.map((location) => ({ location, values: { entries: count(location) } })));
        },
        async areaData(query: Parameters<typeof answer>[1] & { taxonomies: readonly string[] }) {
          const count = answer("zones", query);
          const rows = query.locations.flatMap((location) =>
            query.taxonomies.map((taxonomy) => ({
              location,
              taxonomy,
              values: { area_total_entries: count(location, taxonomy) },
            })),
          );
          return reply(rows);
        },
        async conversionRate(query: Parameters<typeof answer>[1]) {
          answer("sales", query);
          return reply(query.locations.map((location) => ({ location, values: { sales_conversion_rate: 0.5 } })));
        },
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
      tick: (by = INTERVAL) => {
        clock.at += by;
        return read(0, each, UNBROKEN);
      },
      restarted: () => createReadCounts(deps(replica())),
      each,
    };
  }

  const perHour = (asked: World["asked"], since: number, hours: number) =>
    asked.filter(({ at }) => at >= since && at < since + hours * HOUR).length / hours;

  it("today so far is read each time, an hour once it is over, the past within a day, and then nothing but these", async () => {
    const places = Array.from({ length: 4 }, (_, i) => `loc-${i}`);
    const { tick, world, seen, clock } = reading(places, { intervalMs: 3 * INTERVAL });
    for (let i = 0; i < 144; i++) await tick(3 * INTERVAL);
    const kept = seen.get("loc-0")?.entries;
    const days = localDays("Europe/London", clock.at);
    expect(kept?.hours.size, "eight weeks").toBe(8 * 7 * 24);
    expect(Math.max(...(kept?.hours.keys() ?? []))).toBe(days.lastHour);
    expect([...(kept?.hours ?? [])].every(([hour, count]) => count === new Date(hour).getUTCHours())).toBe(true);
    expect(kept?.readings.at(-1)).toMatchObject({ at: clock.at, since: days.today });
    expect(kept?.readings.length, "a day and a half, but for midnight").toBe(71);
    const since = clock.at + 1;
    for (let i = 0; i < 48; i++) await tick(3 * INTERVAL);
    expect(perHour(world.asked, since, 24), "two readings, the last hour, an hour of yesterday").toBeCloseTo(4, 0);
  });

  it("the hours that are needed next are asked for first", async () => {
    const { tick, world } = reading(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    for (let i = 0; i < 6; i++) await tick();
    const hours = world.asked.filter(({ start, end }) => end - start === HOUR).map(({ start }) => start);
    const runs = Math.floor(NOW / HOUR) * HOUR;
    expect(
      hours.slice(0, 24).every((hour) => hour < runs && hour >= runs - 26 * HOUR),
      "the last day",
    ).toBe(true);
    const next = hours.slice(24, 40).filter((hour) => hour < runs - 2 * DAY);
    expect(next.slice(0, 8)).toEqual(Array.from({ length: 8 }, (_, week) => runs - (week + 1) * WEEK));
  });

  it.each([1, 2, 5])("%i locations cost no more than a request each and ten minutes", async (many) => {
    const { tick, world, seen } = reading(
      Array.from({ length: many }, (_, i) => `loc-${i}`),
      { all: true },
    );
    for (let i = 0; i < 36; i++) await tick();
    expect(world.asked.length).toBeLessThanOrEqual(36 * many + 1);
    const { entries, sales } = seen.get("loc-0") ?? {};
    expect(entries?.readings.length).toBeGreaterThanOrEqual(6);
    expect(sales?.readings.length).toBeGreaterThan(0);
    expect(entries?.hours.size).toBeGreaterThan(6);
  });

  it("zones and sales are read beside entries where a rule needs them, and forgotten where none does", async () => {
    const { store, tick, seen } = reading(["leeds", "york"].concat(Array.from({ length: 20 }, (_, i) => `l${i}`)), {
      all: true,
    });
    await store.zones.save(new Map([["leeds", new Map([["a", ["Tills"]]])]]));
    await tick();
    const { zones, sales, entries } = seen.get("leeds") ?? {};
    expect(zones?.get("Tills")?.readings).toHaveLength(1);
    expect(sales?.readings[0]?.since, "since yesterday, so that somebody was counted").toBe(Date.UTC(2026, 10, 19));
    expect(sales?.readings[0]?.count).toBeGreaterThan(Number(entries?.readings[0]?.count) / 2);
    expect(zones?.get("Tills")?.hours.size).toBeGreaterThan(0);
    expect(seen.get("york")?.zones.size).toBe(0);
  });

  it("a zone that no recording covers is not shown, and forgotten after a week", async () => {
    const { store, tick, seen, clock } = reading(
      Array.from({ length: 12 }, (_, i) => `l${i}`),
      { all: true },
    );
    const cover = (zones: string[]) => store.zones.save(new Map([["l0", new Map([["a", zones]])]]));
    const stored = async () => (await store.counts.read(["l0"])).get("l0")?.zones.get("Tills")?.hours.size;
    await cover(["Tills"]);
    for (let i = 0; i < 3; i++) await tick();
    const hours = await stored();
    expect(hours).toBeGreaterThan(0);
    await cover([]);
    await tick();
    expect(seen.get("l0")?.zones.size).toBe(0);
    expect(await stored()).toBe(hours);
    await cover(["Tills"]);
    await tick();
    expect(seen.get("l0")?.zones.get("Tills")?.hours.size).toBeGreaterThanOrEqual(hours ?? 0);
    await cover([]);
    clock.at += 8 * DAY;
    await tick();
    expect(await stored()).toBeUndefined();
  });

  it("figures that cannot be true are no data, and a missing row is", async () => {
    const places = ["null", "negative", "huge", "nan", "half"].concat(Array.from({ length: 5 }, (_, i) => `l${i}`));
    const { world, tick, seen } = reading(places);
    const figures: Record<string, number | undefined> = { negative: -1, huge: 1e300, nan: Number.NaN, half: 2.5 };
    world.hour = (location, at) => (at === Date.UTC(2026, 10, 20, 13) ? figures[location] : undefined);
    await tick();
    const counts = ["null", "negative", "huge", "nan", "half"].map((id) =>
      seen.get(id)?.entries.hours.get(Date.UTC(2026, 10, 20, 13)),
    );
    expect(counts).toEqual([null, null, null, null, 3]);
  });

  it("a day is read again when the service has corrected it", async () => {
    const { world, tick, seen, clock } = reading(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    const hour = Date.UTC(2026, 10, 20, 13);
    await tick();
    expect(seen.get("loc-0")?.entries.hours.get(hour)).toBe(13);
    world.hour = () => 99;
    for (let i = 0; i < 12; i++) await tick();
    expect(seen.get("loc-0")?.entries.hours.get(hour), "not before").toBe(13);
    clock.at = Date.UTC(2026, 10, 21, 6);
    for (let i = 0; i < 6; i++) await tick();
    expect(seen.get("loc-0")?.entries.hours.get(hour)).toBe(99);
    expect(seen.get("loc-0")?.entries.early.has(hour)).toBe(false);
  });

  it("a failure ends the reading, keeps what was read, and a route that is refused is left out", async () => {
    const { world, tick, seen, store } = reading(["leeds"].concat(Array.from({ length: 20 }, (_, i) => `l${i}`)), {
      all: true,
    });
    world.refused.add("sales");
    expect(await tick()).toBeUndefined();
    expect(seen.get("leeds")?.sales?.readings).toEqual([]);
    expect(seen.get("leeds")?.entries.readings).toHaveLength(1);
    const before = world.asked.length;
    await tick();
    expect(
      world.asked.slice(before).some(({ route }) => route === "sales"),
      "for some hours",
    ).toBe(false);
    world.broken = new ServiceError("rate_limited", "Too many requests.", { retryAfterMs: HOUR });
    expect(await tick()).toMatchObject({ code: "rate_limited" });
    world.broken = undefined;
    expect(await tick(), "as long as the service asks").toBe("paused");
    expect((await store.counts.read(["leeds"])).get("leeds")?.entries.readings).toHaveLength(2);
    expect(await tick(HOUR)).toBeUndefined();
    await store.shards.noteAttempt("shard:0", NOW + DAY, "No answer.");
    expect(await tick()).toBe("paused");
  });

  it("entries that are refused are a failure, asked again each time, and a refused token stops other routes for half an hour", async () => {
    const { world, tick, seen } = reading(
      Array.from({ length: 20 }, (_, i) => `l${i}`),
      { all: true },
    );
    world.refused.add("entries").add("sales");
    expect(await tick()).toMatchObject({ code: "bad_request" });
    world.refusal = "auth";
    expect(await tick()).toMatchObject({ code: "auth" });
    world.refused.delete("entries");
    expect(await tick()).toBeUndefined();
    expect(seen.get("l0")?.entries.readings).toHaveLength(1);
    world.refused.clear();
    for (let i = 0; i < 3; i++) await tick();
    expect(seen.get("l0")?.sales?.readings.length).toBeGreaterThan(0);
  });

  it.each([
    [1, 12],
    [200, 6],
    [1_000, 4],
  ])("of %i shards each takes %i requests, and none goes on where the service asks to wait", async (shards, most) => {
    const places = Array.from({ length: 50 }, (_, i) => `loc-${i}`);
    const { tick, world, restarted, each } = reading(places, { shards });
    await tick();
    expect(world.asked).toHaveLength(most);
    const refusal = new ServiceError("rate_limited", "Too many requests.", { retryAfterMs: HOUR });
    Object.defineProperty(world, "broken", { get: () => (world.asked.length === most + 3 ? refusal : undefined) });
    const read = restarted();
    await Promise.all([read(0, each, UNBROKEN), read(0, each, UNBROKEN)]);
    expect(world.asked.length, "the third, and what was under way").toBeLessThanOrEqual(most + 4);
  });

  it("hours of a time zone that begin elsewhere replace those of the one before", async () => {
    const { tick, world, store, seen } = reading(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    world.timezone = undefined;
    for (let i = 0; i < 3; i++) await tick();
    world.timezone = "Asia/Kolkata";
    for (let i = 0; i < 3; i++) await tick();
    const { hours, early } = (await store.counts.read(["loc-0"])).get("loc-0")?.entries ?? {};
    expect(hours?.size).toBeGreaterThan(20);
    expect(
      [...(hours ?? [])].filter(([hour, count]) => hour % HOUR !== HOUR / 2 || count !== new Date(hour).getUTCHours()),
    ).toEqual([]);
    expect(hours).toEqual(seen.get("loc-0")?.entries.hours);
    expect([...(early ?? [])].every((hour) => hours?.has(hour))).toBe(true);
  });

  it("after a restart, or on another replica, nothing is asked twice", async () => {
    const { tick, restarted, each, world, clock } = reading(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    await tick();
    const hours = () => world.asked.filter(({ start, end }) => end - start === HOUR).map(({ start }) => start);
    const first = hours();
    clock.at += INTERVAL;
    await restarted()(0, each, UNBROKEN);
    const again = hours().slice(first.length);
    expect(again.length).toBeGreaterThan(0);
    expect(again.filter((hour) => first.includes(hour))).toEqual([]);
  });
});
