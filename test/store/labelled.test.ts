import fc from "fast-check";
import { expect, test } from "vitest";
import { isGroupLabel } from "../../src/health/alert.ts";
import { imaginedOutage } from "../../src/health/imagined-outage.ts";
import type { Recording } from "../../src/health/recording.ts";
import { type FleetNames, recordingsWith } from "../../src/health/shard-overview.ts";
import { createLabelled } from "../../src/store/labelled.ts";
import { locationRule, rule } from "../health/shard-history.ts";
import { aRecording } from "../support/fixtures.ts";

const row = fc.record({
  id: fc.constantFrom("a", "b", "c"),
  cameraServer: fc.constantFrom("", "cs1", "cs2"),
  organisation: fc.constantFrom("", "o1", "o2"),
  locationId: fc.constantFrom("L1", "L2"),
});

const namesOf = (known: ReadonlyMap<string, Recording>, labels: ReturnType<typeof createLabelled>): FleetNames => ({
  ...labels,
  recording: (id) => known.get(id),
  location: () => undefined,
  recordings: () => known.values(),
});

test("recordings are counted by label and location as they are now, whatever they were before", () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30, size: "max" }), fc.subarray(["a", "b", "c"]), (rows, gone) => {
      const labels = createLabelled();
      const known = new Map<string, Recording>();
      const drop = (id: string) => {
        const before = known.get(id);
        if (before) labels.count(id, before, -1);
        known.delete(id);
      };
      for (const { id, ...one } of rows) {
        drop(id);
        known.set(id, aRecording(id, one));
        labels.count(id, aRecording(id, one), 1);
      }
      gone.forEach(drop);
      for (const [label, field] of [
        ["camera_server", "cameraServer"],
        ["organisation", "organisation"],
        ["location_id", "locationId"],
        ["recording_id", "id"],
      ] as const)
        for (const value of ["cs1", "cs2", "o1", "o2", "L1", "a"]) {
          const own = [...known.values()].filter((one) => one[field] === value);
          const counts = Map.groupBy(own, ({ locationId }) => locationId);
          expect(new Set(recordingsWith(label, value, namesOf(known, labels)))).toEqual(new Set(own));
          if (isGroupLabel(label))
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
  labels.count("a", aRecording("a", { organisation: "acme", locationId: "L1" }), 1);
  expect(labels.organisationAt("L1")).toBe("");
  labels.count("b", aRecording("b", { organisation: "other", locationId: "L2" }), 1);
  expect([labels.organisationAt("L1"), labels.organisationAt("L2"), labels.organisationAt("L3")]).toEqual([
    "acme",
    "other",
    "",
  ]);
});

test("an imagined outage of a whole location is one of the location; of a server's part of it, one of the server", () => {
  const rules = [
    locationRule(),
    rule("ServerOffline", {
      kind: "group_offline",
      by: "camera_server",
      atLeast: 1,
      clearBelow: 0.8,
      minRecordings: 2,
    }),
  ];
  const subjectsAmong = (others: readonly Recording[]) => {
    const offline = ["a", "b"].map((id) => aRecording(id, { cameraServer: "cs1", locationId: "L1" }));
    const [labels, all] = [createLabelled(), [...offline, ...others]];
    for (const one of all) labels.count(one.id, one, 1);
    const names = namesOf(new Map(all.map((one) => [one.id, one])), labels);
    return imaginedOutage(offline, rules, names, 0).map(({ subject }) => `${subject.kind}/${subject.id}`);
  };
  expect(subjectsAmong([])).toEqual(["location/L1"]);
  expect(subjectsAmong([aRecording("c", { cameraServer: "cs2", locationId: "L1" })])).toEqual([
    "group/camera_server/cs1",
  ]);
  expect(subjectsAmong([aRecording("c", { cameraServer: "cs1", locationId: "L2" })])).toEqual(["location/L1"]);
});
