/**
 * What concerns no recording: whether the service can be seen at all, in part, and whether messages get out.
 * Judged at every status interval, by itself, so that a hanging service cannot hold it up.
 */

import { destinationsOf } from "../alerting/destinations.ts";
import type { Integration, Route } from "../alerting/route.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import { evaluateSelf, type SelfAlertState, type SelfEvidence } from "../health/evaluate-self.ts";
import type { Rule } from "../health/rule.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { GroupStore } from "../store/groups.ts";
import type { SelfAlertStore } from "../store/self-alerts.ts";
import type { Attempt, ShardStore } from "../store/shards.ts";

const NEVER: Attempt = { goodAt: 0, attemptedAt: 0 };

export interface SelfAlertsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<ShardStore, "attempts" | "commit" | "noteAttempt">;
  readonly selfAlerts: SelfAlertStore<SelfAlertState>;
  readonly groups: Pick<GroupStore, "trouble">;
  readonly assigned: Assigned;
  readonly rules: readonly Rule[];
  readonly intervalMs: number;
  readonly uptimeIntervalMs: number;
  readonly inventoryIntervalMs: number;
  readonly requestTimeoutMs: number;
  readonly route: Route;
  readonly integrations: readonly Integration[];
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Gives `judge()`: one read of the evidence, one judgement, one atomic write. */
export function createSelfAlerts(deps: SelfAlertsDeps): () => Promise<void> {
  return async () => {
    const before = await deps.selfAlerts.read();
    const evidence = await gather(deps);
    const now = deps.clock.now();
    const evaluation = evaluateSelf(before.state, evidence, { ...deps, now });
    const changes = evaluation.transitions.map(({ kind, alert }) => ({
      kind,
      alert,
      to: kind === "firing" ? destinationsOf(alert, deps.route, deps.integrations) : [],
    }));
    const committed = await deps.store.commit({
      key: deps.selfAlerts.key,
      expected: before.nonce,
      document: JSON.stringify(evaluation.next),
      now,
      changes,
      lines: evaluation.decisions,
    });
    await deps.store.noteAttempt("fleet", now);
    if (committed.outcome === "lost") return;
    for (const { kind, alert } of evaluation.transitions) {
      deps.log.info({ alert: alert.key, reason: alert.endReason }, `alert ${kind}`);
    }
    await deps.wake(committed.wake);
  };
}

async function gather(deps: SelfAlertsDeps): Promise<SelfEvidence> {
  const [attempts, troubles] = await Promise.all([
    deps.store.attempts(),
    Promise.all(deps.integrations.map((integration) => deps.groups.trouble(integration))),
  ]);
  const shards = deps.assigned.shards();
  return {
    shards: shards.map((shard) => attempts.get(`shard:${shard}`) ?? NEVER),
    inventory: attempts.get("inventory") ?? NEVER,
    uptimes: worst(shards.map((shard) => attempts.get(`uptime:${shard}`) ?? NEVER)),
    failingIntegrations: deps.integrations.map(({ id, receiver, type }, i) => {
      const trouble = troubles[i];
      return {
        id,
        receiver,
        type,
        failing: trouble !== undefined,
        since: trouble?.since ?? 0,
        detail: trouble?.detail ?? "",
      };
    }),
  };
}

/** The shard whose figures are oldest stands for all; one that was not asked for yet says nothing. */
function worst(attempts: readonly Attempt[]): Attempt {
  const asked = attempts.filter(({ attemptedAt }) => attemptedAt > 0);
  return asked.reduce((oldest, one) => (one.goodAt < oldest.goodAt ? one : oldest), asked[0] ?? NEVER);
}
