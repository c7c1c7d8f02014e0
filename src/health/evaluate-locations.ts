/** Evaluates the locations of a shard, each by its recordings taken together and by its counts. */
import { applyRules, type Evaluator, endAlerts } from "./apply-rules.ts";
import { withCounts } from "./counts-evaluator.ts";
import type { RecordingSweep } from "./evaluate-recording.ts";
import type { Outcomes } from "./evaluation.ts";
import { countAmong, type Notable } from "./group-counts.ts";
import type { Members, ScheduledCount, SharedLabels } from "./members.ts";
import { outageEvaluator } from "./outage-evaluator.ts";
import type { Inventory, LocationState } from "./shard-state.ts";

interface SweptLocations {
  readonly watched: ReadonlySet<string>;
  /** Locations whose request failed. */
  readonly unread: ReadonlySet<string>;
  readonly members: Members | undefined;
  readonly notable: readonly Notable[];
  readonly out: Outcomes;
}

/** The locations after a sweep. One without an alert, and at which nothing is wrong, stays as it is. */
export function evaluateLocations(
  previous: ReadonlyMap<string, LocationState>,
  { context, moment, rules }: RecordingSweep,
  { watched, unread, members, notable, out }: SweptLocations,
): Map<string, LocationState> {
  const affected = Map.groupBy(notable, ({ state }) => state.locationId);
  const next = new Map<string, LocationState>();
  for (const id of watched) {
    const before = previous.get(id) ?? { id, alerts: undefined };
    const isLow = rules.counts.some((when) => context.counts?.(when, "location", id)?.met);
    const isAffected = before.alerts || affected.has(id) || isLow;
    next.set(id, isAffected && !unread.has(id) ? { id, alerts: evaluate(before) } : before);
  }
  for (const { id, alerts } of previous.values()) {
    const ending = { endReason: "no_longer_watched", now: moment.now, out } as const;
    if (!next.has(id)) endAlerts({ kind: "location", id }, alerts, ending);
  }
  return next;

  function evaluate({ id, alerts }: LocationState): LocationState["alerts"] {
    const here = members?.locations.get(id);
    const count = here && { ...countAmong(here.known, affected.get(id) ?? []), shared: here.shared };
    const evaluator = withCounts(locationEvaluator(id, count, context.inventory), context);
    return applyRules(evaluator, alerts, rules.location, moment, out);
  }
}

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
