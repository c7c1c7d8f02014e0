import { expect, it } from "vitest";
import type { ReplicaReport } from "../../src/store/replicas.ts";
import { seededRandom } from "../support/random.ts";
import { describeWithRedis } from "../support/redis.ts";
import { SECOND, T0, useTestStore } from "./fixtures.ts";

const GONE = 30 * SECOND;
const DEATHS = { missedAfterMs: 5 * SECOND, provenAfterMs: 120 * SECOND, deathsKeptMs: 600 * SECOND };

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
        ...DEATHS,
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
    await testStore().store.replicas.leave("b", DEATHS);
    expect(await notified(T0 + GONE + 3)).toEqual({ poll: "old", notify: "old" });
  });

  it.each([
    ["dies", 10, 25],
    ["dies", 3, 40],
    ["is stopped", 10, 25],
    ["is stopped", 1, 100],
  ])(
    "a configuration whose replica %s every %i to %i s keeps no other from work for long",
    async (how, least, most) => {
      const old = await report("old", "old", {}, T0 - 600 * SECOND);
      const random = seededRandom(least * most);
      let [stopsAt, startsAt, run, idle, worked] = [0, 5, 0, 0, 0];
      let generation: number | undefined;
      for (let second = 0; second < 900; second++) {
        const at = T0 + second * SECOND;
        if (second === startsAt) {
          stopsAt = second + least + Math.floor(random() * (most - least));
          startsAt = stopsAt + 1 + Math.floor(random() * 8);
          generation = undefined;
          run++;
        }
        if (second === stopsAt && how === "is stopped") await testStore().store.replicas.leave(`new ${run}`, DEATHS);
        if (second < stopsAt) ({ generation } = await report(`new ${run}`, "new", { generation }, at));
        const { active, deferred } = await report("old", "old", { generation: old.generation }, at);
        idle = active.get("poll") === "old" ? 0 : idle + 1;
        if (second < 250) continue;
        expect(idle).toBe(0);
        if (second < stopsAt) worked += deferred === "new" ? 1 : 0;
      }
      expect(worked).toBeGreaterThan(0);
      // Once it runs for long enough it is the active one, whatever happened before.
      generation = undefined;
      for (let second = 0; second <= 121; second++)
        ({ generation } = await report("good", "new", { generation }, T0 + (900 + second) * SECOND));
      const { active, deferred } = await report("old", "old", { generation: old.generation }, T0 + 1_021 * SECOND);
      expect([active.get("poll"), active.get("notify"), deferred]).toEqual(["new", "new", undefined]);
    },
  );

  it("a configuration that died works at once where there is no other", async () => {
    for (const run of [1, 2, 3, 4]) {
      const { active } = await report(`new ${run}`, "new", {}, T0 + run * 10 * SECOND);
      expect(active.get("poll")).toBe("new");
    }
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
    await testStore().store.replicas.leave("b", DEATHS);
    expect((await report("a", "one")).exposes).toBe(true);
    expect(await testStore().redis.pttl(testStore().store.keys.exposes)).toBeLessThanOrEqual(3_000);
  });

  it("a replica without roles is not listed", async () => {
    await report("web", "newest", { roles: [] });
    expect((await report("a", "old")).active.get("poll")).toBe("old");
    expect(await testStore().redis.hkeys(testStore().store.keys.replicas)).toEqual(["a"]);
  });
});
