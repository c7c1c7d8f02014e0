import { expect, it } from "vitest";
import type { ReplicaReport } from "../../src/store/replicas.ts";
import { describeWithRedis } from "../support/redis.ts";
import { SECOND, T0, useTestStore } from "./fixtures.ts";

const GONE = 30 * SECOND;

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
    const notified = async (at: number) =>
      Object.fromEntries((await report("a", "old", { generation: old.generation }, at)).active);
    expect(await notified(T0 + GONE)).toEqual({ poll: "new", notify: "old" });
    expect(await notified(T0 + GONE + 1)).toEqual({ poll: "old", notify: "old" });
    await report("b", "new", {}, T0 + GONE + 1);
    expect(await notified(T0 + GONE + 2)).toEqual({ poll: "new", notify: "new" });
    await testStore().store.replicas.leave("b");
    expect(await notified(T0 + GONE + 3)).toEqual({ poll: "old", notify: "old" });
  });

  it("in an emptied Redis a later load is still later", async () => {
    for (const hash of ["one", "two", "three"]) await report("a", hash);
    await testStore().redis.del(...(await testStore().keys()).map((key) => `${testStore().store.keys.prefix}${key}`));
    await report("a", "three", { generation: 3 });
    const { generation, active } = await report("b", "four");
    expect([generation, active.get("poll")]).toEqual([4, "four"]);
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

  it("a replica without roles is not listed", async () => {
    await report("web", "newest", { roles: [] });
    expect((await report("a", "old")).active.get("poll")).toBe("old");
    expect(await testStore().redis.hkeys(testStore().store.keys.replicas)).toEqual(["a"]);
  });
});
