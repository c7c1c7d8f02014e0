import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { agree, nextGeneration, type ReplicaReport } from "../../src/store/replicas.ts";
import { describeWithRedis } from "../support/redis.ts";
import { SECOND, T0, useTestStore } from "./fixtures.ts";

const GONE = 30 * SECOND;

it("whatever replicas reported, each draws the same conclusions, and the one that loads next is active", () => {
  const reported = fc.record({
    hash: fc.constantFrom("one", "two", "three"),
    roles: fc.subarray(["poll", "notify"]),
    generation: fc.nat(3),
    sweeps: fc.boolean(),
    at: fc.constantFrom(0, 3_000, 3_001, 30_000, 30_001).map((silentMs) => T0 - silentMs),
  });
  const limits = { silentAfterMs: GONE, awayAfterMs: 3 * SECOND };
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b", "c", "d"), reported), fc.nat(5), (known, clock) => {
      const all = Object.entries(known);
      const { active, sharing, gone } = agree(new Map(all), limits, T0);
      expect(agree(new Map(all.toReversed()), limits, T0)).toEqual({ active, sharing, gone });
      const idsWhere = (is: (one: (typeof all)[number][1]) => boolean) =>
        all.flatMap(([id, one]) => (is(one) ? id : [])).toSorted();
      expect(gone.toSorted()).toEqual(idsWhere(({ at }) => at < T0 - GONE));
      const ofActive = idsWhere(({ sweeps, at, hash }) => sweeps && at >= T0 - 3_000 && hash === active.get("poll"));
      expect(sharing.toSorted()).toEqual(ofActive);
      for (const role of ["poll", "notify"]) {
        const able = all.flatMap(([, one]) => (one.at >= T0 - GONE && one.roles.includes(role) ? [one] : []));
        const last = Math.max(...able.map(({ generation }) => generation));
        const hashes = able.filter(({ generation }) => generation === last).map(({ hash }) => hash);
        if (able.length > 0) expect(hashes).toContain(active.get(role));
        else expect(active.has(role)).toBe(false);
      }
      const generation = nextGeneration(new Map(all), clock);
      const next = { hash: "next", roles: ["poll"], generation, sweeps: true, at: T0 };
      expect(agree(new Map([["0", next], ...all]), limits, T0).active.get("poll")).toBe("next");
    }),
  );
});

describeWithRedis("replicas that report", () => {
  const testStore = useTestStore();

  const report = (replica: string, hash: string, more: Partial<ReplicaReport> = {}, at = T0) =>
    testStore().store.replicas.report(
      {
        replica,
        hash,
        roles: ["poll", "notify"],
        generation: undefined,
        mayExpose: true,
        leaseMs: 3_000,
        silentAfterMs: GONE,
        sweeps: true,
        awayAfterMs: 3 * SECOND,
        ...more,
      },
      at,
    );

  it("the configuration loaded last is active for its roles, until its last replica has stopped", async () => {
    const old = await report("a", "old");
    expect([...old.active.values()]).toEqual(["old", "old"]);
    await report("b", "new", { roles: ["poll"] });
    const { redis, store } = testStore();
    const notified = async (at: number) => {
      const { active } = await report("a", "old", { generation: old.generation }, at);
      // As transactions check it.
      expect(await redis.hgetall(store.keys.active)).toEqual(Object.fromEntries(active));
      return Object.fromEntries(active);
    };
    expect(await notified(T0 + GONE)).toEqual({ poll: "new", notify: "old" });
    expect(await notified(T0 + GONE + 1)).toEqual({ poll: "old", notify: "old" });
    await report("b", "new", {}, T0 + GONE + 1);
    expect(await notified(T0 + GONE + 2)).toEqual({ poll: "new", notify: "new" });
    await testStore().store.replicas.leave("b");
    expect(await notified(T0 + GONE + 3)).toEqual({ poll: "old", notify: "old" });
  });

  it("in an emptied Redis a later load is still later", async () => {
    const { generation } = await report("a", "three");
    await testStore().redis.del(...(await testStore().keys()).map((key) => `${testStore().store.keys.prefix}${key}`));
    await report("a", "three", { generation });
    expect((await report("b", "four", {}, T0 - 1)).active.get("poll")).toBe("four");
  });

  it("one replica at a time exposes the fleet, and releases it when it may not any more", async () => {
    expect((await report("a", "one")).exposes).toBe(true);
    expect((await report("b", "one")).exposes).toBe(false);
    expect((await report("a", "one", { mayExpose: false })).exposes).toBe(false);
    expect((await report("b", "one")).exposes).toBe(true);
    await testStore().store.replicas.leave("b");
    expect((await report("a", "one")).exposes).toBe(true);
    expect(await testStore().redis.pttl(testStore().store.keys.exposes)).toBeLessThanOrEqual(3_000);
  });

  it("of replicas that report at once, one exposes the fleet", async () => {
    const statuses = await Promise.all(["a", "b", "c"].map((id) => report(id, "one")));
    expect(statuses.filter(({ exposes }) => exposes)).toHaveLength(1);
  });

  it("a lease that is over and another's is neither renewed nor released", async () => {
    const { redis, store } = testStore();
    await report("a", "one");
    await redis.set(store.keys.exposes, "b");
    vi.spyOn(redis, "get").mockResolvedValueOnce("a");
    expect((await report("a", "one")).exposes).toBe(false);
    await store.replicas.leave("a");
    expect(await redis.get(store.keys.exposes)).toBe("b");
  });

  it("a replica that is gone is removed", async () => {
    await report("a", "one");
    await report("b", "one", {}, T0 + GONE);
    const { keys } = testStore().store;
    expect(await testStore().redis.hlen(keys.replicas)).toBe(2);
    await report("b", "one", {}, T0 + GONE + 1);
    expect(await testStore().redis.hkeys(keys.replicas)).toEqual(["b"]);
  });

  it("a replica without roles is not listed", async () => {
    await report("web", "newest", { roles: [] });
    expect((await report("a", "old")).active.get("poll")).toBe("old");
    expect(await testStore().redis.hkeys(testStore().store.keys.replicas)).toEqual(["a"]);
  });
});
