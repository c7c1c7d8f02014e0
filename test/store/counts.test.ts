import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { HOUR, T0, useTestStore } from "./fixtures.ts";

const series = (...counts: (number | null)[]) => ({
  hours: new Map(counts.map((count, i) => [T0 + i * HOUR, count])),
  early: new Set(counts.length > 0 ? [T0] : []),
  readings: counts.map((count, i) => ({ at: T0 + i * HOUR, since: T0 - HOUR, count })),
});

describeWithRedis("counts of locations", () => {
  const testStore = useTestStore();

  it("are kept with their zones and tills, and deleted with the location", async () => {
    const { store, keys, redis, prefix } = testStore();
    const kept = {
      timezone: "Europe/London",
      entries: series(4, null, 0),
      zones: new Map([
        ["Ground:Service:Tills", series(1, 2)],
        ["h", series()],
      ]),
      sales: series(3),
    };
    const before = await keys();
    await store.counts.save("leeds", kept);
    expect(await store.counts.read(["leeds", "york"])).toEqual(new Map([["leeds", kept]]));
    expect(await redis.ttl(`{${prefix}}:counts:leeds`)).toBeGreaterThan(56 * 86_400);
    await store.counts.save("leeds", { ...kept, zones: new Map(), sales: undefined });
    const other = (await store.counts.read(["leeds"])).get("leeds");
    expect([other?.zones.size, other?.sales], "what is not kept any more goes").toEqual([0, undefined]);
    const after = { ...kept, entries: { ...kept.entries, readings: [] }, zones: new Map([["Door", series(7)]]) };
    await store.counts.save("leeds", kept);
    await store.counts.save("leeds", after, kept);
    expect((await store.counts.read(["leeds"])).get("leeds"), "hours that stay are not written").toEqual(after);
    await store.counts.forget(["leeds"]);
    expect(await keys()).toEqual(before);
  });
});
