import { expect, it } from "vitest";
import type { ReplicaReport } from "../../src/store/replicas.ts";
import { describeWithRedis } from "../support/redis.ts";
import { SECOND, T0, useRoom } from "./fixtures.ts";

const GONE = 30 * SECOND;

describeWithRedis("replicas that report", () => {
  const room = useRoom();

  const report = (replica: string, hash: string, more: Partial<ReplicaReport> = {}, at = T0) =>
    room().store.replicas.report(
      {
        replica,
        hash,
        roles: ["poll", "notify"],
        generation: undefined,
        mayExpose: true,
        leaseMs: 3_000,
        silentAfterMs: GONE,
        ...more,
      },
      at,
    );

  it("what was loaded last is in force for those duties, until its last replica is gone", async () => {
    const old = await report("a", "old");
    expect([...old.active.values()]).toEqual(["old", "old"]);
    await report("b", "new", { roles: ["poll"] });
    const notified = async (at: number) =>
      Object.fromEntries((await report("a", "old", { generation: old.generation }, at)).active);
    expect(await notified(T0 + GONE)).toEqual({ poll: "new", notify: "old" });
    expect(await notified(T0 + GONE + 1)).toEqual({ poll: "old", notify: "old" });
    await report("b", "new", {}, T0 + GONE + 1);
    expect(await notified(T0 + GONE + 2)).toEqual({ poll: "new", notify: "new" });
    await room().store.replicas.leave("b");
    expect(await notified(T0 + GONE + 3)).toEqual({ poll: "old", notify: "old" });
  });

  it("in an emptied Redis a later load is still later", async () => {
    for (const hash of ["one", "two", "three"]) await report("a", hash);
    await room().redis.del(...(await room().keys()).map((key) => `${room().store.keys.prefix}${key}`));
    await report("a", "three", { generation: 3 });
    const { generation, active } = await report("b", "four");
    expect([generation, active.get("poll")]).toEqual([4, "four"]);
  });

  it("one at a time exposes the fleet; who may not lets go", async () => {
    expect((await report("a", "one")).exposes).toBe(true);
    expect((await report("b", "one")).exposes).toBe(false);
    expect((await report("a", "one", { mayExpose: false })).exposes).toBe(false);
    expect((await report("b", "one")).exposes).toBe(true);
    await room().store.replicas.leave("b");
    expect((await report("a", "one")).exposes).toBe(true);
    expect(await room().redis.pttl(room().store.keys.exposes)).toBeLessThanOrEqual(3_000);
  });

  it("who has no duties is no holder of anything", async () => {
    await report("web", "newest", { roles: [] });
    expect((await report("a", "old")).active.get("poll")).toBe("old");
    expect(await room().redis.hkeys(room().store.keys.replicas)).toEqual(["a"]);
  });
});
