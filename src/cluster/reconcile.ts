/**
 * Self-healing: every replica asserts, again and again, that each shard is swept, that what is due is claimed by
 * somebody, that digests are made, and that an emptied Redis is filled anew.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { GroupStore } from "../store/groups.ts";
import type { InventoryStore } from "../store/inventory.ts";
import type { Attempt, ShardStore } from "../store/shards.ts";
import type { Queues } from "./queues.ts";
import type { Role } from "./replicas.ts";
import type { createSchedules } from "./schedulers.ts";
import type { Assigned } from "./shard-assignment.ts";

/** A wake-up lost this long ago is given again. */
const OVERDUE_MS = 300;

export interface ReconcileDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly groups: Pick<GroupStore, "nextDue">;
  readonly store: Pick<ShardStore, "attempts">;
  readonly assigned: Assigned;
  readonly inventory: Pick<InventoryStore, "loadLocations">;
  readonly schedules: Pick<ReturnType<typeof createSchedules>, "revive">;
  readonly integrations: readonly string[];
  readonly statusIntervalMs: number;
  /** What this replica does; everything unless given. */
  roles?(): ReadonlySet<Role>;
  /** Told when the newest sweep of any shard, by any replica, was attempted. */
  sweptAnywhere?(at: Instant): void;
  /** Enqueues digests that are due. */
  enqueueDueDigests(): Promise<void>;
  /** Runs the inventory now: there are no assignments although there should be. */
  refill(): Promise<void>;
  /** Notices a Redis that remembers nothing, and sees to it that this is told. */
  checkColdStart(): Promise<unknown>;
  /** Judges alerts from outside that are over, or not judged yet. */
  evaluateExternalAlerts?(): Promise<void>;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Gives `heal()`: everything that may have gone wrong, looked after once. */
export function createReconcile(deps: ReconcileDeps): () => Promise<void> {
  const { clock } = deps;
  let refilling = false;
  let namedAt: Instant | undefined;
  const does = (role: Role) => deps.roles?.().has(role) ?? true;

  async function followAssignments(attempts: ReadonlyMap<string, Attempt>): Promise<void> {
    const attempt = attempts.get("inventory");
    const owed = (await deps.assigned.follow()) === "none" && isInventoryOwed(attempt);
    if (owed && does("poll")) void refill();
    if (attempt && attempt.attemptedAt !== namedAt) {
      await deps.inventory.loadLocations();
      namedAt = attempt.attemptedAt;
    }
  }

  /** Not waited for: a service that hangs must not hold up the healing. */
  async function refill(): Promise<void> {
    if (refilling) return;
    refilling = true;
    try {
      await deps.refill();
    } catch (thrown) {
      deps.log.debug({ err: toError(thrown) }, "filling an emptied Redis failed; it is tried again");
    }
    refilling = false;
  }

  /** Nothing to watch: Redis was emptied, or the first list is still to come. */
  function isInventoryOwed(attempt: Attempt | undefined): boolean {
    if (!attempt) return deps.assigned.known();
    return clock.now() - attempt.attemptedAt >= deps.statusIntervalMs;
  }

  async function wakeOverdue(): Promise<void> {
    const now = clock.now();
    const due = await deps.groups.nextDue(deps.integrations);
    const overdue = [...due].filter(([, at]) => at <= now - OVERDUE_MS);
    if (overdue.length > 0) await deps.wake(new Map(overdue));
  }

  function noteSweeps(attempts: ReadonlyMap<string, Attempt>): void {
    let newest = 0;
    for (const [subject, { attemptedAt }] of attempts) {
      if (subject.startsWith("shard:")) newest = Math.max(newest, attemptedAt);
    }
    if (newest > 0) deps.sweptAnywhere?.(newest);
  }

  return async () => {
    const attempts = await deps.store.attempts();
    noteSweeps(attempts);
    const steps = [
      ...(does("poll") || does("notify") ? [deps.checkColdStart] : []),
      ...(does("notify") ? [wakeOverdue] : []),
      () => followAssignments(attempts),
      ...(does("poll")
        ? [() => deps.schedules.revive(attempts), async () => deps.evaluateExternalAlerts?.()]
        : []),
      ...(does("notify") ? [deps.enqueueDueDigests] : []),
    ];
    for (const step of steps) {
      await step().catch((thrown: unknown) => {
        deps.log.debug({ err: toError(thrown) }, "a step of self-healing failed; it is tried again");
      });
    }
  };
}

/** Gives `wake`: a job per integration that has something due, at its time; what is far off is woken when overdue. */
export function createWake(queues: Pick<Queues, "add">, clock: Clock) {
  return async (due: ReadonlyMap<string, Instant>): Promise<void> => {
    const now = clock.now();
    await Promise.all(
      [...due].map(([integration, at]) => {
        if (at <= now) return queues.add("deliver", { integration });
        if (at - now > FAR_MS) return undefined;
        const slot = Math.ceil(at / SLOT_MS) * SLOT_MS;
        const id = `${Buffer.from(integration).toString("base64url")}-${slot}`;
        return queues.add("deliver", { integration }, { id, delayMs: slot - now });
      }),
    );
  };
}

/** Wake-ups of one integration within this time are one job. */
const SLOT_MS = 20;
/** Reminders are hours off: a job kept for each would outlive its reason, one per message said. */
const FAR_MS = 10 * 60_000;
