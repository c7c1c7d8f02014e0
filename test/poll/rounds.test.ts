import { expect, it } from "vitest";
import { createRound, createTurns, createUptimeRound } from "../../src/poll/rounds.ts";

/** All that follows is promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** What a round has come to; one that never ends fails a test instead of hanging it. */
async function outcomeOf(round: Promise<unknown>): Promise<string> {
  const outcome = round.then(
    () => "ended",
    (thrown: Error) => thrown.message,
  );
  return Promise.race([outcome, settled().then(() => "under way")]);
}

/** Work that ends when it is told to. */
function worksOf(atOnce: number) {
  const underWay = new Map<number, PromiseWithResolvers<void>>();
  const begun: number[] = [];
  const round = createRound((shard) => {
    begun.push(shard);
    const work = Promise.withResolvers<void>();
    underWay.set(shard, work);
    return work.promise;
  }, createTurns(atOnce));
  const end = async (shard: number, failure?: Error) => {
    const work = underWay.get(shard);
    failure ? work?.reject(failure) : work?.resolve();
    await settled();
  };
  return { round: (shards: number[], { signal } = new AbortController()) => round(shards, signal), begun, end };
}

it("so many are worked on at once, the others in their turn", async () => {
  const { round, begun, end } = worksOf(2);
  const done = round([1, 2, 3, 4]);
  expect(begun).toEqual([1, 2]);
  await end(2);
  expect(begun).toEqual([1, 2, 3]);
  for (const shard of [1, 3, 4]) await end(shard);
  expect(await outcomeOf(done)).toBe("ended");
  void round([5, 6, 7]);
  expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
});

it("a shard that is worked on already or waits for it is left to that round, and keeps no other waiting", async () => {
  const { round, begun, end } = worksOf(2);
  void round([1, 2, 3]);
  expect(await outcomeOf(round([1, 3]))).toBe("ended");
  for (const shard of [1, 2, 3]) await end(shard);
  expect(begun).toEqual([1, 2, 3]);
  void round([1]);
  expect(begun).toEqual([1, 2, 3, 1]);
});

it("a round that was given up begins no shard by its turn; one that is this replica's again is not left to it", async () => {
  const { round, begun, end } = worksOf(1);
  const leaving = new AbortController();
  void round([1, 2], leaving);
  leaving.abort();
  void round([1, 2]);
  await end(1);
  expect(await outcomeOf(round([1, 2])), "the second has them").toBe("ended");
  await end(1);
  await end(2);
  expect(begun).toEqual([1, 1, 2]);
});

it("work that fails fails the round, after the others were done", async () => {
  const { round, begun, end } = worksOf(1);
  const done = round([1, 2]);
  done.catch(() => {});
  await end(1, new Error("Redis is away"));
  expect(begun).toEqual([1, 2]);
  expect(await outcomeOf(done)).toBe("under way");
  await end(2);
  expect(await outcomeOf(done)).toBe("Redis is away");
});

it("days of the past are read after the figures that wait already, of recordings that lack them", async () => {
  const order: unknown[] = [];
  const uptime = createUptimeRound(
    async (shard) => {
      order.push(shard);
      return shard < 5 ? [`old in ${shard}`] : [];
    },
    async (_shard, ids) => void order.push(...ids),
  );
  const { signal } = new AbortController();
  await Promise.all([uptime([1, 2, 3, 4], signal), uptime([5, 6, 7], signal)]);
  expect(order.slice(0, 7).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(order.slice(7).toSorted()).toEqual([1, 2, 3, 4].map((shard) => `old in ${shard}`));
});

it("figures that are due meanwhile do not wait for days of the past that others wait for", async () => {
  const order: string[] = [];
  const begun: PromiseWithResolvers<void>[] = [];
  const uptime = createUptimeRound(
    async (shard) => {
      order.push(`figures ${shard}`);
      return shard < 6 ? ["old"] : [];
    },
    async (shard) => {
      order.push(`past ${shard}`);
      const work = Promise.withResolvers<void>();
      begun.push(work);
      await work.promise;
    },
  );
  const { signal } = new AbortController();
  void uptime([1, 2, 3, 4, 5], signal);
  await settled();
  void uptime([6, 7], signal);
  begun[0]?.resolve();
  await settled();
  expect(order.slice(5)).toEqual(["past 1", "past 2", "past 3", "figures 6", "figures 7", "past 4"]);
});
