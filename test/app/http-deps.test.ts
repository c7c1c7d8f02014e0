/** Parts of what the HTTP server is handed. */
import { expect, onTestFinished, test, vi } from "vitest";
import { episodesSince, readSince } from "../../src/app/http-deps.ts";
import type { Setup } from "../../src/app/setup.ts";
import { NOW } from "../metrics/fleets.ts";
import { anAlert } from "../support/fixtures.ts";

test("episodes that last are listed without what they cost where estimating that takes long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const visits = { estimate: 310, low: 260, high: 370 };
  const listed = async (of: () => Promise<unknown>) => {
    const store = { episodes: { endedSince: async () => [] }, shards: { alerts: async () => [anAlert()] } };
    const setup = { engine: { uncounted: { of } }, config: { maintenance: [] } } as unknown as Setup;
    const runtime = { store, clock: { now: () => NOW } } as unknown as Parameters<typeof episodesSince>[0];
    const reading = episodesSince(runtime, setup, 0);
    await vi.advanceTimersByTimeAsync(1_000);
    return (await reading).map(({ uncounted }) => uncounted);
  };
  expect(await listed(async () => new Map([[anAlert().id, visits]]))).toEqual([visits]);
  expect(await listed(() => new Promise(() => {}))).toEqual([undefined]);
});

test("counts are as old as those of the shard that was read longest ago", async () => {
  const [shard0, shard2] = [
    { goodAt: NOW, attemptedAt: NOW },
    { goodAt: NOW - 60_000, attemptedAt: NOW, error: "no" },
  ];
  const stored = new Map(Object.entries({ "counts:0": shard0, "counts:1": { goodAt: 0, attemptedAt: NOW } }));
  stored.set("counts:2", shard2);
  const attemptsOf = async (ids: readonly string[]) => new Map([...stored].filter(([id]) => ids.includes(id)));
  const shards = { attemptsOf } as Parameters<typeof readSince>[0]["shards"];
  expect(await readSince({ shards }, "counts", [0, 1, 2])).toBe(NOW - 60_000);
  expect(await readSince({ shards }, "counts", [1])).toBeUndefined();
});
