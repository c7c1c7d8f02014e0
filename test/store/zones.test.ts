import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { useTestStore, zones } from "./fixtures.ts";

describeWithRedis("zones and usual entries", () => {
  const testStore = useTestStore();

  it("are stored for every replica; what is read again replaces what was known", async () => {
    await zones.save(
      new Map([
        [
          "leeds",
          new Map([
            ["a", ["Tills"]],
            ["__proto__", ["Door"]],
          ]),
        ],
        ["york", new Map()],
      ]),
    );
    const other = testStore().replica().zones;
    const known = await other.read(["york", "leeds", "bath"]);
    expect([...known.keys()]).toEqual(["york", "leeds"]);
    expect([...(known.get("leeds") ?? [])]).toEqual([
      ["a", ["Tills"]],
      ["__proto__", ["Door"]],
    ]);
    await zones.save(new Map([["leeds", new Map([["b", ["Shoes"]]])]]));
    expect([...((await other.read(["leeds"])).get("leeds")?.keys() ?? [])]).toEqual(["b"]);
  });

  it("a weekday that is not known stays unknown, and zero stays zero", async () => {
    const { usualEntries } = testStore().store;
    const weekdays = [0, 1, undefined, 3, 4, 5, undefined];
    await usualEntries.save(new Map([["leeds", weekdays]]));
    expect([...(await testStore().replica().usualEntries.read(["leeds", "york"]))]).toEqual([["leeds", weekdays]]);
  });

  it("go with the location, and leave nothing", async () => {
    const { usualEntries } = testStore().store;
    await zones.save(new Map([["leeds", new Map()]]));
    await usualEntries.save(new Map([["leeds", []]]));
    for (const store of [zones, usualEntries]) await store.forget(["leeds"]);
    for (const store of [zones, usualEntries]) await store.forget([]);
    expect(await testStore().keys()).toEqual([]);
  });

  it("of no locations are nothing", async () => {
    const { usualEntries } = testStore().store;
    expect((await zones.read([])).size + (await usualEntries.read([])).size).toBe(0);
    await zones.save(new Map());
    await usualEntries.save(new Map());
  });
});
