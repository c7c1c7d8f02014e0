import { expect, it } from "vitest";
import { bounded, createShardTurns } from "../../src/poll/rounds.ts";

/** All that follows is promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const { signal } = new AbortController();

/** Work that ends when it is told to. */
function worksOf(atOnce: number) {
  const underWay = new Map<number, PromiseWithResolvers<void>>();
  const begun: number[] = [];
  const inTurn = createShardTurns(atOnce, 60_000);
  const work = (shard: number) => {
    begun.push(shard);
    const one = Promise.withResolvers<void>();
    underWay.set(shard, one);
    return one.promise;
  };
  const end = async (shard: number, failure?: Error) => {
    if (failure) underWay.get(shard)?.reject(failure);
    else underWay.get(shard)?.resolve();
    await settled();
  };
  return { run: inTurn(work), begun, end };
}

it("so many are worked on at once, the others in their turn; one that fails ends its turn", async () => {
  const { run, begun, end } = worksOf(2);
  const done = [1, 2, 3, 4].map((shard) => run(shard, signal));
  expect(begun).toEqual([1, 2]);
  const failed = expect(done[1]).rejects.toThrow("Redis is away");
  await end(2, new Error("Redis is away"));
  await failed;
  expect(begun).toEqual([1, 2, 3]);
  await end(1);
  expect(begun).toEqual([1, 2, 3, 4]);
});

it("what was aborted before its turn is not begun, and keeps no other waiting", async () => {
  const { run, begun, end } = worksOf(1);
  const leaving = new AbortController();
  void run(1, signal);
  const left = run(2, leaving.signal);
  void run(3, signal);
  leaving.abort();
  await end(1);
  await left;
  expect(begun).toEqual([1, 3]);
});

it("work is given up at its deadline, which begins with its turn; until then it is told of an abort, and waited for", async () => {
  const signals: AbortSignal[] = [];
  const hangs = (stop: AbortSignal) => {
    signals.push(stop);
    return new Promise<void>(() => {});
  };
  const inTurn = createShardTurns(1, 20);
  const turns = [1, 2].map((shard) => inTurn((_, stop) => hangs(stop))(shard, signal));
  const outcomes = await Promise.allSettled(turns);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  const leaving = new AbortController();
  const end = Promise.withResolvers<void>();
  let isOver = false;
  const run = bounded(60_000, (stop) => {
    signals.push(stop);
    return end.promise;
  })(leaving.signal).then(() => {
    isOver = true;
  });
  leaving.abort();
  await settled();
  expect([signals[2]?.aborted, isOver]).toEqual([true, false]);
  end.resolve();
  await run;
});
