/** The numbers of recordings with a label, by the overview of the fleet and the names in memory; they explain incidents. */
import { type GroupLabel, isGroupLabel } from "../health/alert.ts";
import { labelOf } from "../health/members.ts";
import type { FleetOverview } from "../health/shard-overview.ts";
import { totalOf } from "../health/status-counts.ts";
import type { GroupSize, GroupSizes } from "./incident-cause.ts";

const NONE: GroupSize = { known: 0, offline: 0 };

export function groupSizes({ counts, locations, inventory, offlineWith }: FleetOverview): GroupSizes {
  const known = new Map<string, GroupSize>();

  function sizeOf(label: GroupLabel, value: string): GroupSize {
    const known = inventory
      .labelled(label, value)
      .values()
      .reduce((sum, recordings) => sum + recordings, 0);
    return { known, offline: Math.min(known, offlineWith(label, value)) };
  }

  return {
    fleet: { known: totalOf(counts), offline: counts.offline, unknown: counts.unknown },
    of(label, value) {
      if (label === "location_id") {
        const here = locations.get(value)?.counts;
        return here && { known: totalOf(here), offline: here.offline };
      }
      const key = `${label}=${value}`;
      const size = known.get(key) ?? (isGroupLabel(label) ? sizeOf(label, value) : NONE);
      known.set(key, size);
      return size.known > 0 ? size : undefined;
    },
    has(id, label, value) {
      const recording = inventory.recording(id);
      if (label === "location_id") return recording?.locationId === value;
      return isGroupLabel(label) && labelOf(recording, label) === value;
    },
  };
}
