import fc from "fast-check";
import { expect, test } from "vitest";
import type { Recording, ReportedRecording } from "../../src/health/recording.ts";
import { believe, type Claims } from "../../src/health/reported-recording.ts";
import { recording } from "./shard-history.ts";

const FLEET = 40;
const fleet = Array.from({ length: FLEET }, (_, i) =>
  recording(`r${i}`, { cameraServer: "e7", timezone: "Asia/Tokyo" }),
);
const FIELDS = ["organisation", "cameraServer", "locationId", "useUploadingSchedule", "timezone"] as const;

function watching() {
  const known = new Map<string, Recording>(fleet.map((one) => [one.id, one]));
  const claims: Claims = new Map();
  return {
    answer(reported: readonly ReportedRecording[]) {
      const believed = believe(reported, (id) => known.get(id), claims);
      for (const one of believed.recordings) known.set(one.id, one);
      return believed.doubted;
    },
    all: () => fleet.map(({ id }) => known.get(id)),
  };
}

const other = { organisation: "x", cameraServer: "x", locationId: "x", useUploadingSchedule: true, timezone: "UTC" };

test("what an answer lacks, and what it changes of more than a fifth, stays as it was; coming again it is believed", () => {
  const odd = fc.record({
    lacking: fc.array(fc.tuple(fc.nat(FLEET - 1), fc.constantFrom(...FIELDS))),
    changed: fc.constantFrom(...FIELDS),
    from: fc.integer({ min: 11, max: FLEET }),
  });
  fc.assert(
    fc.property(odd, ({ lacking, changed, from }) => {
      const { answer, all } = watching();
      const lacks = new Set(lacking.filter(([, field]) => field !== changed).map(([i, field]) => `${i} ${field}`));
      const reported = fleet.map((one, i) => {
        const without = FIELDS.filter((field) => lacks.has(`${i} ${field}`)).map((field) => [field, undefined]);
        const own = i < from ? { [changed]: other[changed] } : {};
        return { ...one, ...Object.fromEntries(without), ...own };
      });
      expect(answer(reported)).toEqual([changed]);
      expect(all()).toEqual(fleet);
      expect(answer(fleet), "as it was").toEqual([]);
      expect(answer(reported), "not in a row").toEqual([changed]);
      expect(all()).toEqual(fleet);
      expect(answer(reported)).toEqual([]);
      expect(all().map((one) => one?.[changed])).toEqual(fleet.map((one, i) => (i < from ? other : one)[changed]));
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("a change of ten recordings in forty, and any of recordings not known so far, is believed at once", () => {
  const { answer, all } = watching();
  const few = fleet.map((one, i) => (i < 8 ? { ...one, timezone: "UTC" } : one));
  const strangers = Array.from({ length: 60 }, (_, i) => recording(`s${i}`, { timezone: "Europe/Berlin" }));
  expect(answer([...few, ...strangers])).toEqual([]);
  expect(all().filter((one) => one?.timezone === "UTC")).toHaveLength(8);
});
