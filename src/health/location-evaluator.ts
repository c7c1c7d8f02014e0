/** Evaluates rules for one location, by its recordings taken together. */
import type { Evaluator } from "./apply-rules.ts";
import type { ScheduledCount, SharedLabels } from "./members.ts";
import { outageEvaluator } from "./outage-evaluator.ts";
import type { Inventory } from "./shard-state.ts";

/** Evaluates a location's recordings within their uploading schedule. */
export interface LocationCount extends ScheduledCount {
  /** One of its recordings, for what is known only through one. */
  readonly sampleId: string;
}

/** `count` is undefined when none of its recordings is watched; `shared`: labels that all of them have, for a new alert. */
export function locationEvaluator(
  id: string,
  count: LocationCount | undefined,
  inventory: Inventory,
  shared: SharedLabels = {},
): Evaluator {
  const location = inventory.location(id);
  const timezone = location?.timezone ?? (count && inventory.recording(count.sampleId)?.timezone);
  const name = location?.name || id;
  return outageEvaluator({
    subject: { kind: "location", id },
    count,
    timezone,
    inventory,
    goneMs: 0,
    labels: () => ({ ...shared, location_id: id, location: name, timezone }),
    name,
  });
}
