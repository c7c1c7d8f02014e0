/** Small documents of the store: each comes back as it was, and goes with what it is about. */
import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { commit, coverage, digests, fires, firing, HOUR, MINUTE, T0, useTestStore, zones } from "./fixtures.ts";

const DAY = 24 * HOUR;

describeWithRedis("the time that was watched", () => {
  useTestStore();

  it("continues while sweeps follow one another, and begins again after a gap", async () => {
    for (const minutes of [0, 1, 2, 7, 8, 30, 31]) await coverage.note(T0 + minutes * MINUTE, 5 * MINUTE);
    expect(await coverage.since(T0)).toEqual([
      { from: T0, to: T0 + 8 * MINUTE },
      { from: T0 + 30 * MINUTE, to: T0 + 31 * MINUTE },
    ]);
    expect(await coverage.since(T0 + 20 * MINUTE)).toEqual([{ from: T0 + 30 * MINUTE, to: T0 + 31 * MINUTE }]);
  });

  it("never goes back when a replica is late", async () => {
    await coverage.note(T0, 5 * MINUTE);
    await coverage.note(T0 + 3 * MINUTE, 5 * MINUTE);
    await coverage.note(T0 + 2 * MINUTE, 5 * MINUTE);
    expect(await coverage.since(T0)).toEqual([{ from: T0, to: T0 + 3 * MINUTE }]);
  });

  it("is forgotten after ten weeks", async () => {
    await coverage.note(T0, MINUTE);
    await coverage.note(T0 + 71 * DAY, MINUTE);
    expect(await coverage.since(0)).toEqual([{ from: T0 + 71 * DAY, to: T0 + 71 * DAY }]);
  });
});

describeWithRedis("digests", () => {
  const testStore = useTestStore();

  const day = { from: T0 - 24 * HOUR, to: T0 };
  const week = { from: T0 - 168 * HOUR, to: T0 };

  it("the recipients of a digest are stored for as long as asked, for that period alone", async () => {
    const { keys } = testStore().store;
    await digests.accept("daily", day, "a@example.com", T0 + HOUR, 3_600);
    expect(await digests.accepted("daily", day)).toEqual(new Set(["a@example.com"]));
    expect(await digests.accepted("daily", { from: T0, to: T0 + 24 * HOUR })).toEqual(new Set());
    expect(await digests.accepted("daily", week)).toEqual(new Set());
    expect(await digests.accepted("weekly", day)).toEqual(new Set());
    expect(await testStore().redis.ttl(keys.digest("daily", T0))).toBeGreaterThan(3_590);
  });

  it("is sent to one recipient by one replica at a time, and by another when that one has stopped", async () => {
    const { keys } = testStore().store;
    const claim = (to: string) => digests.claim("daily", day, to, 60_000);
    const both = await Promise.all([claim("a@example.com"), claim("a@example.com")]);
    expect(both.sort()).toEqual([false, true]);
    expect(await claim("b@example.com")).toBe(true);
    expect(await digests.claim("daily", week, "a@example.com", 60_000)).toBe(true);
    expect(await testStore().redis.pttl(keys.digestClaim("daily", day, "a@example.com"))).toBeGreaterThan(50_000);
    await digests.release("daily", day, "a@example.com");
    expect(await claim("a@example.com")).toBe(true);
  });

  it("when each is due is kept until it is configured no more", async () => {
    await digests.reschedule("daily", { spec: "0 8 * * * UTC", dueAt: T0 });
    await digests.reschedule("daily", { spec: "0 8 * * * UTC", dueAt: T0 + HOUR });
    expect(await digests.schedule()).toEqual(new Map([["daily", { spec: "0 8 * * * UTC", dueAt: T0 + HOUR }]]));
    await digests.unschedule("daily");
    expect(await testStore().keys()).toEqual([]);
  });
});

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

describeWithRedis("counts of locations", () => {
  const testStore = useTestStore();

  it("are kept for eight weeks, and deleted with the location", async () => {
    const { store, keys, redis, prefix } = testStore();
    const before = await keys();
    const entries = { hours: new Map([[T0, 4]]), early: new Set([T0]), readings: [] };
    await store.counts.save("leeds", { timezone: "Europe/London", entries, zones: new Map(), sales: undefined });
    expect(await redis.ttl(`{${prefix}}:counts:leeds`)).toBeGreaterThan(56 * 86_400);
    await store.counts.forget(["leeds"]);
    expect(await keys()).toEqual(before);
  });
});

describeWithRedis("a text with half of an emoji in it", () => {
  const testStore = useTestStore();

  it.each([
    ["\ud800", "\ufffd"],
    ["cut \ud83d", "cut \ufffd"],
    ["\udc00 first", "\ufffd first"],
    ["a path\\ud800 and \\\ud800", "a path\\ud800 and \\\ufffd"],
    ["whole \u{1f3a5}", "whole \u{1f3a5}"],
  ])("%j is stored as %j with its alert, and fails no commit", async (text, stored) => {
    const { store } = testStore();
    const alert = { ...firing("a", T0, { location: text }), key: `RecordingOffline/recording/${text}` };
    await commit(T0, fires({ ...alert, annotations: { summary: text } }));
    const [read] = await store.shards.alerts();
    expect([read?.labels.location, read?.annotations.summary, read?.key]).toEqual([
      stored,
      stored,
      `RecordingOffline/recording/${stored}`,
    ]);
  });
});
