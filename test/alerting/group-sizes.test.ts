import { expect, test } from "vitest";
import { groupSizesNow } from "../../src/alerting/group-sizes.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { NOW as FLEET_NOW, fleetOf, recordingState } from "../metrics/fleets.ts";
import { anAlert, aRecording } from "../support/fixtures.ts";

const labels = { camera_server: "edge-7", location_id: "L1", organisation: "acme", timezone: "UTC" };
const alert = anAlert({ labels });
const state = (id: string, changes: Partial<RecordingState> = {}) =>
  recordingState(id, { locationId: "L1", readAt: FLEET_NOW, ...changes });
const shardOf = (...states: RecordingState[]) => ({
  sweptAt: FLEET_NOW,
  recordings: new Map(states.map((one) => [one.id, one])),
  locations: new Map(),
});

test("while a location moves between shards, each of its recordings counts once in its groups", () => {
  const moving = [
    shardOf(state("a"), state("b", { readAt: FLEET_NOW - 1 })),
    shardOf(state("b", { status: "offline" })),
  ];
  const recording = (id: string) => aRecording(id, { cameraServer: "edge-7" });
  const inventory = { recording, location: () => undefined };
  const sizes = groupSizesNow({ ...fleetOf({}), shards: moving, inventory }, [alert]);
  expect(sizes.fleet).toEqual({ known: 2, offline: 1, unknown: 0 });
  for (const label of ["camera_server", "location_id"] as const)
    expect(sizes.of(label, labels[label])).toEqual({ known: 2, offline: 1 });
});
