import fc from "fast-check";
import { expect, it } from "vitest";
import { Replicas } from "../../src/cluster/active-config.ts";
import { assignSlots, ranksOf, SLOTS } from "../../src/cluster/slots.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";

const all = Array.from({ length: SLOTS }, (_, slot) => slot);

it("each slot has one replica, none more than its share, in whatever order they are known; few move with one that goes", () => {
  const slots = fc.uniqueArray(fc.nat(SLOTS - 1), { minLength: 1 });
  const replicas = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(slots, replicas, (slots, replicas) => {
      const owners = assignSlots(slots, replicas);
      expect([...owners.keys()].sort()).toEqual([...slots].sort());
      for (const own of Map.groupBy(owners.values(), (owner) => owner).values())
        expect(own.length).toBeLessThanOrEqual(Math.ceil(slots.length / replicas.length));
      expect(new Map(assignSlots(slots.toReversed(), replicas.toReversed()))).toEqual(owners);
      const [gone, ...others] = replicas;
      const [before, after] = [assignSlots(all, replicas), assignSlots(all, others)];
      const moved = all.filter((slot) => before.get(slot) !== gone && before.get(slot) !== after.get(slot));
      expect(moved.length).toBeLessThanOrEqual(2 * Math.ceil(SLOTS / others.length));
    }),
  );
});

it("in each slot the replicas have ranks in one order, its own replica the first", () => {
  const replicas = ["a", "b", "c"];
  const ranks = replicas.map((replica) => ranksOf(replica, all, replicas));
  for (const [slot, owner] of assignSlots(all, replicas)) {
    expect(ranks.map((one) => one.get(slot)).toSorted()).toEqual([0, 1, 2]);
    expect(ranks[replicas.indexOf(owner)]?.get(slot)).toBe(0);
  }
  expect(ranksOf("d", all, replicas).size).toBe(0);
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
