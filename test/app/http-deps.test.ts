/** Parts of what the HTTP server is handed. */
import { expect, test } from "vitest";
import { episodesSince, readSince } from "../../src/app/http-deps.ts";
import type { Setup } from "../../src/app/setup.ts";
import { NOW } from "../metrics/fleets.ts";
import { anAlert } from "../support/fixtures.ts";

test("episodes that last are listed with what they cost, as far as that is known within a second", async () => {
  const visits = { estimate: 310, low: 260, high: 370 };
  const of = async (_: unknown, __: number, withinMs: number) =>
    new Map(withinMs === 1_000 ? [[anAlert().id, visits]] : []);
  const store = { episodes: { endedSince: async () => [] }, shards: { alerts: async () => [anAlert()] } };
  const setup = { engine: { uncounted: { of } }, config: { maintenance: [] } } as unknown as Setup;
  const runtime = { store, clock: { now: () => NOW } } as unknown as Parameters<typeof episodesSince>[0];
  expect((await episodesSince(runtime, setup, 0)).map(({ uncounted }) => uncounted)).toEqual([visits]);
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
