import { expect, it } from "vitest";
import { createUptimeJobs } from "../../src/poll/uptime-jobs.ts";
import { T0 } from "../store/fixtures.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));
const { signal } = new AbortController();
const attempt = { goodAt: T0, attemptedAt: T0 };

/** Shards below 6 have recordings without a past; each work ends when it is told to. */
function jobsOf(lacking = new Set<number>()) {
  const order: string[] = [];
  const underWay: PromiseWithResolvers<void>[] = [];
  const work = async (name: string) => {
    order.push(name);
    const one = Promise.withResolvers<void>();
    underWay.push(one);
    await one.promise;
  };
  const deps = {
    everyMs: 600_000,
    refresh: async (shard: number) => {
      await work(`figures ${shard}`);
      return shard < 6 ? [`old in ${shard}`] : [];
    },
    backfill: (_: number, ids: readonly string[]) => work(ids.join()),
  };
  const [figures, past] = createUptimeJobs(deps, lacking);
  if (!figures || !past) throw new Error("no jobs");
  const attempts = new Map(
    [1, 7].flatMap((shard) => [`shard:${shard}`, `uptime:${shard}`].map((one) => [one, attempt])),
  );
  return {
    ...{ figures, past, order },
    needs: (shard: number) => [figures, past].map(({ need }) => need?.(shard, attempts, T0)),
    endAll: async () => {
      for (const { resolve } of underWay.splice(0)) resolve();
      await settled();
    },
  };
}

it("days of the past are read after the figures that wait, of recordings that lack them, and once", async () => {
  const { figures, past, order, needs, endAll } = jobsOf();
  expect(needs(1)).toEqual(["none", "none"]);
  for (const shard of [1, 7]) void figures.run(shard, signal);
  await endAll();
  expect([needs(1), needs(7)]).toEqual([
    ["none", "at_once"],
    ["none", "none"],
  ]);
  for (const shard of [8, 9, 10]) void figures.run(shard, signal);
  void past.run(1, signal);
  void figures.run(11, signal);
  await settled();
  await endAll();
  await endAll();
  expect(order).toEqual(["figures 1", "figures 7", "figures 8", "figures 9", "figures 10", "figures 11", "old in 1"]);
  expect(needs(1)).toEqual(["none", "none"]);
});

it("a shard whose figures lack one that rules need is refreshed at once, until it was", async () => {
  const lacking = new Set([7]);
  const { figures, needs, endAll } = jobsOf(lacking);
  expect(needs(7)).toEqual(["at_once", "none"]);
  void figures.run(7, signal);
  await endAll();
  expect(needs(7)).toEqual(["none", "none"]);
});
