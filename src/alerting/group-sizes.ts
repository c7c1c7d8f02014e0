/** The numbers of recordings with the labels of some alerts, which explain their clusters. */
import { type Alert, groupLabels } from "../health/alert.ts";
import { locationsOf, statesAt, statusOf } from "../health/fleet-locations.ts";
import { labelOf } from "../health/members.ts";
import { totalOf } from "../health/shard-counts.ts";
import { type FleetSnapshot, type RecordingState, ROWS_PER_STEP } from "../health/shard-state.ts";
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
  const { inventory } = fleet;
  const sizes = new Map(
    ["location_id", ...groupLabels].map((label) => [
      label,
      new Map(alerts.map(({ labels }) => [labels[label] ?? "", { known: 0, offline: 0 }])),
    ]),
  );
  const add = (of: keyof Size, label: string, value: string, count = 1) => {
    const size = sizes.get(label)?.get(value);
    if (size) size[of] += count;
  };
  const all = { known: 0, offline: 0, unknown: 0 };
  const locations = yield* locationsOf(fleet);
  for (const { id, counts } of locations.values()) {
    const known = totalOf(counts);
    add("known", "location_id", id, known);
    add("offline", "location_id", id, counts.offline);
    all.known += known;
    all.offline += counts.offline;
    all.unknown += counts.unknown;
  }
  const addRows = function* (of: keyof Size, rows: Iterable<RecordingState>) {
    let n = 0;
    for (const { id } of rows) {
      for (const label of groupLabels) add(of, label, labelOf(inventory.recording(id), label));
      if (++n % ROWS_PER_STEP === 0) yield;
    }
  };
  yield* addRows("known", statesAt(locations.values()));
  const affected = locations.values().filter(({ counts }) => counts.offline > 0);
  yield* addRows(
    "offline",
    statesAt(affected).filter((state) => statusOf(state, fleet) === "offline"),
  );
  const isAt = (id: string, locationId: string) =>
    locations
      .get(locationId)
      ?.parts.some(({ shard }) => fleet.shards[shard]?.recordings.get(id)?.locationId === locationId) === true;
  return {
    fleet: all,
    of: (label, value) => sizes.get(label)?.get(value),
    has(id, label, value) {
      if (label === "location_id") return isAt(id, value);
      const { cameraServer: camera_server, ...recording } = inventory.recording(id) ?? {};
      const known = { ...recording, camera_server };
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
