import fc from "fast-check";
import { expect, it } from "vitest";
import { Replicas } from "../../src/cluster/active-config.ts";
import { ranksOf, SLOTS } from "../../src/cluster/slots.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";

const all = Array.from({ length: SLOTS }, (_, slot) => slot);

/** Of each slot the replicas by their rank. */
const orders = (replicas: readonly string[]) => {
  const ranks = replicas.map((replica) => ranksOf(replica, all, replicas));
  return all.map((slot) => replicas.toSorted((a, b) => rankOf(a, slot) - rankOf(b, slot)));
  function rankOf(replica: string, slot: number): number {
    return ranks[replicas.indexOf(replica)]?.get(slot) ?? Number.NaN;
  }
};

it("in each slot the replicas have ranks in one order, and only slots of one that goes change hands", () => {
  const replicas = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(replicas, (replicas) => {
      for (const replica of replicas) expect(ranksOf(replica, [], replicas).size).toBe(0);
      const [gone, ...others] = replicas;
      const before = orders(replicas);
      expect(orders(replicas.toReversed())).toEqual(before);
      expect(orders(others)).toEqual(before.map((order) => order.filter((one) => one !== gone)));
      const ranks = replicas.map((one) => ranksOf(one, all, replicas));
      for (const slot of all) expect(ranks.map((one) => one.get(slot)).toSorted()).toEqual(replicas.map((_, i) => i));
    }),
    { numRuns: 20 },
  );
  expect(ranksOf("d", all, ["a", "b", "c"]).size).toBe(0);
});

it("the shares of replicas are about equal", () => {
  const replicas = ["a", "b", "c", "d"];
  for (const own of Map.groupBy(orders(replicas), ([first]) => first).values())
    expect(Math.abs(own.length - SLOTS / 4)).toBeLessThan(SLOTS / 16);
});

it("a replica has no slots before it shares", async () => {
  const store = {
    report: async ({ replica }: { replica: string }) => {
      return { generation: 1, exposes: false, active: new Map<string, string>(), sharing: [replica] };
    },
    leave: async () => {},
    checkActive: () => ({ place: ["active"] as const, version: "" }),
  };
  const replicas = new Replicas({ store, clock: systemClock, log: silentLogger, roleOption: "poll" });
  await replicas.announce("one");
  expect(replicas.ranks(all).size).toBe(0);
  await replicas.share(true);
  expect([...replicas.ranks(all)]).toEqual(all.map((slot) => [slot, 0]));
});
