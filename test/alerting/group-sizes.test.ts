import { expect, test } from "vitest";
import { groupSizesNow } from "../../src/alerting/group-sizes.ts";
import { Rows } from "../../src/health/rows.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { NOW as FLEET_NOW, fleetOf, recordingState } from "../metrics/fleets.ts";
import { anAlert, aRecording } from "../support/fixtures.ts";

const labels = { camera_server: "edge-7", location_id: "L1", organisation: "acme", timezone: "UTC" };
const alert = anAlert({ labels });
const state = (id: string, changes: Partial<RecordingState> = {}) =>
  recordingState(id, { locationId: "L1", readAt: FLEET_NOW, ...changes });
const shardOf = (...states: RecordingState[]) => ({
  sweptAt: FLEET_NOW,
  recordings: Rows.of({ sweptAt: FLEET_NOW, recordings: new Map(states.map((one) => [one.id, one])) }),
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

test("groups are counted again once names changed", () => {
  let [server, revision] = ["edge-7", 1];
  const recording = (id: string) => aRecording(id, { cameraServer: server });
  const inventory = { recording, location: () => undefined, revision: () => revision };
  const fleet = { ...fleetOf({}), shards: [shardOf(state("a"), state("b"))], inventory };
  const known = () => groupSizesNow(fleet, [alert]).of("camera_server", "edge-7")?.known;
  expect(known()).toBe(2);
  server = "edge-8";
  expect(known()).toBe(2);
  revision = 2;
  expect(known()).toBe(0);
});
