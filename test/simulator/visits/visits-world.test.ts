import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeVisitsWorld, type PastFault, type VisitsWorld } from "../../../bench/detect/visits-world.ts";
import { parseScenario } from "../../../src/simulator/scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Friday, half past twelve in London. */
const NOW = Date.parse("2026-11-20T12:30:00.000Z");
const SHARED = parseScenario("traits: { recordings_per_zone: 2 }");

function make(faults: readonly PastFault[] = [], scenario = SHARED): VisitsWorld {
  const world = makeVisitsWorld({
    seed: 7,
    locations: 6,
    recordingsPerLocation: 4,
    scenario,
    startedAt: NOW - 60 * DAY,
  });
  for (const fault of faults) world.impair("L1/1", fault, NOW - 3 * DAY, NOW - DAY);
  return world;
}
const plain = make();
const zones = [...new Set(plain.locations.flatMap(({ recordings }) => recordings.flatMap((one) => one.taxonomies)))];

const faults: readonly PastFault[] = [
  ...[{ sees: 0 }, { sees: 0.4 }, { freeze: true }, { offline: true }],
  ...[{ ghosts: 20 }, { turned: true }],
] as const;
/** A fault with a world that has it, made once. */
const faulty = faults.map((fault) => ({ fault, world: make([fault]) }));
const unseen = fc.constantFrom(...faulty.slice(0, 4));
const aPlace = fc.record({ location: fc.nat(2), zone: fc.constantFrom(undefined, ...zones) });
/** Whole minutes of the ten days until now, and a little more. */
const aSpan = fc
  .tuple(fc.nat(6 * 1440), fc.nat(2 * 1440))
  .map(([start, length]) => ({ from: NOW - 6 * DAY + start * 60_000, to: NOW - 6 * DAY + (start + length) * 60_000 }));
const anInstant = fc.nat(8 * 1440).map((minute) => NOW - 6 * DAY + minute * 60_000);

function at(world: VisitsWorld, { location, zone }: { location: number; zone: string | undefined }) {
  return { locationId: world.locations[location]?.id ?? "", zone };
}
function counted(
  world: VisitsWorld,
  place: { location: number; zone: string | undefined },
  span: { from: number; to: number; asOf?: number },
) {
  return world.countedBetween({ ...at(world, place), ...span });
}

describe("the world of visits", () => {
  test("counts no more people than came, unless it sees ghosts", () => {
    fc.assert(
      fc.property(unseen, aPlace, aSpan, ({ world }, place, span) => {
        const truth = world.trueVisitsBetween({ ...at(world, place), ...span });
        expect(counted(world, place, span) ?? 0).toBeLessThanOrEqual(truth);
      }),
      { numRuns: 40 },
    );
  });

  test("sums over parts of a span equal the whole", () => {
    fc.assert(
      fc.property(aPlace, aSpan, fc.nat(100), (place, { from, to }, share) => {
        const middle = from + Math.floor(((to - from) * share) / 100 / 60_000) * 60_000;
        const sum = (parts: (number | null)[]) => parts.reduce<number>((total, part) => total + (part ?? 0), 0);
        const parts = [counted(plain, place, { from, to: middle }), counted(plain, place, { from: middle, to })];
        expect(sum(parts)).toBe(counted(plain, place, { from, to }) ?? 0);
      }),
      { numRuns: 60 },
    );
  });

  test("gives the same answers in any order of asking", () => {
    const questions = fc.uniqueArray(fc.tuple(aPlace, aSpan, anInstant), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(questions, (asked) => {
        const answers = (world: VisitsWorld, order: typeof asked) =>
          order.map(([place, span, asOf]) => counted(world, place, { ...span, asOf }));
        expect(answers(make(), asked.toReversed()).reverse()).toEqual(answers(plain, asked));
      }),
      { numRuns: 20 },
    );
  });

  test("once counts are corrected, they stay; before, later ones only refine them", () => {
    fc.assert(
      fc.property(aPlace, aSpan, anInstant, (place, span, asOf) => {
        const final = counted(plain, place, span) ?? 0;
        const served = counted(plain, place, { ...span, asOf }) ?? 0;
        const later = counted(plain, place, { ...span, asOf: asOf + HOUR }) ?? 0;
        expect(served).toBeLessThanOrEqual(final * 1.03 + 12);
        expect(later).toBeGreaterThanOrEqual(served - final * 0.04 - 12);
        if (asOf > span.to + 30 * HOUR) expect(served).toBe(final);
      }),
      { numRuns: 60 },
    );
  });
});
