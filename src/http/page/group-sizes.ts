/** How many recordings have the labels of some alerts: what a cluster's cause is measured by. */
import type { GroupSizes } from "../../alerting/attention.ts";
import type { Alert } from "../../health/alert.ts";
import { currentStatus } from "../../health/shard-state.ts";
import { eachRow } from "../paging.ts";
import type { PageData } from "./page-data.ts";

type Size = { known: number; offline: number };

/** Counts the fleet; yields every so many rows. */
export function* groupSizes({ fleet }: Pick<PageData, "fleet">, alerts: readonly Alert[]): Generator<void, GroupSizes> {
  const { now, statusIntervalMs, shards, inventory } = fleet;
  const sizes: Record<string, Map<string, Size>> = {};
  for (const label of ["camera_server", "location_id", "organisation", "timezone"])
    sizes[label] = new Map(alerts.map(({ labels }) => [labels[label] ?? "", { known: 0, offline: 0 }]));
  const all = { known: 0, offline: 0, unknown: 0 };
  for (const shard of shards) {
    yield* eachRow(shard.recordings.values(), (state) => {
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
    });
  }
  return { fleet: all, of: (label, value) => sizes[label]?.get(value) };
}

/** The same at once, for an answer that is not made in steps. */
export function groupSizesNow(data: Pick<PageData, "fleet">, alerts: readonly Alert[]): GroupSizes {
  const steps = groupSizes(data, alerts);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
