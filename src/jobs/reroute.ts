/**
 * The configuration in force decides where what fires now is told, also what began under another one: at the start
 * every remembered alert gets its places anew. A new integration hears of what fires; what was told keeps its end.
 */
import type { Integration, Route } from "../alerting/route.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { GroupStore } from "../store/groups.ts";
import type { ShardStore } from "../store/shards.ts";
import { destinationsOf } from "./integrations.ts";

const ALERTS_PER_CALL = 500;
/** So many of the ends owed are named in the log. */
const NAMED = 100;

export interface RerouteDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<ShardStore, "alerts">;
  readonly groups: Pick<GroupStore, "reroute" | "knownIntegrations" | "told">;
  readonly route: Route;
  readonly integrations: readonly Integration[];
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Harmless when repeated, or done by several replicas at once. */
export async function reroute(deps: RerouteDeps): Promise<void> {
  const { groups, route, integrations } = deps;
  const ids = integrations.map(({ id }) => id);
  const alerts = (await deps.store.alerts()).map((alert) => ({
    id: alert.id,
    to: alert.state === "firing" ? destinationsOf(alert, route, integrations) : [],
  }));
  for (let from = 0; from === 0 || from < alerts.length; from += ALERTS_PER_CALL) {
    const page = alerts.slice(from, from + ALERTS_PER_CALL);
    await deps.wake(await groups.reroute(page, ids, deps.clock.now()));
  }
  await sayWhatIsOwed(deps, new Set(ids));
}

/** Ends owed at integrations that are no longer configured cannot be sent: they are said in the log instead. */
async function sayWhatIsOwed({ groups, log }: RerouteDeps, here: ReadonlySet<string>): Promise<void> {
  for (const id of await groups.knownIntegrations()) {
    if (here.has(id)) continue;
    const owed = await groups.told(id);
    if (owed.length === 0) continue;
    log.warn(
      { integration: id, owed: owed.length, alerts: owed.slice(0, NAMED).map(({ alert }) => alert.key) },
      "an integration that is gone was told of problems and cannot be told of their end",
    );
  }
}
