import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Config } from "../../src/config/config.ts";
import type { Alert } from "../../src/health/alert.ts";
import { createUncounted } from "../../src/poll/uncounted.ts";
import type { KeptCounts } from "../../src/store/counts.ts";
import { type StoredEpisode, toStoredEpisode } from "../../src/store/episodes.ts";
import { firing, HOUR } from "../store/fixtures.ts";
import { resolvedAlert } from "../support/fixtures.ts";
import { until } from "../support/until.ts";

const NOON = Date.UTC(2026, 10, 18, 12);

/** 40 an hour, and nothing in the two hours from noon on; `early` as long as `now` is the same day. */
function kept(now: number): KeptCounts {
  const starts = Array.from({ length: 57 * 24 }, (_, i) => NOON + 12 * HOUR - (i + 1) * HOUR).filter(
    (at) => at + HOUR <= now,
  );
  const isOut = (at: number) => at >= NOON && at < NOON + 2 * HOUR;
  const early = new Set(starts.filter((at) => at >= NOON - 12 * HOUR && now < NOON + 24 * HOUR));
  const hours = new Map(starts.map((at) => [at, isOut(at) ? null : 40 + ((at / HOUR) % 3)]));
  return { timezone: "UTC", entries: { hours, early, readings: [] }, zones: new Map(), sales: undefined };
}

function offline(recording: string, from: number, to: number): Alert {
  const alert = firing(recording, from, { location_id: "leeds" });
  const facts = { ...alert.facts, problem: "offline" as const };
  return resolvedAlert({ ...alert, id: `${recording}@${from}`, facts }, to);
}

const doorOut = offline("door", NOON, NOON + 2 * HOUR);
const open = (({ state: _, endsAt: __, ...rest }: Alert): Alert => ({ ...rest, state: "firing" }))(doorOut);

function uncounted(
  alerts: readonly Alert[],
  now: readonly Alert[] = [],
  recordings = ["door", "till"],
  closedDays: Config["counts"]["closedDays"] = [],
) {
  const world = {
    now: NOON + 4 * HOUR,
    rows: alerts.map(toStoredEpisode),
    added: [] as number[],
    asked: 0,
    estimated: 0,
    /** What reading counts waits for. */
    reading: Promise.resolve(),
  };
  const made = createUncounted({
    counts: {
      async read(ids) {
        world.asked += 1;
        await world.reading;
        const { entries, ...counts } = kept(world.now);
        const seen = () => {
          world.estimated += 1;
          return entries;
        };
        const known = Object.defineProperty(counts, "entries", { get: seen }) as KeptCounts;
        return new Map(ids.filter((id) => id !== "york").map((id) => [id, known]));
      },
    },
    episodes: {
      endedSince: async () => [...world.rows],
      async replace(before: StoredEpisode, after: StoredEpisode) {
        const at = world.rows.findIndex((row) => JSON.stringify(row) === JSON.stringify(before));
        if (at >= 0) world.rows[at] = after;
        return at >= 0;
      },
    },
    firing: async () => now,
    assigned: { shardOf: () => 0 },
    shards: {
      async read() {
        const states = recordings.map((id) => [id, { id, locationId: "leeds" } as never] as const);
        return { nonce: "", state: { sweptAt: world.now, recordings: new Map(states), locations: new Map() } };
      },
    },
    inventory: {
      recording: () => ({ organisation: "acme" }) as never,
      location: () => ({ id: "leeds", name: "Leeds", timezone: "UTC" }),
    },
    closedDays,
    metrics: { visitsUncounted: (visits) => world.added.push(visits) },
    clock: { now: () => world.now },
  });
  return { world, ...made };
}

it("an ended episode gets an estimate once its hours are read, and a last one the next day; each visit counts once", async () => {
  const all = [doorOut, offline("till", NOON + HOUR, NOON + 2 * HOUR)];
  const { world, settle } = uncounted(all);
  world.now = NOON + 3 * HOUR;
  await settle();
  expect(world.rows.map((row) => row.uncounted)).toEqual([undefined, undefined]);
  world.now = NOON + 4 * HOUR;
  await settle();
  expect(world.rows.map((row) => Math.round((row.uncounted?.estimate ?? 0) / 10))).toEqual([8, 4]);
  expect(world.rows.map((row) => row.isSettled)).toEqual([undefined, undefined]);
  expect(world.added).toEqual([]);
  const before = [...world.rows];
  world.now += 11 * 60_000;
  await settle();
  expect(world.rows).toEqual(before);
  world.now = NOON + 26 * HOUR;
  await settle();
  expect(world.rows.map((row) => row.isSettled)).toEqual([true, true]);
  const sum = world.added.reduce((a, b) => a + b, 0);
  expect(Math.abs(sum - 82)).toBeLessThan(3);
  const { asked } = world;
  world.now += 11 * 60_000;
  await settle();
  expect([world.asked, world.added.length]).toEqual([asked, 2]);
});

it("what two ask for at a time is estimated once, and known a moment later among the estimates of thousands", async () => {
  const { world, of } = uncounted([]);
  const both = await Promise.all([of([doorOut], world.now), of([doorOut], world.now)]);
  expect([both.map(({ size }) => size), world.estimated]).toEqual([[1, 1], 1]);
  const others = Array.from({ length: 2_000 }, (_, i) => {
    const alert = offline(`r${i}`, NOON, NOON + 2 * HOUR);
    return { ...alert, labels: { ...alert.labels, location_id: "york" } };
  });
  const first = offline("first", NOON, NOON + 2 * HOUR);
  expect((await of([first, ...others], world.now)).size).toBe(1);
  expect((await of([first, doorOut], world.now + 1_000)).size).toBe(2);
});

it("an episode that another replica replaced meanwhile is not counted", async () => {
  const { world, settle } = uncounted([doorOut], [], ["door"]);
  world.now = NOON + 26 * HOUR;
  const stale = [...world.rows];
  world.rows = [];
  const settling = settle();
  world.rows = stale.map((row) => ({ ...row, isSettled: true as const }));
  await settling;
  expect(world.added).toEqual([]);
});

it("on a day on which the configuration has the location closed nothing is lost", async () => {
  const lostWith = async (matchers: string) => {
    const closed = [{ days: ["2026-11-18"], matchers: parseMatchers(matchers) }];
    return (await uncounted([], [open], ["door"], closed).of([open], NOON + 1.5 * HOUR)).size;
  };
  expect(await lostWith("location=Leeds, organisation=acme, timezone=UTC")).toBe(0);
  expect(await lostWith("organisation=globex")).toBe(1);
});

it("what fires is estimated until now, and of what no recording of the location shares nothing is said", async () => {
  const elsewhere = { ...open, id: "x", labels: { ...open.labels, location_id: "york" } };
  const { world, of } = uncounted([], [open], ["door"]);
  const estimates = await of([open, elsewhere], NOON + 1.5 * HOUR);
  expect([...estimates.keys()]).toEqual([open.id]);
  expect(Math.round((estimates.get(open.id)?.estimate ?? 0) / 10)).toBe(6);
  await of([open], NOON + 1.5 * HOUR + 1_000);
  expect(world.asked).toBe(1);
});

it("an estimate that is late, or fails, is the one of a moment ago", async () => {
  const { world, of } = uncounted([], [open], ["door"]);
  const now = NOON + 1.5 * HOUR;
  const first = await of([open], now, 60_000);
  expect(first.size).toBe(1);
  world.reading = new Promise(() => {});
  expect(await of([open], now + 2 * 60_000, 1)).toEqual(first);
  world.reading = Promise.reject(new Error("gone"));
  expect(await of([open], now + 4 * 60_000, 60_000)).toEqual(first);
  await expect(of([open], now + 4 * 60_000)).rejects.toThrow("gone");
});

it("of outages at hundreds of locations nothing is said until all were estimated; later a hundred are at a time", async () => {
  const many = Array.from({ length: 250 }, (_, i) => ({
    ...open,
    id: `door@${i}`,
    labels: { ...open.labels, location_id: `l${i}` },
  }));
  const { world, of } = uncounted([], many, ["door"]);
  const now = NOON + 1.5 * HOUR;
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.reading = first.promise.then(() => {
    world.reading = second.promise;
  });
  expect((await of(many, now, 1)).size).toBe(0);
  first.resolve();
  await until("the first hundred are estimated", () => world.estimated === 100);
  expect((await of(many, now, 1)).size).toBe(0);
  expect((await of(many.slice(0, 100), now, 1)).size).toBe(100);
  second.resolve();
  expect((await of(many, now)).size).toBe(250);
  const { estimated } = world;
  for (const call of [1, 2, 3]) {
    expect((await of(many, now + 60_000 + call)).size).toBe(250);
    expect(world.estimated - estimated).toBe(Math.min(250, call * 100));
  }
  const elsewhere = { ...open, id: "no place", labels: {} };
  expect((await of([...many, elsewhere], now + 60_000 + 3)).size).toBe(250);
});
