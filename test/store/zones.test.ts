import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { T0, useRoom } from "./fixtures.ts";

describeWithRedis("zones and usual entries", () => {
  const room = useRoom();

  it("are there for every replica; what is read anew replaces what was known", async () => {
    const { zones } = room().store;
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
    const other = room().replica().zones;
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
    const { usualEntries } = room().store;
    const weekdays = [0, 1, undefined, 3, 4, 5, undefined];
    await usualEntries.save(new Map([["leeds", weekdays]]), T0);
    expect([...(await room().replica().usualEntries.read(["leeds", "york"]))]).toEqual([
      ["leeds", { at: T0, weekdays }],
    ]);
  });

  it("go with the location, and leave nothing", async () => {
    const { zones, usualEntries } = room().store;
    await zones.save(new Map([["leeds", new Map()]]));
    await usualEntries.save(new Map([["leeds", []]]), T0);
    for (const store of [zones, usualEntries]) await store.forget(["leeds"]);
    for (const store of [zones, usualEntries]) await store.forget([]);
    expect(await room().keys()).toEqual([]);
  });

  it("of no locations are nothing", async () => {
    const { zones, usualEntries } = room().store;
    expect((await zones.read([])).size + (await usualEntries.read([])).size).toBe(0);
    await zones.save(new Map());
    await usualEntries.save(new Map(), T0);
  });
});
