/** Re-asserts once a second which shards this replica sweeps, and that due groups are claimed and digests made. */
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import type { Store } from "../store/store.ts";
import type { Role } from "./active-config.ts";
import type { Attempts } from "./own-ticks.ts";
import type { Queues } from "./queues.ts";
import type { Assigned } from "./shard-assignment.ts";

const RECONCILE_MS = 1_000;
/** A wake-up lost this long ago is given again. */
const OVERDUE_MS = 300;

interface ReconcileDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly groups: Pick<Store["groups"], "nextDue">;
  readonly store: Pick<Store["shards"], "attempts">;
  readonly assigned: Assigned;
  readonly inventory: Pick<Store["inventory"], "follow">;
  /** Takes the shards of this replica, and leaves the others. */
  followTicks(attempts: Attempts): void;
  readonly integrations: readonly string[];
  /** The active roles of this replica; every role unless given. */
  roles?(): ReadonlySet<Role>;
  /** Gets the time of the newest sweep of any shard by any replica. */
  sweptAnywhere?(at: Instant): void;
  /** Puts right what is stored where the clock went back. */
  followClock: Store["followClock"];
  /** Makes due what ended causes of suppression suppressed, of which a process that died left some. */
  release?(now: Instant): Promise<ReadonlyMap<string, Instant>>;
  /** Enqueues digests that are due. */
  enqueueDueDigests(): Promise<void>;
  /** Detects an empty store, and gathers its summary. */
  checkColdStart(): Promise<unknown>;
  /** Evaluates external alerts that ended, or were not evaluated yet. */
  evaluateExternalAlerts?(): Promise<void>;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Gives one round of all steps; a step that fails is retried in the next round. */
export function createReconcile(deps: ReconcileDeps): () => Promise<void> {
  const followAssignments = createFollowAssignments(deps);
  const does = (role: Role) => deps.roles?.().has(role) ?? true;
  return async () => {
    await deps.followClock(deps.clock.now());
    const attempts = await deps.store.attempts();
    noteSweeps(deps, attempts);
    const steps = [
      ...(does("poll") ? [async () => deps.followTicks(attempts)] : []),
      ...(does("poll") || does("notify") ? [deps.checkColdStart] : []),
      ...(does("notify") ? [() => release(deps), () => wakeOverdue(deps)] : []),
      () => followAssignments(attempts),
      ...(does("poll") ? [async () => deps.evaluateExternalAlerts?.()] : []),
      ...(does("notify") ? [deps.enqueueDueDigests] : []),
    ];
    for (const step of steps) {
      await step().catch((thrown: unknown) => {
        deps.log.debug({ err: toError(thrown) }, "reconciling step failed, retrying");
      });
    }
  };
}

async function release({ clock, release, wake }: ReconcileDeps): Promise<void> {
  const due = await release?.(clock.now());
  if (due && due.size > 0) await wake(due);
}

/** Follows the assignments and names that other replicas wrote with an inventory. */
function createFollowAssignments({ assigned, inventory }: ReconcileDeps) {
  let readFor: Instant | undefined;
  return async (attempts: Attempts): Promise<void> => {
    const attemptedAt = attempts.get("inventory")?.attemptedAt;
    const isRead = attemptedAt === readFor;
    if (isRead && (await assigned.isComplete())) return;
    await assigned.follow();
    if (!isRead) await inventory.follow();
    readFor = attemptedAt;
  };
}

async function wakeOverdue({ clock, groups, integrations, wake }: ReconcileDeps): Promise<void> {
  const now = clock.now();
  const due = await groups.nextDue(integrations);
  const overdue = [...due].filter(([, at]) => at <= now - OVERDUE_MS);
  if (overdue.length > 0) await wake(new Map(overdue));
}

function noteSweeps({ sweptAnywhere }: ReconcileDeps, attempts: Attempts): void {
  let newest = 0;
  for (const [subject, { attemptedAt }] of attempts) {
    if (subject.startsWith("shard:")) newest = Math.max(newest, attemptedAt);
  }
  if (newest > 0) sweptAnywhere?.(newest);
}

/** Runs `round` every second, one at a time, whatever fails in it, until the returned function is called. */
export function startReconciling(round: () => Promise<void>, log: Logger): () => Promise<void> {
  let latest: Promise<void> | undefined;
  const run = oneAtATime(() =>
    round().catch((thrown: unknown) => log.debug({ err: toError(thrown) }, "reconciling failed, retrying")),
  );
  const timer = setInterval(() => {
    latest = run();
  }, RECONCILE_MS);
  return async () => {
    clearInterval(timer);
    await latest;
  };
}

/** Wake-ups of one integration within this time are one job. */
const SLOT_MS = 20;
/** A reminder is hours off: it is woken when overdue instead of keeping a job for each message. */
const FAR_MS = 10 * 60_000;

/** Gives `wake`: adds a job per integration that has something due, at its time, unless that is more than FAR_MS off. */
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
