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

it("zones go to the location of their recording; what belongs nowhere is left out", () => {
  const rows = [
    context("a", "Tills"),
    context("a", "Door"),
    context("a", "Tills"),
    context("b", " \u202e\n "),
    context("stranger", "Vault"),
    context(undefined, "Vault"),
    context("a", undefined),
  ];
  const zones = zonesByLocation(["leeds", "york"], rows, PLACED);
  expect([...zones].map(([id, byRecording]) => [id, [...byRecording]])).toEqual([
    ["leeds", [["a", ["Tills", "Door"]]]],
    ["york", []],
  ]);
});

it("zones are bounded, in number and in length", () => {
  const rows = Array.from({ length: 100 }, (_, i) => context("a", `${i} ${"x".repeat(9_000)}`));
  const known = zonesByLocation(["leeds"], rows, PLACED).get("leeds")?.get("a") ?? [];
  expect(known).toHaveLength(20);
  expect(Math.max(...known.map((zone) => zone.length))).toBe(200);
});

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
      recordings: new Map([...PLACED].map(([id, { locationId }]) => [id, { id, locationId } as never])),
    };
    const { refresh, retryMs } = createRefreshDetails({
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
    return {
      refresh: (shard: number, signal = stopping.signal) => refresh(shard, signal),
      retryMs,
      warned,
      asked,
      service,
      state,
      stopping,
      store,
    };
  }

  it("zones are read every time", async () => {
    const { refresh, service, store } = watching();
    await refresh(0);
    expect((await store.zones.read(["leeds"])).get("leeds")?.get("a")).toEqual(["Tills"]);
    service.zone = "Door";
    await refresh(0);
    expect((await store.zones.read(["leeds"])).get("leeds")?.get("a")).toEqual(["Door"]);
  });

  it("a few locations are one question", async () => {
    const { refresh, asked } = watching(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    await refresh(0);
    expect(asked).toEqual([5, 5, 2]);
  });

  it("a failure keeps what was known and is noted", async () => {
    const { refresh, retryMs, service, store } = watching();
    await refresh(0);
    service.broken = new Error("No answer.");
    await refresh(0);
    expect((await store.zones.read(["leeds"])).get("leeds")?.get("a")).toEqual(["Tills"]);
    expect((await store.shards.attempts()).get("details:0")).toMatchObject({ error: "No answer." });
    const first = retryMs(0);
    await refresh(0);
    expect(retryMs(0)).toBe(2 * first);
    service.broken = undefined;
    await refresh(0);
    expect((await store.shards.attempts()).get("details:0")?.error).toBeUndefined();
    expect(retryMs(0)).toBe(first);
  });

  it("a failing shard that another replica takes is forgotten, and the next failure is logged as the first", async () => {
    const { refresh, service, stopping, retryMs, warned } = watching();
    service.broken = new Error("No answer.");
    for (const _ of [1, 2]) await refresh(0);
    expect([retryMs(0), warned.length]).toEqual([2 * retryMs(1), 1]);
    stopping.abort();
    expect(retryMs(0)).toBe(retryMs(1));
    await refresh(1, new AbortController().signal);
    expect(warned).toEqual([0, 1]);
  });

  it("a shard that was not swept yet is not asked for, and one without locations needs nothing", async () => {
    const { refresh, state, asked, store } = watching();
    state.sweptAt = 0;
    const attempts = () => store.shards.attempts();
    await refresh(0);
    expect((await attempts()).size).toBe(0);
    const empty = watching([]);
    await empty.refresh(0);
    expect((await attempts()).get("details:0")?.error).toBeUndefined();
    expect(asked.length + empty.asked.length).toBe(0);
  });

  it("is broken off between two questions, and is due as before", async () => {
    const { refresh, asked, service, stopping, store } = watching(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    Object.defineProperty(service, "zone", { get: () => void (asked.length === 2 && stopping.abort()) });
    await refresh(0);
    expect(asked).toEqual([5, 5]);
    expect((await store.shards.attempts()).size).toBe(0);
  });
});
