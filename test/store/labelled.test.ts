import fc from "fast-check";
import { expect, test } from "vitest";
import type { Recording } from "../../src/health/recording.ts";
import { createLabelled } from "../../src/store/labelled.ts";
import { aRecording } from "../support/fixtures.ts";

const row = fc.record({
  id: fc.constantFrom("a", "b", "c"),
  cameraServer: fc.constantFrom("", "cs1", "cs2"),
  organisation: fc.constantFrom("", "o1", "o2"),
  locationId: fc.constantFrom("L1", "L2"),
});

test("recordings are counted by label and location as they are now, whatever they were before", () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30, size: "max" }), fc.subarray(["a", "b", "c"]), (rows, gone) => {
      const labels = createLabelled();
      const known = new Map<string, Recording>();
      const drop = (id: string) => {
        const before = known.get(id);
        if (before) labels.count(before, -1);
        known.delete(id);
      };
      for (const { id, ...one } of rows) {
        drop(id);
        known.set(id, aRecording(id, one));
        labels.count(aRecording(id, one), 1);
      }
      gone.forEach(drop);
      for (const [label, field] of [
        ["camera_server", "cameraServer"],
        ["organisation", "organisation"],
      ] as const)
        for (const value of ["cs1", "cs2", "o1", "o2"]) {
          const own = [...known.values()].filter((one) => one[field] === value);
          const counts = Map.groupBy(own, ({ locationId }) => locationId);
          expect(new Map(labels.labelled(label, value))).toEqual(
            new Map([...counts].map(([id, all]) => [id, all.length])),
          );
        }
      expect(labels.labelled("camera_server", "").size).toBe(0);
    }),
  );
});

test("a location has the organisation of its recordings, and none where the whole fleet is of one", () => {
  const labels = createLabelled();
  labels.count(aRecording("a", { organisation: "acme", locationId: "L1" }), 1);
  expect(labels.organisationAt("L1")).toBe("");
  labels.count(aRecording("b", { organisation: "other", locationId: "L2" }), 1);
  expect([labels.organisationAt("L1"), labels.organisationAt("L2"), labels.organisationAt("L3")]).toEqual([
    "acme",
    "other",
    "",
  ]);
});
