import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { T0, useTestStore } from "./fixtures.ts";

const DAY = 86_400_000;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

describeWithRedis("what the service counted", () => {
  const testStore = useTestStore();

  it("is kept by location and day with when it was asked; no figure is not 0", async () => {
    const { entries } = testStore().store;
    const days = new Map([
      [dayOf(T0), 0],
      [dayOf(T0 - DAY), undefined],
    ]);
    await entries.save("leeds", days, T0 + 5);
    expect(await entries.read(["york", "leeds"])).toEqual(
      new Map([
        [
          "leeds",
          new Map([
            [dayOf(T0), { entries: 0, askedAt: T0 + 5 }],
            [dayOf(T0 - DAY), { entries: undefined, askedAt: T0 + 5 }],
          ]),
        ],
      ]),
    );
    expect(await entries.read([])).toEqual(new Map());
  });

  it("goes with its day after ten weeks, and altogether three weeks after the last was kept", async () => {
    const { store, redis } = testStore();
    await store.entries.save("leeds", new Map([[dayOf(T0), 7]]), T0);
    await store.entries.save("leeds", new Map([[dayOf(T0 + 71 * DAY), 8]]), T0 + 71 * DAY);
    const known = (await store.entries.read(["leeds"])).get("leeds");
    expect([...(known?.keys() ?? [])]).toEqual([dayOf(T0 + 71 * DAY)]);
    expect(await redis.ttl(store.keys.entries("leeds"))).toBeGreaterThan(20 * 86_400);
    await store.entries.save("york", new Map(), T0);
    expect(await testStore().keys()).toEqual(["entries:leeds"]);
  });
});
