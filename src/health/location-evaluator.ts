/** Evaluates rules for one location, by its recordings taken together. */
import type { Evaluator } from "./apply-rules.ts";
import type { ScheduledCount, SharedLabels } from "./members.ts";
import { outageEvaluator } from "./outage-evaluator.ts";
import type { Inventory } from "./shard-state.ts";

/** A location's recordings within their uploading schedule, and the labels that all of them have. */
export type LocationCount = ScheduledCount & { readonly shared: SharedLabels };

/** `count` is undefined when none of its recordings is watched. */
export function locationEvaluator(id: string, count: LocationCount | undefined, inventory: Inventory): Evaluator {
  const location = inventory.location(id);
  const timezone = location?.timezone ?? count?.shared.timezone;
  const name = location?.name || id;
  return outageEvaluator({
    subject: { kind: "location", id },
    count,
    timezone,
    inventory,
    // None is left of one that is not watched; others wait for their recordings.
    endsAfterMs: count ? undefined : 0,
    labels: () => ({ ...count?.shared, location_id: id, location: name, timezone }),
    locations: () => [id],
    name,
  });
}
