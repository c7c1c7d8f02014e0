/**
 * Rerouting: the active configuration decides where firing alerts are notified, also those that began under another
 * one. At a start every stored alert gets its destinations again; ends stay owed where the alert was notified.
 */
import type { Integration } from "../alerting/route.ts";
import type { Store } from "../store/store.ts";
import type { Check } from "../store/transact.ts";
import type { PollContext } from "./commit.ts";

const NAMED = 100;
interface OwedDeps extends Pick<PollContext, "clock" | "log"> {
  readonly store: Pick<Store, "groups" | "log">;
  /** Counts ends owed at integrations of this receiver and type that left the configuration. */
  owed(receiver: string, type: string, count: number): void;
}

interface RerouteDeps extends OwedDeps, Pick<PollContext, "commit" | "integrations"> {
  readonly store: Pick<Store, "shards" | "groups" | "log">;
  checkActive(role: "poll"): Check | undefined;
}

/** Harmless when repeated, or done by several replicas at once. */
export function createRerouting(deps: RerouteDeps) {
  return {
    /** Reroutes every alert; `retiring` are integrations that left the configuration and still send the ends they owe. */
    async begin(retiring: ReadonlySet<string>): Promise<void> {
      await rerouteAll(deps);
      const present = new Set(deps.integrations.map(({ id }) => id));
      const known = await deps.store.groups.knownIntegrations();
      const removed = known.filter((id) => !present.has(id) && !retiring.has(id)).map((id) => ({ id, name: id }));
      await reportOwedEnds(deps, removed);
    },
  };
}

async function rerouteAll({ store, clock, commit, integrations, checkActive }: RerouteDeps): Promise<void> {
  const ids = integrations.map(({ id }) => id);
  const all = await store.shards.alerts();
  const alerts = all.map((alert) => ({ id: alert.id, to: commit.destinations(alert) }));
  await commit.wake(await store.groups.reroute(alerts, ids, clock.now(), checkActive("poll")));
}

/** Logs and counts the ends owed at integrations that left the configuration: they cannot be sent. */
export async function reportOwedEnds(deps: OwedDeps, removed: readonly Pick<Integration, "id" | "name">[]) {
  const { store, log } = deps;
  const counts = new Map<string, number>();
  for (const { id, name } of removed) {
    const owed = (await store.groups.notified(id)).filter(({ endNotifiedAt }) => endNotifiedAt === undefined);
    if (owed.length === 0) continue;
    const alerts = owed.slice(0, NAMED).map(({ alert }) => alert.key);
    log.warn({ integration: name, owed: owed.length, alerts }, "integration removed, its alerts will not be resolved");
    const [receiver = "", type = ""] = name.split("/");
    const count = (counts.get(`${receiver}/${type}`) ?? 0) + owed.length;
    counts.set(`${receiver}/${type}`, count);
    deps.owed(receiver, type, count);
    const line = { at: deps.clock.now(), integration: name, reason: "owed_nowhere" };
    const lines = owed.map(({ alert: { subject, ruleId } }) => ({ ...line, subject, ruleId }));
    await store.log.write(lines);
  }
}
