/** Adds what is known of locations to alerts, from Redis alone and within a short deadline. */
import { type LocationDetails, locationIdOf, withImpact } from "../alerting/impact.ts";
import type { VisitWorth } from "../alerting/uncounted.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { VisitsLost } from "../counts/visits-lost.ts";
import { type Alert, alertKey } from "../health/alert.ts";
import { totalOf } from "../health/status-counts.ts";
import type { Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { keptFor } from "../lib/kept.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { Logger } from "../lib/log.ts";
import { mapYielding } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";

/** A message is not delayed any longer. */
const DEADLINE_MS = 250;
/** Visits that take longer are those of the message before. */
const VISITS_DEADLINE_MS = 150;
/** A message about more locations lists them, and has no room for what is known of each. */
const FEW_LOCATIONS = 5;
const WEEK_MS = 7 * 86_400_000;
const MOST_EPISODES = 5_000;
const EPISODES_FOR_MS = 10_000;

type AnnotateDeps = { log: Logger; inventory?: Pick<Store["inventory"], "shop"> } & {
  [Key in "zones" | "usualEntries"]: Pick<Store[Key], "read">;
};

/** The sources of what a message says beyond annotations. */
interface ContextDeps {
  readonly shards: Pick<Store["shards"], "overviewsOf">;
  readonly episodes: Pick<Store["episodes"], "latest">;
  /** Visits that were not counted, by episode. */
  readonly uncounted: {
    of(alerts: readonly Alert[], now: Instant, withinMs: number): Promise<ReadonlyMap<string, VisitsLost>>;
  };
  readonly config: { readonly counts: VisitWorth };
  readonly assigned: Pick<Assigned, "shardOf">;
}

/** Gives the alerts in their order, unchanged where nothing is known; never throws. */
export type Annotate = <A extends Alert>(alerts: readonly A[], now: Instant) => Promise<readonly A[]>;

/** Without `context` only annotations are added. */
export function createAnnotate({ log, zones, usualEntries, inventory }: AnnotateDeps, context?: ContextDeps): Annotate {
  const hours = createLocalHours();
  const contextOf = context && createContext(context);

  async function placesOf(alerts: readonly Alert[], now: Instant): Promise<LocationDetails> {
    const ids = [...new Set(alerts.flatMap((alert) => locationIdOf(alert) ?? []))];
    const isFew = ids.length > 0 && ids.length <= FEW_LOCATIONS;
    const visitsOf = async () => context?.uncounted.of(alerts, now, VISITS_DEADLINE_MS);
    const [known, usual, more, visits] = await Promise.all([
      zones.read(ids),
      usualEntries.read(ids),
      isFew && alerts.some(({ state }) => state === "firing") ? contextOf?.(ids, now) : undefined,
      isFew ? visitsOf().catch(() => undefined) : undefined,
    ]);
    return { zones: known, usual, ...more, visits, worth: context?.config.counts, shop: inventory?.shop };
  }

  return async (alerts, now) => {
    try {
      const places = await withDeadline(placesOf(alerts, now), DEADLINE_MS);
      return await mapYielding(alerts, (alert) => withImpact(alert, places, now, hours));
    } catch (thrown) {
      log.debug({ err: toError(thrown) }, "reading what is known of locations failed, leaving it out of the message");
      return alerts;
    }
  };
}

function createContext(deps: ContextDeps) {
  const { shards, episodes, assigned } = deps;
  const latest = keptFor(EPISODES_FOR_MS, (now) => episodes.latest(now - WEEK_MS, MOST_EPISODES));
  return async (ids: readonly string[], now: Instant) => {
    const numbers = [...new Set(ids.flatMap((id) => assigned.shardOf(id) ?? []))];
    const wanted = new Set(ids);
    const [overviews, ended] = await Promise.all([shards.overviewsOf(numbers), latest(now)]);
    const outages = new Map<string, number>();
    for (const { ruleId, subject, locationId = subject.id, planned, endReason } of ended ?? []) {
      // Neither a planned outage nor one that a reload ended shows that it fails often.
      if (planned !== undefined || endReason !== "recovered") continue;
      const key = alertKey(ruleId, subject.kind, subject.id);
      if (wanted.has(locationId)) outages.set(key, (outages.get(key) ?? 0) + 1);
    }
    const here = overviews
      .filter(({ at, gapMs }) => now - at <= gapMs)
      .flatMap(({ locations }) => locations)
      .filter(({ id, counts }) => wanted.has(id) && totalOf(counts) > counts.unknown)
      .map(({ id, counts }) => [id, { online: counts.online, of: totalOf(counts) - counts.unknown }] as const);
    return { here: new Map(here), outages };
  };
}
