/**
 * The configuration in force decides where what fires now is told, also what began under another one: at the start
 * every remembered alert gets its places anew. A new integration hears of what fires; what was told keeps its end.
 */

import { destinationsOf } from "../alerting/destinations.ts";
import type { Integration, Route } from "../alerting/route.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { DecisionLog } from "../store/decision-log.ts";
import type { GroupStore } from "../store/groups.ts";
import type { ShardStore } from "../store/shards.ts";

const ALERTS_PER_CALL = 500;
/** So many of the ends owed are named in the log. */
const NAMED = 100;

export interface RerouteDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<ShardStore, "alerts">;
  readonly groups: Pick<GroupStore, "reroute" | "knownIntegrations" | "notified">;
  readonly decisionLog: Pick<DecisionLog, "write">;
  readonly route: Route;
  readonly integrations: readonly Integration[];
  /** Integrations that are gone and about to tell the ends they owe. */
  readonly retiring?: ReadonlySet<string>;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** How many ends are owed at integrations of this receiver and type that are gone. */
  owed(receiver: string, type: string, count: number): void;
}

/** A replica learns within so long that its configuration is not in force any more, and writes what it has judged. */
const AGAIN_MS = 15_000;

export interface Rerouting {
  /** Gives everything its places; `retiring` as in RerouteDeps. */
  begin(retiring: ReadonlySet<string>): Promise<void>;
  /** Does it once more, when it is time, for what others judged before they knew that another configuration is in force. */
  look(): Promise<void>;
}

export function createRerouting(
  deps: Omit<RerouteDeps, "retiring"> & {
    readonly statusIntervalMs: number;
    isInForce(): Promise<boolean>;
  },
): Rerouting {
  const { clock } = deps;
  let againAt: Instant | undefined;
  return {
    async begin(retiring) {
      await reroute({ ...deps, retiring });
      // Swept since by whoever is in force, a shard takes no judgement of anybody else's.
      againAt = clock.now() + Math.max(AGAIN_MS, 2 * deps.statusIntervalMs);
    },
    async look() {
      if (againAt === undefined || clock.now() < againAt || !(await deps.isInForce())) return;
      await rerouteAll(deps);
      againAt = undefined;
    },
  };
}

/** Harmless when repeated, or done by several replicas at once. */
export async function reroute(deps: RerouteDeps): Promise<void> {
  await rerouteAll(deps);
  const here = new Set(deps.integrations.map(({ id }) => id));
  const gone = (await deps.groups.knownIntegrations()).filter((id) => !here.has(id));
  await reportOwedEnds(
    deps,
    gone.filter((id) => !deps.retiring?.has(id)),
  );
}

async function rerouteAll(
  deps: Pick<RerouteDeps, "store" | "groups" | "route" | "integrations" | "clock" | "wake">,
): Promise<void> {
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
}

/** What it takes to say what nobody will be told. */
export type OwedDeps = Pick<RerouteDeps, "clock" | "log" | "decisionLog" | "owed"> & {
  readonly groups: Pick<GroupStore, "notified">;
};

/** Ends owed at integrations that are no longer configured cannot be sent: they are written down and counted. */
export async function reportOwedEnds(deps: OwedDeps, gone: readonly string[]): Promise<void> {
  const { groups, log } = deps;
  const counts = new Map<string, number>();
  for (const id of gone) {
    const owed = (await groups.notified(id)).filter(({ endNotifiedAt }) => endNotifiedAt === undefined);
    if (owed.length === 0) continue;
    log.warn(
      { integration: id, owed: owed.length, alerts: owed.slice(0, NAMED).map(({ alert }) => alert.key) },
      "an integration that is gone was told of problems and cannot be told of their end",
    );
    const [receiver = "", type = ""] = id.split("/");
    counts.set(`${receiver}/${type}`, (counts.get(`${receiver}/${type}`) ?? 0) + owed.length);
    deps.owed(receiver, type, counts.get(`${receiver}/${type}`) ?? 0);
    const at = deps.clock.now();
    const lines = owed.map(({ alert: { subject, ruleId } }) => ({
      subject,
      at,
      ruleId,
      integration: id,
      reason: "owed_nowhere",
    }));
    await deps.decisionLog.write(lines, at);
  }
}
