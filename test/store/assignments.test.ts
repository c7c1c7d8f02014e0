import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { assignments, HOUR, T0, useTestStore } from "./fixtures.ts";

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `loc-${from + i}`);

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

  it("fills shards one after the other, each to its limit", async () => {
    const assigned = await assignments.update(ids(1, 5), [], 2);
    expect(byShard(assigned)).toEqual({ 0: ["loc-1", "loc-2"], 1: ["loc-3", "loc-4"], 2: ["loc-5"] });
  });

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

  it("a lower limit moves nobody and fills nothing up that is over it", async () => {
    await assignments.update(ids(1, 4), [], 4);
    const after = await assignments.update(["new"], [], 2);
    expect(byShard(after)).toEqual({ 0: ids(1, 4), 1: ["new"] });
  });

  it("two replicas that list the same fleet at once agree", async () => {
    const stores = [testStore().store, testStore().replica()];
    const [a, b] = await Promise.all(stores.map(({ assignments }) => assignments.update(ids(1, 9), [], 4)));
    expect(a).toEqual(b);
    expect(Object.values(byShard(a ?? new Map())).map(({ length }) => length)).toEqual([4, 4, 1]);
  });

  it("an update sent twice changes nothing more", async () => {
    await assignments.update(ids(1, 3), [], 2);
    const once = await assignments.update(["new"], ["loc-1"], 2);
    expect(await assignments.update(["new"], ["loc-1"], 2)).toEqual(once);
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
