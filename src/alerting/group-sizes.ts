/** How many recordings have the labels of some alerts, and so what their clusters are explained by. */
import type { Alert } from "../health/alert.ts";
import { currentStatus, type FleetSnapshot, ROWS_PER_STEP, recordingsById } from "../health/shard-state.ts";
import { type Cluster, clustersOf, type GroupSizes } from "./clusters.ts";

type Size = { known: number; offline: number };

/** Clusters of alerts that need somebody, as they are now; yields every so many rows. */
export function* readClusters<T extends Alert>(
  needed: readonly T[],
  fleet: FleetSnapshot,
): Generator<void, { readonly clusters: readonly Cluster<T>[]; readonly single: readonly T[] }> {
  return clustersOf(needed, needed.length > 1 ? yield* groupSizes(fleet, needed) : undefined);
}

/** Counts the fleet; yields every so many rows. */
function* groupSizes(fleet: FleetSnapshot, alerts: readonly Alert[]): Generator<void, GroupSizes> {
  const { now, statusIntervalMs, inventory } = fleet;
  const sizes: Record<string, Map<string, Size>> = {};
  for (const label of ["camera_server", "location_id", "organisation", "timezone"])
    sizes[label] = new Map(alerts.map(({ labels }) => [labels[label] ?? "", { known: 0, offline: 0 }]));
  const all = { known: 0, offline: 0, unknown: 0 };
  const recordings = yield* recordingsById(fleet);
  let rows = 0;
  for (const state of recordings.values()) {
    const recording = inventory.recording(state.id);
    const status = currentStatus(state, now, statusIntervalMs);
    if (status === "unknown") all.unknown++;
    const own = [
      all,
      sizes.camera_server?.get(recording?.cameraServer ?? ""),
      sizes.location_id?.get(state.locationId),
      sizes.organisation?.get(recording?.organisation ?? ""),
      sizes.timezone?.get(recording?.timezone ?? ""),
    ];
    for (const size of own) {
      if (!size) continue;
      size.known++;
      if (status === "offline") size.offline++;
    }
    if (++rows % ROWS_PER_STEP === 0) yield;
  }
  return {
    fleet: all,
    of: (label, value) => sizes[label]?.get(value),
    has(id, label, value) {
      const { cameraServer: camera_server, ...recording } = inventory.recording(id) ?? {};
      const known = { ...recording, camera_server, location_id: recordings.get(id)?.locationId };
      return Object.hasOwn(known, label) && known[label as keyof typeof known] === value;
    },
  };
}

/** The same at once, for an answer that is not made in steps. */
export function groupSizesNow(fleet: FleetSnapshot, alerts: readonly Alert[]): GroupSizes {
  const steps = groupSizes(fleet, alerts);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
