import { expect, it } from "vitest";
import { createSweepShards } from "../../src/poll/sweep-shards.ts";

/** Sweeps that end when they are told to. */
function sweepsOf(atOnce: number) {
  const underWay = new Map<number, PromiseWithResolvers<void>>();
  const begun: number[] = [];
  const sweepShards = createSweepShards((shard) => {
    begun.push(shard);
    const sweep = Promise.withResolvers<void>();
    underWay.set(shard, sweep);
    return sweep.promise;
  }, atOnce);
  const end = async (shard: number, failure?: Error) => {
    if (failure) underWay.get(shard)?.reject(failure);
    else underWay.get(shard)?.resolve();
    // All that follows from it is promises.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { sweepShards, begun, end };
}

it("so many are swept at once, the others in their turn", async () => {
  const { sweepShards, begun, end } = sweepsOf(2);
  const done = sweepShards([1, 2, 3, 4]);
  expect(begun).toEqual([1, 2]);
  await end(2);
  expect(begun).toEqual([1, 2, 3]);
  for (const shard of [1, 3, 4]) await end(shard);
  await done;
  void sweepShards([5, 6, 7]);
  expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
});

it("a shard that is swept already or waits for it is left to that sweep, and keeps no round waiting", async () => {
  const { sweepShards, begun, end } = sweepsOf(2);
  void sweepShards([1, 2, 3]);
  await sweepShards([1, 3]);
  for (const shard of [1, 2, 3]) await end(shard);
  expect(begun).toEqual([1, 2, 3]);
  void sweepShards([1]);
  expect(begun).toEqual([1, 2, 3, 1]);
});

it("a shard that is another replica's by its turn is not begun", async () => {
  const { sweepShards, begun, end } = sweepsOf(1);
  let isOwn = true;
  const done = sweepShards([1, 2], () => isOwn);
  isOwn = false;
  await end(1);
  await done;
  expect(begun).toEqual([1]);
});

it("a sweep that fails fails the round, after the others were swept", async () => {
  const { sweepShards, begun, end } = sweepsOf(1);
  const done = sweepShards([1, 2]).then(
    () => "swept",
    (thrown: Error) => thrown.message,
  );
  await end(1, new Error("Redis is away"));
  expect(begun).toEqual([1, 2]);
  await end(2);
  expect(await done).toBe("Redis is away");
});
