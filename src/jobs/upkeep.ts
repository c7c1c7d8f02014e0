/**
 * Self-healing and schedules: every replica asserts, again and again, that each shard is swept, that what is due
 * is claimed by somebody, and that an emptied Redis is filled anew.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { AssignmentStore } from "../store/assignments.ts";
import type { GroupStore } from "../store/groups.ts";
import type { ShardStore } from "../store/shards.ts";
import type { Assigned } from "./assigned.ts";
import type { Queues } from "./queues.ts";

/** A wake-up lost this long ago is given again. */
const OVERDUE_MS = 300;

export interface UpkeepDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Queues;
  readonly groups: Pick<GroupStore, "nextDue">;
  readonly store: Pick<ShardStore, "attempts" | "forgetAttempt">;
  readonly assignments: Pick<AssignmentStore, "read">;
  readonly assigned: Assigned;
  readonly integrations: readonly string[];
  readonly statusIntervalMs: number;
  readonly uptimeIntervalMs: number;
  readonly inventoryIntervalMs: number;
  readonly digests: readonly { name: string; cron: string; timezone: string }[];
  /** Runs the inventory now: there are no assignments although there should be. */
  refill(): Promise<void>;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

export function createUpkeep(deps: UpkeepDeps) {
  const { queues, clock } = deps;

  /** One scheduler per shard and interval; shards that lost all their locations are swept a last time. */
  async function scheduleShards(): Promise<void> {
    if (!deps.assigned.known()) return;
    const wanted = new Set(deps.assigned.shards().map((shard) => `shard-${shard}`));
    for (const id of await queues.schedulers("sweep")) {
      if (wanted.has(id)) continue;
      const shard = Number(id.slice("shard-".length));
      await queues.stop("sweep", id);
      await queues.stop("upkeep", `uptime-${shard}`);
      await queues.add("sweep", { shard });
      await deps.store.forgetAttempt(`shard:${shard}`);
      await deps.store.forgetAttempt(`uptime:${shard}`);
    }
    for (const shard of deps.assigned.shards()) {
      await queues.every("sweep", `shard-${shard}`, deps.statusIntervalMs, { shard });
      await queues.every("upkeep", `uptime-${shard}`, deps.uptimeIntervalMs, { job: "uptime", shard });
    }
  }

  /** Schedulers that do not depend on the fleet. */
  async function scheduleRest(): Promise<void> {
    await queues.every("upkeep", "inventory", deps.inventoryIntervalMs, { job: "inventory" });
    await queues.every("upkeep", "fleet", deps.statusIntervalMs, { job: "fleet" });
    const wanted = new Set(deps.digests.map(({ name }) => `digest-${name}`));
    for (const id of await queues.schedulers("digest")) if (!wanted.has(id)) await queues.stop("digest", id);
    for (const { name, cron, timezone } of deps.digests) {
      await queues.cron("digest", `digest-${name}`, cron, timezone, { digest: name });
    }
  }

  /** A shard not swept for two intervals has lost its scheduler or its worker: begun anew. */
  async function reviveShards(): Promise<void> {
    const now = clock.now();
    const attempts = await deps.store.attempts();
    const patience = 2 * deps.statusIntervalMs + 1_000;
    for (const shard of deps.assigned.shards()) {
      const attempt = attempts.get(`shard:${shard}`);
      if (attempt && now - attempt.attemptedAt <= patience) continue;
      await queues.stop("sweep", `shard-${shard}`);
      await queues.every("sweep", `shard-${shard}`, deps.statusIntervalMs, { shard });
    }
  }

  async function wakeOverdue(): Promise<void> {
    const now = clock.now();
    const due = await deps.groups.nextDue(deps.integrations);
    const overdue = [...due].filter(([, at]) => at <= now - OVERDUE_MS);
    if (overdue.length > 0) await deps.wake(new Map(overdue));
  }

  async function followAssignments(): Promise<void> {
    const assignments = await deps.assignments.read();
    if (assignments.size > 0) deps.assigned.set(assignments);
    else if (deps.assigned.known()) await deps.refill();
  }

  return {
    scheduleShards,
    scheduleRest,
    wakeOverdue,
    /** Everything that may have gone wrong, looked after once. */
    async heal(): Promise<void> {
      for (const step of [followAssignments, reviveShards, wakeOverdue]) {
        await step().catch((thrown: unknown) => {
          deps.log.debug({ err: toError(thrown) }, "a step of self-healing failed; it is tried again");
        });
      }
    },
  };
}

/** Gives `wake`: a job per integration that has something due, at its time. */
export function createWake(queues: Pick<Queues, "add">, clock: Clock) {
  return async (due: ReadonlyMap<string, Instant>): Promise<void> => {
    const now = clock.now();
    await Promise.all(
      [...due].map(([integration, at]) => {
        if (at <= now) return queues.add("deliver", { integration });
        const slot = Math.ceil(at / SLOT_MS) * SLOT_MS;
        const id = `${Buffer.from(integration).toString("base64url")}-${slot}`;
        return queues.add("deliver", { integration }, { id, delayMs: slot - now });
      }),
    );
  };
}

/** Wake-ups of one integration within this time are one job. */
const SLOT_MS = 20;
