import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clip, type Interval, subtract, total, union } from "../../src/lib/intervals.ts";
import { type Attribution, attribute, type LossEvidence, lossCauses } from "../../src/report/attribute.ts";
import { createLossOf } from "../../src/report/loss.ts";
import { addLoss, availability, lossTally, lostMs, unplannedAvailability } from "../../src/report/tally.ts";

const END = 240;
const BUCKET = 12;

/** Nothing happened; a bucket covers 12 of 240. */
function evidence(over: Partial<LossEvidence> = {}): LossEvidence {
  const none = { down: [], closed: [], unreachable: [], unwatched: [], planned: [] };
  return { ...none, buckets: [], wider: [], knownFrom: 0, ...over };
}

const spans = fc
  .array(fc.tuple(fc.nat(END), fc.nat(60)), { maxLength: 3 })
  .map((all) => all.map(([from, length]): Interval => ({ from, to: from + length })));
const anyEvidence: fc.Arbitrary<LossEvidence> = fc.record({
  down: spans,
  closed: spans,
  unreachable: spans,
  unwatched: spans,
  planned: spans,
  wider: fc.array(fc.record({ cause: fc.constantFrom("location" as const, "camera_server" as const), spans }), {
    maxLength: 2,
  }),
  knownFrom: fc.nat(80),
  buckets: fc
    .array(fc.option(fc.constantFrom(0, 0.25, 0.5, 0.9, 1)), { minLength: END / BUCKET, maxLength: END / BUCKET })
    .map((ratios) =>
      ratios.flatMap((recorded, i) =>
        recorded === null ? [] : [{ from: i * BUCKET, to: (i + 1) * BUCKET, recorded }],
      ),
    ),
});
const whole = { from: 0, to: END };

const isIn = (some: readonly Interval[], at: number) => some.some(({ from, to }) => from <= at && at < to);

/** The cause of every moment, one by one. */
function bruteForce(given: LossEvidence): (string | undefined)[] {
  const moments = Array.from({ length: END }, (_, at) => at);
  const isOpen = (at: number) => !isIn(given.closed, at);
  const isSeen = (at: number) => isOpen(at) && isIn(given.down, at) && !isIn(given.unreachable, at);
  const lacking = new Map<number, string>();
  for (const { from, to, recorded } of given.buckets) {
    const inBucket = moments.filter((at) => at >= from && at < to && isOpen(at));
    let left = Math.round((1 - recorded) * inBucket.length) - inBucket.filter(isSeen).length;
    const rank = (at: number) => (isIn(given.unreachable, at) ? 0 : isIn(given.unwatched, at) ? 1 : 2);
    for (const at of inBucket.filter((one) => !isSeen(one)).sort((a, b) => rank(a) - rank(b) || a - b))
      if (left-- > 0) lacking.set(at, ["service", "not_watched", "unknown"][rank(at)] ?? "");
  }
  return moments.map((at) => {
    const found = isSeen(at) ? (given.wider.find((one) => isIn(one.spans, at))?.cause ?? "recording") : lacking.get(at);
    return found !== undefined && isIn(given.planned, at) ? "maintenance" : found;
  });
}

const causeAt = ({ lost }: Attribution, at: number) => lossCauses.filter((cause) => isIn(lost[cause], at));

describe("attribute", () => {
  test("gives each moment the cause that looking at every moment gives, and never two", () => {
    fc.assert(
      fc.property(anyEvidence, (given) => {
        const found = attribute(given, whole);
        const expected = bruteForce(given).map((cause) => (cause === undefined ? [] : [cause]));
        expect(expected.map((_, at) => causeAt(found, at))).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  test("adds up over adjoining periods, wherever they are cut", () => {
    fc.assert(
      fc.property(anyEvidence, fc.integer({ min: 1, max: END - 1 }), (given, cut) => {
        const [first, second] = [attribute(given, { from: 0, to: cut }), attribute(given, { from: cut, to: END })];
        const sum = addLoss(lossTally(first), lossTally(second));
        expect({ ...sum, recordings: 1 }).toEqual(lossTally(attribute(given, whole)));
      }),
      { numRuns: 150 },
    );
  });

  test("does not depend on the order of what is known", () => {
    fc.assert(
      fc.property(anyEvidence, (given) => {
        const turned = { ...given };
        for (const key of ["down", "closed", "unreachable", "unwatched", "planned", "buckets"] as const)
          Object.assign(turned, { [key]: given[key].toReversed() });
        expect(lossTally(attribute(turned, whole))).toEqual(lossTally(attribute(given, whole)));
      }),
      { numRuns: 100 },
    );
  });

  test("what is lost was expected and is known, and what nobody can know is not", () => {
    fc.assert(
      fc.property(anyEvidence, (given) => {
        const { lost, known, expected } = attribute(given, whole);
        const all = Object.values(lost).flat();
        expect([subtract(all, known), subtract(known, expected)]).toEqual([[], []]);
        expect(total(union(all))).toBe(Object.values(lost).reduce((sum, one) => sum + total(one), 0));
        const evident = union([...given.buckets, ...given.down]);
        expect(subtract(clip(given.unreachable, whole), [...subtract([whole], known), ...evident])).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test.each<[string, Partial<LossEvidence>, Record<string, number>]>([
    ["an outage of one recording", {}, { recording: 60 }],
    [
      "an outage that its location's alert covers in part",
      { wider: [{ cause: "location", spans: [{ from: 30, to: 50 }] }] },
      { recording: 40, location: 20 },
    ],
    [
      "one that the alerts of both cover",
      {
        wider: [
          { cause: "camera_server", spans: [{ from: 0, to: 90 }] },
          { cause: "location", spans: [whole] },
        ],
      },
      { camera_server: 60 },
    ],
    [
      "one in maintenance",
      { planned: [{ from: 0, to: 50 }], wider: [{ cause: "location", spans: [whole] }] },
      { maintenance: 20, location: 40 },
    ],
    ["one outside the schedule in part", { closed: [{ from: 0, to: 60 }] }, { recording: 30 }],
    ["one while the service was unreachable, and no figures", { unreachable: [{ from: 30, to: 90 }] }, {}],
  ])("%s", (_, over, lost) => {
    const tally = lossTally(attribute(evidence({ down: [{ from: 30, to: 90 }], ...over }), whole));
    expect(tally).toMatchObject(lost);
    expect(lostMs(tally)).toBe(Object.values(lost).reduce((sum, ms) => sum + ms, 0));
  });
});

describe("ratios", () => {
  const tally = { ...lossTally(attribute(evidence(), whole)), recording: 6, maintenance: 40 };

  test("count maintenance, or leave it out of both sides", () => {
    expect(availability(tally)).toBeCloseTo(1 - 46 / 240, 12);
    expect(unplannedAvailability(tally)).toBeCloseTo(1 - 6 / 200, 12);
  });
});

test("the loss of many recordings in one period is that of each by itself", () => {
  const anyBounds = fc.tuple(fc.nat(END - 1), fc.integer({ min: 1, max: END }));
  fc.assert(
    fc.property(fc.array(anyEvidence, { minLength: 1 }), spans, spans, anyBounds, (all, unreachable, unwatched, at) => {
      const lossOf = createLossOf({ from: at[0], to: at[0] + at[1] });
      for (const one of all) {
        const shared = { ...one, unreachable, unwatched };
        const buckets = one.buckets.filter(({ from }) => from >= one.knownFrom);
        const quiet = { ...shared, buckets, down: [], closed: [], planned: [] };
        for (const given of [shared, quiet])
          expect(lossOf(given)).toEqual(lossTally(attribute(given, { from: at[0], to: at[0] + at[1] })));
      }
    }),
  );
});
