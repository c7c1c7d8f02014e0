/** Evaluates the self alerts at every status interval, in a job that a hanging service cannot delay. */
import { integrationName } from "../alerting/integration-name.ts";
import { watchedSince } from "../alerting/stale.ts";
import type { Config } from "../config/config.ts";
import { type Attempt, attemptsOf } from "../health/attempt.ts";
import type { CountsTogether } from "../health/counts.ts";
import { evaluateSelf, type SelfContext, type SelfEvidence } from "../health/evaluate-self.ts";
import type { Evidence } from "../health/evidence.ts";
import { selfAlertsOf } from "../health/known-alerts.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";

interface SelfAlertsDeps
  extends Omit<SelfContext, "now" | "startedAt">,
    Pick<Store, "selfAlerts" | "groups" | "firing">,
    Pick<PollContext, "clock" | "commit" | "assigned" | "integrations"> {
  readonly inventory: Inventory & Pick<Store["inventory"], "follow">;
  readonly store: Pick<Store["shards"], "attempts" | "groups" | "commit" | "noting" | "noteAttempt">;
  readonly service: Pick<Service, "checkStatus">;
  readonly config?: Pick<Config, "directory">;
  /** Groups whose counts dropped together; undefined where that is not known. */
  readonly together?: ((now: Instant) => Promise<readonly CountsTogether[] | undefined>) | undefined;
}

/** Gives `evaluate()`: one read of the evidence, one evaluation, one atomic write. It resolves to the state of the evidence. */
export function createSelfAlerts(deps: SelfAlertsDeps): () => Promise<Evidence["state"]> {
  const { selfAlerts, store, clock, commit } = deps;
  let startedAt = clock.now();
  const knownSince = new Map<number, Instant>();
  const askHealth = createHealthCheck(deps);
  return async () => {
    askHealth();
    const { nonce: expected, state: stored } = await selfAlerts.read();
    const state = expected === "" ? selfAlertsOf(await deps.firing()) : stored;
    const { fleet, ...evidence } = await gather(deps, knownSince);
    const now = clock.now();
    // Nobody watched since then: all evidence is old, and will be new in a moment.
    if (now - (fleet?.attemptedAt ?? 0) > GAP_INTERVALS * deps.intervalMs) startedAt = now;
    const evaluated = evaluateSelf(state, evidence, { ...deps, now, startedAt });
    const { next, service, transitions, decisions: lines, groupsRead: unread } = evaluated;
    const since = watchedSince(fleet, now, deps.intervalMs);
    const noted = store.noting("fleet", { goodAt: now, attemptedAt: now, since, unread });
    const document = JSON.stringify(next);
    await commit.evaluation(transitions, (changes) =>
      store.commit({ key: selfAlerts.key, expected, document, now, changes, lines, ...noted }),
    );
    return service.state;
  };
}

/** Starts `GET /v1/status`, one at a time; the next evaluation reads how it ended. */
function createHealthCheck({ service, store, clock }: SelfAlertsDeps): () => void {
  const ask = oneAtATime(async () => {
    const askedAt = clock.now();
    const error = await service.checkStatus().then(() => undefined, toError);
    if (error instanceof CodedError && error.code === "closed") return;
    await store.noteAttempt("health", clock.now(), error?.message, askedAt);
  });
  // Where Redis does not answer, the next evaluation asks again.
  return () => void ask().catch(() => {});
}

/** The evidence, and the last evaluation of any replica. `knownSince`: of each shard that was seen here. */
async function gather(
  deps: SelfAlertsDeps,
  knownSince: Map<number, Instant>,
): Promise<SelfEvidence & { readonly fleet: Attempt | undefined }> {
  const { store, clock, groups, assigned, integrations, inventory, rules } = deps;
  const now = clock.now();
  const shards = assigned.shards();
  const isCounted = rules.some(({ when }) => when.kind === "group_offline");
  const attempts = await store.attempts();
  const [counted, together, troubles] = await Promise.all([
    isCounted ? store.groups(shards, attempts) : [],
    deps.together?.(now),
    Promise.all(integrations.map((integration) => groups.trouble(integration, now))),
  ]);
  await inventory.follow();
  for (const shard of shards) if (!knownSince.has(shard)) knownSince.set(shard, now);
  const known = attemptsOf(attempts, shards);
  return {
    ...known,
    shards: known.shards.map((attempt, i) => ({ ...attempt, since: knownSince.get(shards[i] ?? -1) })),
    fleet: attempts.get("fleet"),
    health: attempts.get("health"),
    integrations: integrations.map(({ id, name, receiver, type }, i) => {
      return { id, name: integrationName(name), receiver, type, trouble: troubles[i] };
    }),
    directory: deps.config?.directory && attempts.get("directory"),
    groups: { shards: counted, inventory, together },
  };
}
