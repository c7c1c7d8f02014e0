import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createRefreshDetails, zonesByLocation } from "../../src/poll/details.ts";
import type { AreaContext } from "../../src/service/service.ts";
import { useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

/** A Friday, 14:05 in Leeds. */
const NOW = Date.UTC(2026, 10, 20, 14, 5);

const context = (recordingId: string | undefined, taxonomy: string | undefined): AreaContext => ({
  areaType: "taxonomy",
  taxonomy,
  recordingId,
});
const PLACED = new Map([
  ["a", { locationId: "leeds" }],
  ["b", { locationId: "york" }],
]);

it("zones go to the location of their recording, bounded in number and length; what belongs nowhere is left out", () => {
  const rows = [
    ...["Tills", "Door", "Tills"].map((zone) => context("a", zone)),
    ...Array.from({ length: 100 }, (_, i) => context("c", `${i} ${"x".repeat(9_000)}`)),
    context("b", " \u202e\n "),
    context("stranger", "Vault"),
    context(undefined, "Vault"),
    context("a", undefined),
  ];
  const placed = new Map([...PLACED, ["c", { locationId: "leeds" }]]);
  const zones = zonesByLocation(["leeds", "york"], rows, placed);
  expect([zones.get("leeds")?.get("a"), zones.get("york")]).toEqual([["Tills", "Door"], new Map()]);
  const bounded = zones.get("leeds")?.get("c") ?? [];
  expect(bounded).toHaveLength(20);
  expect(Math.max(...bounded.map((zone) => zone.length))).toBe(200);
});

const TWELVE = Array.from({ length: 12 }, (_, i) => (i === 0 ? "leeds" : `loc-${i}`));

describeWithRedis("reading zones", () => {
  const testStore = useTestStore();

  function watching(locations = ["leeds", "york"]) {
    const { store } = testStore();
    const asked: number[] = [];
    const warned: number[] = [];
    const stopping = new AbortController();
    const service = { broken: undefined as Error | undefined, zone: "Tills" };
    const state = {
      sweptAt: NOW,
      locations: new Map(),
      recordings: new Map([...PLACED].map(([id, at]) => [id, { id, ...at } as never])),
    };
    const refresh = createRefreshDetails({
      clock: { now: () => NOW },
      log: { ...silentLogger, warn: ({ shard }: { shard: number }) => void warned.push(shard) } as never,
      service: {
        async areaContexts({ entities }) {
          asked.push(entities.length);
          if (service.broken) throw service.broken;
          return { contexts: [context("a", service.zone)], dropped: 0 };
        },
      },
      store: { ...store, shards: { ...store.shards, read: async () => ({ nonce: "", state }) } },
      assigned: { locations: () => locations },
      locationsPerRequest: 5,
    });
    const attempt = async () => (await store.shards.attempts()).get("details:0");
    const zonesOfA = async () => (await store.zones.read(["leeds"])).get("leeds")?.get("a");
    const refreshOne = (shard = 0, signal = stopping.signal) => refresh(shard, signal);
    return { refresh: refreshOne, warned, asked, service, state, stopping, attempt, zonesOfA };
  }

  it("a few locations are one question, every time", async () => {
    const { refresh, service, asked, zonesOfA } = watching(TWELVE);
    await refresh();
    expect([asked, await zonesOfA()]).toEqual([[5, 5, 2], ["Tills"]]);
    service.zone = "Door";
    await refresh();
    expect(await zonesOfA()).toEqual(["Door"]);
  });

  it("a failure keeps what was known and is noted", async () => {
    const { refresh, service, attempt, zonesOfA } = watching();
    await refresh();
    service.broken = new Error("No answer.");
    await refresh();
    expect([await zonesOfA(), (await attempt())?.error]).toEqual([["Tills"], "No answer."]);
    service.broken = undefined;
    await refresh();
    expect((await attempt())?.error).toBeUndefined();
  });

  it("the first failure of a shard in a row is logged, after a success too", async () => {
    const { refresh, service, warned } = watching();
    service.broken = new Error("No answer.");
    for (const shard of [0, 0, 1]) await refresh(shard);
    expect(warned).toEqual([0, 1]);
    service.broken = undefined;
    await refresh();
    service.broken = new Error("No answer.");
    await refresh();
    expect(warned).toEqual([0, 1, 0]);
  });

  it("a shard that was not swept yet is not asked for, and one without locations needs nothing", async () => {
    const { refresh, state, asked, attempt } = watching();
    state.sweptAt = 0;
    await refresh();
    expect(await attempt()).toBeUndefined();
    const empty = watching([]);
    await empty.refresh();
    expect(await attempt()).toMatchObject({ goodAt: NOW });
    expect(asked.length + empty.asked.length).toBe(0);
  });

  it("is broken off between two questions, and is due as before", async () => {
    const { refresh, asked, service, stopping, attempt } = watching(TWELVE);
    Object.defineProperty(service, "zone", { get: () => void (asked.length === 2 && stopping.abort()) });
    await refresh();
    expect([asked, await attempt()]).toEqual([[5, 5], undefined]);
  });
});
