import fc from "fast-check";
import { expect, it } from "vitest";
import { assign } from "../../src/store/assignments.ts";
import { describeWithRedis } from "../support/redis.ts";
import { assignments, HOUR, T0, useTestStore } from "./fixtures.ts";

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `loc-${from + i}`);

it("new locations fill the gaps of the shards in turn, then new shards; a shard that is over its limit gets none", () => {
  const location = fc.integer({ min: 1, max: 20 }).map((n) => `loc-${n}`);
  const stored = fc.dictionary(location, fc.nat(4)).map((shards) => new Map(Object.entries(shards)));
  const most = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(stored, fc.array(location), most, (before, listed, most) => {
      const added = assign(before, listed, most);
      expect([...added.keys()]).toEqual([...new Set(listed)].filter((id) => !before.has(id)));
      const used = [...added.values()];
      expect(used).toEqual(used.toSorted((a, b) => a - b));
      const all = [...before.values(), ...used];
      const sizes = Array.from({ length: 30 }, (_, shard) => all.filter((one) => one === shard).length);
      for (const shard of used) expect(sizes[shard]).toBeLessThanOrEqual(most);
      for (let shard = 0; shard < (used.at(-1) ?? 0); shard++) expect(sizes[shard]).toBeGreaterThanOrEqual(most);
    }),
  );
});

/** Shard → its locations. */
function byShard(assignments: ReadonlyMap<string, number>): Record<string, string[]> {
  const shards: Record<string, string[]> = {};
  for (const [location, shard] of assignments) {
    const there = shards[shard] ?? [];
    shards[shard] = there;
    there.push(location);
  }
  for (const there of Object.values(shards)) there.sort();
  return shards;
}

describeWithRedis("which shard asks for a location", () => {
  const testStore = useTestStore();

  it("keeps every assignment, whatever the order of the list, and assigns no location twice", async () => {
    const before = await assignments.update(ids(1, 5), [], 2);
    const after = await assignments.update([...ids(1, 5).reverse(), "loc-3", "loc-3"], [], 2);
    expect(new Map([...after].sort())).toEqual(new Map([...before].sort()));
    expect(await assignments.read()).toEqual(after);
  });

  it("puts new locations into gaps first", async () => {
    await assignments.update(ids(1, 6), [], 2);
    const after = await assignments.update(["new-1", "new-2", "new-3"], ["loc-1", "loc-4"], 2);
    expect(after.get("new-1")).toBe(0);
    expect(after.get("new-2")).toBe(1);
    expect(after.get("new-3")).toBe(3);
    expect([after.has("loc-1"), after.has("loc-4")]).toEqual([false, false]);
  });

  it("two replicas that list parts of one fleet at once fill shards together", async () => {
    const stores = [testStore().store, testStore().replica()];
    const parts = [ids(1, 9), ids(5, 12)];
    await Promise.all(stores.map(({ assignments }, i) => assignments.update(parts[i] ?? [], [], 4)));
    const shards = byShard(await assignments.read());
    expect(Object.values(shards).map(({ length }) => length)).toEqual([4, 4, 4]);
    expect(Object.values(shards).flat().toSorted()).toEqual(ids(1, 12).toSorted());
  });

  it("the time a location was last listed is deleted with its assignment", async () => {
    await assignments.noteSeen(["loc-1", "loc-2"], T0);
    await assignments.noteSeen(["loc-2"], T0 + HOUR);
    expect(await assignments.lastSeen()).toEqual(
      new Map([
        ["loc-1", T0],
        ["loc-2", T0 + HOUR],
      ]),
    );
    await assignments.update([], ["loc-1"], 2);
    expect([...(await assignments.lastSeen()).keys()]).toEqual(["loc-2"]);
    await assignments.noteSeen([], T0);
  });

  it("restores the assignment of a location that lost it, and of none that left or was assigned again", async () => {
    const before = await assignments.update(ids(1, 4), [], 2);
    await assignments.noteSeen(ids(1, 4), T0);
    await assignments.update([], ["loc-2"], 2);
    await testStore().redis.hdel(testStore().store.keys.assignments, "loc-1", "loc-4");
    await assignments.update(["loc-4"], [], 2);
    const gone = new Map([...before].filter(([id]) => id !== "loc-3"));
    expect(await assignments.restore(gone)).toEqual(new Map([["loc-1", before.get("loc-1")]]));
    const after = await assignments.read();
    expect([...after.keys()].sort()).toEqual(["loc-1", "loc-3", "loc-4"]);
    expect(after.get("loc-1")).toBe(before.get("loc-1"));
    expect(await assignments.restore(new Map())).toEqual(new Map());
  });
});
