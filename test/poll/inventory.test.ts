import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createInventoryJob, planLocations } from "../../src/poll/inventory.ts";
import { HOUR, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, DAY } from "./rig.ts";

const ids = (count: number) => Array.from({ length: count }, (_, i) => `loc-${i + 1}`);
const seenAt = (at: number, ...locations: string[]) => new Map(locations.map((id) => [id, at]));

type Input = Parameters<typeof planLocations>[0];
const plan = (more: Partial<Input>) =>
  planLocations({
    now: T0,
    listed: [],
    complete: true,
    lastSeen: new Map(),
    assigned: [],
    locations: "all",
    exclude: [],
    forgetAfterMs: DAY,
    ...more,
  });

const rejected = (before: readonly string[], listed: readonly string[], more: Partial<Input> = {}) =>
  plan({ lastSeen: seenAt(T0 - HOUR, ...before), assigned: before, listed, ...more }).rejected !== undefined;

const TEN = ids(10);
const SEEN = seenAt(T0 - HOUR, ...TEN);
const HALF_OLDER = new Map([...SEEN, ...seenAt(T0 - 2 * HOUR, ...TEN.slice(0, 5))]);
it.for<[what: string, expected: boolean, before: string[], listed: string[], more?: Partial<Input>]>([
  ["the first list ever is believed", false, [], TEN],
  ["an empty first list is believed", false, [], []],
  ["the same list is believed", false, TEN, [...TEN].reverse()],
  ["a longer list is believed", false, TEN, [...TEN, "new"]],
  ["a fifth gone is believed", false, TEN, TEN.slice(2)],
  ["more than a fifth gone is rejected", true, TEN, TEN.slice(3)],
  ["nothing at all is rejected", true, TEN, []],
  ["as many others in their place do not make up for those gone", true, TEN, [...TEN.slice(3), "x", "y", "z"]],
  ["one of four gone is rejected", true, ids(4), ids(3)],
  ["who was excluded is not missed", false, TEN, TEN.slice(3), { exclude: TEN.slice(0, 3) }],
  ["the last list believed counts, not all there ever was", false, TEN, TEN.slice(6), { lastSeen: HALF_OLDER }],
  ["a named list needs no list of the service", false, TEN, [], { locations: TEN }],
])("%s", ([, expected, before, listed, more]) => {
  expect(rejected(before, listed, more)).toBe(expected);
});

it("compares lists of any length", () => {
  const all = ids(300_000);
  expect(plan({ lastSeen: new Map(all.map((id) => [id, T0])), assigned: all, listed: all }).rejected).toBeUndefined();
});

it("the reason it is rejected says what to do", () => {
  const { rejected } = plan({ lastSeen: SEEN, assigned: TEN, listed: ["loc-1"] });
  expect(rejected).toBe(
    "the location list went from 10 to 1 of the same locations; if that is right, put those that left in watch.exclude",
  );
});

const GONE = { lastSeen: new Map([["gone", T0 - DAY], ...SEEN]), assigned: ["gone", ...TEN], listed: TEN };
it.for<[what: string, more: Partial<Input>, expected: Partial<ReturnType<typeof plan>>]>([
  ["a location that is not listed loses its place after forget_after", GONE, { removed: ["gone"] }],
  ["and not before", { ...GONE, now: T0 - 1 }, { removed: [] }],
  ["and not while the list is rejected", { ...GONE, listed: [] }, { removed: [] }],
  [
    "one first listed while the list was rejected is not forgotten at once",
    { assigned: ["new", ...TEN] },
    { removed: [] },
  ],
  [
    "what is excluded gives up its place at once",
    { exclude: ["loc-1"] },
    { removed: ["loc-1"], present: TEN.slice(1) },
  ],
  [
    "and so does what is named no more, even then",
    { listed: [], locations: ["loc-2"] },
    { removed: TEN.filter((id) => id !== "loc-2"), present: ["loc-2"] },
  ],
  [
    "of a list with unreadable rows nobody is absent",
    { listed: TEN.slice(1), complete: false },
    { seen: [...TEN.slice(1), "loc-1"], present: TEN.slice(1) },
  ],
])("%s", ([, more, expected]) => {
  expect(plan({ lastSeen: SEEN, assigned: TEN, listed: TEN, ...more })).toMatchObject(expected);
});

describeWithRedis("the inventory job", () => {
  const testStore = useTestStore();

  function job(
    lists: (readonly string[] | Error | Promise<readonly string[]>)[],
    names: (ids: readonly string[]) => Promise<void> = async () => {},
  ) {
    const clock = { at: T0 };
    const { store } = testStore();
    const draining = new AbortController();
    const assigned = createAssigned(() => store.assignments.read());
    const inventory = createInventoryJob({
      clock: clockOf(clock),
      log: silentLogger,
      service: {
        async locations() {
          const list = (await lists.shift()) ?? [];
          if (list instanceof Error) throw list;
          return { locations: list.map((id) => ({ id, name: `Shop ${id}`, timezone: undefined })), dropped: 0 };
        },
        async uptimes({ recids = [] }) {
          await names(recids);
          const recordings = recids.map((id) => aRecording(id, { locationId: "loc-1", timezone: "UTC" }));
          return { results: recordings.map((recording) => ({ recording, buckets: [] })), dropped: 0 };
        },
      },
      assignments: store.assignments,
      assigned,
      inventory: store.inventory,
      store: store.shards,
      signal: draining.signal,
      locationDetails: [store.zones, store.usualEntries],
      watch: { locations: "all", exclude: [], forgetAfterMs: DAY, locationsPerRequest: 2 },
      assignedChanged: async () => {},
    });
    const attempt = async () => (await store.shards.attempts()).get("inventory");
    return { ...inventory, assigned, attempt, pass: (ms: number) => (clock.at += ms), drain: () => draining.abort() };
  }

  it("a list under way is not waited for once the replica drains, and changes nothing", async () => {
    const list = Promise.withResolvers<readonly string[]>();
    const { refresh, assigned, attempt, drain } = job([list.promise]);
    const refreshed = refresh();
    drain();
    expect(await refreshed).toBe(false);
    list.resolve(ids(3));
    await list.promise;
    expect(assigned.shards()).toEqual([]);
    expect(await attempt()).toBeUndefined();
  });

  it("assigns what is listed and notes how it went", async () => {
    const { refresh, assigned, attempt } = job([ids(3)]);
    expect(await refresh()).toBe(true);
    expect(assigned.shards().map((shard) => assigned.locations(shard).length)).toEqual([2, 1]);
    expect(testStore().store.inventory.location("loc-1")?.name).toBe("Shop loc-1");
    expect(await attempt()).toEqual({ goodAt: T0, attemptedAt: T0 });
  });

  it("a list is asked for once at a time", async () => {
    const list = Promise.withResolvers<readonly string[]>();
    const { refresh, assigned } = job([list.promise, ids(9), ids(10)]);
    const refreshed = Promise.all([refresh(), refresh()]);
    list.resolve(ids(8));
    expect(await refreshed).toEqual([true, true]);
    expect(assigned.shards()).toHaveLength(4);
    await refresh();
    expect(assigned.shards(), "the next list").toHaveLength(5);
  });

  it("a list that fails or is not believed changes nothing and says so", async () => {
    const { refresh, assigned, attempt, pass } = job([ids(10), new Error("No answer."), [], ids(10)]);
    await refresh();
    const before = assigned.locations(0);
    for (const error of ["No answer.", expect.stringContaining("watch.exclude")]) {
      pass(HOUR);
      expect(await refresh()).toBe(false);
      expect(assigned.locations(0)).toEqual(before);
      expect(await attempt()).toMatchObject({ goodAt: T0, error });
    }
    pass(HOUR);
    expect(await refresh()).toBe(true);
  });

  it("names are asked for once, kept, and not waited for when they cannot be had", async () => {
    const asked: (readonly string[])[] = [];
    const failing = job([], async (recids) => {
      asked.push(recids);
      throw new Error("No answer.");
    });
    await failing.nameThem(["a", "b"]);
    await failing.nameThem(["a"]);
    expect(asked).toEqual([["a", "b"]]);
    failing.pass(MINUTE + 1);
    await failing.nameThem(["a"]);
    expect(asked).toHaveLength(2);
    const working = job([], async (recids) => void asked.push(recids));
    await working.nameThem(["a"]);
    await working.nameThem(["a"]);
    expect(asked).toHaveLength(3);
    expect(testStore().store.inventory.recording("a")?.name).toBe("Camera a");
  });

  it("names of many recordings are asked for in pages, a few at once, and those that come stored by one write", async () => {
    const { store, redis } = testStore();
    const ids = Array.from({ length: 2_050 }, (_, i) => `r${i}`);
    const pages: number[] = [];
    let [open, most] = [0, 0];
    const { nameThem } = job([], async (recids) => {
      pages.push(recids.length);
      most = Math.max(most, ++open);
      await setImmediate();
      open--;
      if (recids.length < 100 && pages.length < 20) throw new Error("No answer.");
    });
    const before = await redis.llen(store.keys.namesLog);
    await nameThem(ids.slice(0, 950));
    expect(pages.sort((a, b) => a - b)).toEqual([50, ...Array(9).fill(100)]);
    expect((await redis.llen(store.keys.namesLog)) - before).toBe(2);
    const lacking = () => ids.filter((id) => !store.inventory.recording(id));
    expect(lacking(), "of a page that failed").toEqual(ids.slice(900));
    await nameThem(ids.slice(950));
    expect(most).toBe(10);
    expect(lacking()).toEqual(ids.slice(900, 950));
  });
});
