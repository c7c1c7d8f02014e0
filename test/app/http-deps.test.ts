/** Parts of what the HTTP server is handed. */
import { expect, test } from "vitest";
import { readSince } from "../../src/app/http-deps.ts";
import { NOW } from "../metrics/fleets.ts";

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
