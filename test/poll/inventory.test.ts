import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createInventoryJob, planLocations } from "../../src/poll/inventory.ts";
import { HOUR, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR;
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
  ["a named list needs no list of the service", false, TEN, [], { locations: TEN }],
])("%s", ([, expected, before, listed, more]) => {
  expect(rejected(before, listed, more)).toBe(expected);
});

it("compares with the last list believed, not with all there ever was", () => {
  const lastSeen = new Map([...seenAt(T0 - 2 * HOUR, ...TEN.slice(0, 5)), ...seenAt(T0 - HOUR, ...TEN.slice(5))]);
  expect(plan({ lastSeen, assigned: TEN, listed: TEN.slice(6) }).rejected).toBeUndefined();
});

it("compares lists of any length", () => {
  const all = ids(300_000);
  expect(plan({ lastSeen: new Map(all.map((id) => [id, T0])), assigned: all, listed: all }).rejected).toBeUndefined();
});

it("the reason it is rejected says what to do", () => {
  const { rejected } = plan({ lastSeen: seenAt(T0 - HOUR, ...TEN), assigned: TEN, listed: ["loc-1"] });
  expect(rejected).toBe(
    "the location list went from 10 to 1 of the same locations; if that is right, put those that left in watch.exclude",
  );
});

it("a location that is not listed keeps its place until forget_after, and while the list is rejected", () => {
  const assigned = ["gone", ...TEN];
  const lastSeen = new Map([["gone", T0 - DAY], ...seenAt(T0 - HOUR, ...TEN)]);
  expect(plan({ lastSeen, assigned, listed: TEN }).removed).toEqual(["gone"]);
  expect(plan({ lastSeen, assigned, listed: TEN, now: T0 - 1 }).removed).toEqual([]);
  expect(plan({ lastSeen, assigned, listed: [] }).removed).toEqual([]);
});

it("a location first listed while the list was rejected is not forgotten at once", () => {
  expect(plan({ lastSeen: seenAt(T0 - HOUR, ...TEN), assigned: ["new", ...TEN], listed: TEN }).removed).toEqual([]);
});

it("what is excluded or named no more gives up its place at once, even then", () => {
  const base = { lastSeen: seenAt(T0 - HOUR, ...TEN), assigned: TEN };
  expect(plan({ ...base, listed: TEN, exclude: ["loc-1"] })).toMatchObject({
    removed: ["loc-1"],
    present: TEN.slice(1),
  });
  expect(plan({ ...base, listed: [], locations: ["loc-2"] })).toMatchObject({
    removed: TEN.filter((id) => id !== "loc-2"),
    present: ["loc-2"],
  });
});

it("of a list with unreadable rows nobody is absent", () => {
  const { seen, present } = plan({
    lastSeen: seenAt(T0 - HOUR, ...TEN),
    assigned: TEN,
    listed: TEN.slice(1),
    complete: false,
  });
  expect([...seen].sort()).toEqual([...TEN].sort());
  expect(present).toEqual(TEN.slice(1));
});

describeWithRedis("the inventory job", () => {
  const testStore = useTestStore();

  function job(
    lists: (readonly string[] | Error | Promise<readonly string[]>)[],
    names: (ids: readonly string[]) => Promise<void> = async () => {},
  ) {
    let now = T0;
    const { store } = testStore();
    const draining = new AbortController();
    const assigned = createAssigned(() => store.assignments.read());
    const inventory = createInventoryJob({
      clock: { now: () => now },
      log: silentLogger,
      service: {
        async locations() {
          const list = (await lists.shift()) ?? [];
          if (list instanceof Error) throw list;
          return { locations: list.map((id) => ({ id, name: `Shop ${id}`, timezone: undefined })), dropped: 0 };
        },
        async uptimes({ recids = [] }) {
          await names(recids);
          const results = recids.map((id) => ({
            recording: aRecording(id, { locationId: "loc-1", timezone: "UTC" }),
            buckets: [],
          }));
          return { results, dropped: 0 };
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
    const pass = (ms: number) => {
      now += ms;
    };
    return { ...inventory, assigned, pass, drain: () => draining.abort() };
  }

  it("a list under way is not waited for once the replica drains, and changes nothing", async () => {
    const list = Promise.withResolvers<readonly string[]>();
    const { refresh, assigned, drain } = job([list.promise]);
    const refreshed = refresh();
    drain();
    expect(await refreshed).toBe(false);
    list.resolve(ids(3));
    await list.promise;
    expect(assigned.shards()).toEqual([]);
    expect((await testStore().store.shards.attempts()).get("inventory")).toBeUndefined();
  });

  it("assigns what is listed and notes how it went", async () => {
    const { refresh, assigned } = job([ids(3)]);
    expect(await refresh()).toBe(true);
    expect(assigned.shards().map((shard) => assigned.locations(shard).length)).toEqual([2, 1]);
    expect(testStore().store.inventory.location("loc-1")?.name).toBe("Shop loc-1");
    expect((await testStore().store.shards.attempts()).get("inventory")).toEqual({ goodAt: T0, attemptedAt: T0 });
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
    const { refresh, assigned, pass } = job([ids(10), new Error("No answer."), [], ids(10)]);
    await refresh();
    const before = assigned.locations(0);
    for (const error of ["No answer.", expect.stringContaining("watch.exclude")]) {
      pass(HOUR);
      expect(await refresh()).toBe(false);
      expect(assigned.locations(0)).toEqual(before);
      expect((await testStore().store.shards.attempts()).get("inventory")).toMatchObject({ goodAt: T0, error });
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

  it("names of many recordings are asked for in pages, a few at once, and stored by one write", async () => {
    const { store, redis } = testStore();
    const ids = Array.from({ length: 2_050 }, (_, i) => `r${i}`);
    const pages: number[] = [];
    let [open, most] = [0, 0];
    const { nameThem } = job([], async (recids) => {
      pages.push(recids.length);
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
    });
    const before = Number(await redis.get(store.keys.namesRevision));
    await nameThem(ids.slice(0, 950));
    expect(pages.sort((a, b) => a - b)).toEqual([50, ...Array.from({ length: 9 }, () => 100)]);
    expect(Number(await redis.get(store.keys.namesRevision)) - before).toBe(1);
    await nameThem(ids.slice(950));
    expect(most).toBe(10);
    expect(ids.every((id) => store.inventory.recording(id))).toBe(true);
  });

  it("names that were answered are kept where another page failed", async () => {
    const ids = Array.from({ length: 101 }, (_, i) => `r${i}`);
    const { nameThem } = job([], async (recids) => {
      if (recids.length < 100) throw new Error("No answer.");
    });
    await nameThem(ids);
    expect(ids.filter((id) => !testStore().store.inventory.recording(id))).toEqual(["r100"]);
  });
});
