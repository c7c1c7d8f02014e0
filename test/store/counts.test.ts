import fc from "fast-check";
import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { useTestStore } from "./fixtures.ts";

const MINUTE = 60_000;
const FIRST = Date.UTC(2026, 9, 5);
const count = fc.oneof(fc.constant(null), fc.constant(0), fc.nat(1_200));

const hours = fc.array(fc.tuple(fc.constantFrom(60, 60, 60, 90, 60 * 30), count, fc.boolean())).map((steps) => {
  let at = FIRST;
  const all = steps.map(([minutes, counted, isEarly]) => {
    at += minutes * MINUTE;
    return { at, counted, isEarly };
  });
  return {
    // Read in any order.
    hours: new Map(all.toReversed().map((one) => [one.at, one.counted])),
    early: new Set(all.filter(({ isEarly }) => isEarly).map((one) => one.at)),
  };
});

const readings = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 90 }), fc.boolean(), fc.nat(1_500), count))
  .map((steps) => {
    let [at, since] = [FIRST, FIRST - 60 * MINUTE];
    return steps.map(([minutes, isNew, covered, counted]) => {
      at += minutes * MINUTE;
      if (isNew) since = at - covered * MINUTE;
      return { at, since, count: counted };
    });
  });

const series = fc.tuple(hours, readings).map(([ofHours, read]) => ({ ...ofHours, readings: read }));
const counts = fc.record({
  timezone: fc.constant("Europe/London"),
  entries: series,
  zones: fc.dictionary(fc.constantFrom("till", "door"), series).map((zones) => new Map(Object.entries(zones))),
  sales: fc.option(series, { nil: undefined }),
});

describeWithRedis("counts", () => {
  const testStore = useTestStore();

  it("counts of a location come back as they were, whatever was stored of it before", async () => {
    const store = testStore().store.counts;
    await fc.assert(
      fc.asyncProperty(counts, async (kept) => {
        const before = (await store.read(["L"])).get("L");
        await store.save("L", kept, before);
        expect((await store.read(["L", "nobody"])).get("L")).toEqual(kept);
      }),
      { numRuns: 50 },
    );
  });
});
