import type { Recording } from "../../src/health/recording.ts";
import { type FleetOverview, joinOverviews, knownOverview, overviewAfter } from "../../src/health/shard-overview.ts";
import type { FleetSnapshot } from "../../src/health/shard-state.ts";
import { createLabelled } from "../../src/store/labelled.ts";
import { aRecording } from "./fixtures.ts";
import { patchTo } from "./shard-patch.ts";

/** The overview that sweeps of these shards leave, each numbered by its place. */
export function overviewOfFleet({ now, statusIntervalMs, shards, inventory, evidence }: FleetSnapshot): FleetOverview {
  const context = { intervalMs: statusIntervalMs, inventory };
  const overviews = shards.map((shard, i) => knownOverview(i, overviewAfter(patchTo(shard), context)));
  const labels = createLabelled();
  const names = new Map<string, Recording>();
  for (const { id, locationId } of shards.flatMap(({ recordings }) => [...recordings.values()])) {
    const recording = { ...aRecording(id, { name: "" }), ...inventory.recording(id), locationId };
    names.set(id, recording);
    labels.count(id, recording, 1);
  }
  return {
    ...joinOverviews(overviews, { now, intervalMs: statusIntervalMs }),
    inventory: {
      ...inventory,
      ...labels,
      recording: (id) => names.get(id) ?? inventory.recording(id),
      recordings: () => names.values(),
    },
    evidence,
  };
}

/** Those of these numbers. */
export function shardsOfFleet(fleet: FleetSnapshot, numbers: readonly number[]): FleetSnapshot {
  return { ...fleet, shards: numbers.flatMap((number) => fleet.shards[number] ?? []) };
}
