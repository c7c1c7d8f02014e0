import fc from "fast-check";
import { expect, it } from "vitest";
import { Replicas } from "../../src/cluster/active-config.ts";
import { assignSlots, SLOTS } from "../../src/cluster/slots.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";

const all = Array.from({ length: SLOTS }, (_, slot) => slot);
const slots = fc.uniqueArray(fc.nat(SLOTS - 1), { minLength: 1 });
const replicas = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 12 });

it("each slot has one replica, and no replica more than its share", () => {
  fc.assert(
    fc.property(slots, replicas, (slots, replicas) => {
      const owners = assignSlots(slots, replicas);
      expect([...owners.keys()].sort()).toEqual([...slots].sort());
      const shares = Map.groupBy(owners.values(), (owner) => owner);
      for (const [owner, own] of shares) {
        expect(replicas).toContain(owner);
        expect(own.length).toBeLessThanOrEqual(Math.ceil(slots.length / replicas.length));
      }
    }),
  );
});

it("all replicas come to the same, whatever the order of what they know", () => {
  fc.assert(
    fc.property(slots, replicas, (slots, replicas) => {
      const owners = assignSlots(slots, replicas);
      const other = assignSlots(slots.toReversed(), replicas.toReversed());
      expect([...other].sort()).toEqual([...owners].sort());
    }),
  );
});

it("few slots move beside those of a replica that goes: two shares at most", () => {
  const several = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(several, ([gone = "", ...others]) => {
      const before = assignSlots(all, [gone, ...others]);
      const after = assignSlots(all, others);
      const moved = all.filter((slot) => before.get(slot) !== gone && before.get(slot) !== after.get(slot));
      expect(moved.length).toBeLessThanOrEqual(2 * Math.ceil(SLOTS / others.length));
    }),
    { numRuns: 500 },
  );
});

it("the slots that a replica has alone begin with those that it mostly keeps when three others come", () => {
  const four = ["a", "b", "c", "d"];
  const shared = assignSlots(all, four);
  const keptOf = (some: (own: number[]) => number[]) =>
    four.flatMap((one) => some([...assignSlots(all, [one]).keys()]).filter((slot) => shared.get(slot) === one)).length;
  expect(keptOf((own) => own.slice(0, SLOTS / 4))).toBeGreaterThan(0.6 * SLOTS);
  expect(keptOf((own) => own.slice(0, 2))).toBeGreaterThanOrEqual(6);
});

it("a replica names its slots in that order", async () => {
  let name = "";
  const store = {
    report: async ({ replica }: { replica: string }) => {
      name = replica;
      return { generation: 1, exposes: false, active: new Map<string, string>(), sharing: [replica] };
    },
    leave: async () => {},
  };
  const replicas = new Replicas({ store, clock: systemClock, log: silentLogger, roleOption: "poll" });
  await replicas.announce("one");
  expect([...replicas.ownSlots(all)], "before it shares").toEqual([]);
  await replicas.share(true);
  expect([...replicas.ownSlots(all)]).toEqual([...assignSlots(all, [name]).keys()]);
});

it("no slot has a replica where there is none", () => {
  expect(assignSlots([0, 1], [])).toEqual(new Map());
});
