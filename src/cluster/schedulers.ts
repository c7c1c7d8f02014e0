/**
 * What runs again and again: a scheduler for each, asserted by every replica, and begun anew where its work has left
 * no trace for two intervals. A kill between two of BullMQ's calls can leave a scheduler silent for ever.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Attempt } from "../store/shards.ts";
import type { QueueName, Queues } from "./queues.ts";
import type { Assigned } from "./shard-assignment.ts";

export interface Schedule {
  readonly queue: QueueName;
  readonly id: string;
  readonly everyMs: number;
  readonly data: Record<string, unknown>;
  /** The attempt its job notes. */
  readonly subject: string;
}

export interface SchedulesDeps {
  readonly clock: Clock;
  readonly queues: Pick<Queues, "every" | "stop" | "schedulers" | "add">;
  readonly assigned: Pick<Assigned, "known" | "shards">;
  readonly statusIntervalMs: number;
  readonly uptimeIntervalMs: number;
  readonly inventoryIntervalMs: number;
}

const GRACE_MS = 1_000;
const SHARD = "shard-";

export function createSchedules(deps: SchedulesDeps) {
  const { queues, clock } = deps;
  /** When each was last begun, here; an attempt may be long in coming. */
  const begunAt = new Map<string, Instant>();

  function wanted(): Schedule[] {
    const { statusIntervalMs: status, uptimeIntervalMs: uptime, inventoryIntervalMs } = deps;
    const fixed: Schedule[] = [
      { ...reconcile("inventory", inventoryIntervalMs), subject: "inventory" },
      { ...reconcile("fleet", status), subject: "fleet" },
    ];
    const shards = deps.assigned.shards().flatMap((shard): Schedule[] => [
      {
        queue: "sweep",
        id: `${SHARD}${shard}`,
        everyMs: status,
        data: { shard },
        subject: `shard:${shard}`,
      },
      {
        queue: "uptime",
        id: `uptime-${shard}`,
        everyMs: uptime,
        data: { shard },
        subject: `uptime:${shard}`,
      },
      {
        queue: "details",
        id: `details-${shard}`,
        everyMs: inventoryIntervalMs,
        data: { shard },
        subject: `details:${shard}`,
      },
    ]);
    return [...fixed, ...shards];
  }

  async function begin({ queue, id, everyMs, data }: Schedule): Promise<void> {
    begunAt.set(id, clock.now());
    await queues.every(queue, id, everyMs, data);
  }

  /** Shards that lost all their locations are swept a last time, to end what is said of them. */
  async function stopOthers(wantedIds: ReadonlySet<string>): Promise<void> {
    if (!deps.assigned.known()) return;
    for (const queue of ["sweep", "upkeep", "uptime", "details"] as const) {
      for (const id of await queues.schedulers(queue)) {
        if (wantedIds.has(`${queue}/${id}`)) continue;
        await queues.stop(queue, id);
        if (queue === "sweep") await queues.add("sweep", { shard: Number(id.slice(SHARD.length)) });
      }
    }
  }

  return {
    /** One scheduler for each; the others go. */
    async assert(): Promise<void> {
      const schedules = wanted();
      await stopOthers(new Set(schedules.map(({ queue, id }) => `${queue}/${id}`)));
      for (const schedule of schedules) await begin(schedule);
    },

    /** Begins anew what has been silent for two intervals, and sweeps shards that were left behind. */
    async revive(attempts: ReadonlyMap<string, Attempt>): Promise<void> {
      const now = clock.now();
      const schedules = wanted();
      const isSilent = (id: string, subject: string, everyMs: number): boolean => {
        const begun = begunAt.get(id) ?? now;
        begunAt.set(id, begun);
        return now - Math.max(begun, attempts.get(subject)?.attemptedAt ?? 0) > 2 * everyMs + GRACE_MS;
      };
      for (const schedule of schedules) {
        if (!isSilent(schedule.id, schedule.subject, schedule.everyMs)) continue;
        await queues.stop(schedule.queue, schedule.id);
        await begin(schedule);
      }
      if (!deps.assigned.known()) return;
      const subjects = new Set(schedules.map(({ subject }) => subject));
      for (const subject of attempts.keys()) {
        const shard = /^shard:(\d+)$/.exec(subject)?.[1];
        if (shard === undefined || subjects.has(subject)) continue;
        if (!isSilent(subject, subject, deps.statusIntervalMs)) continue;
        begunAt.set(subject, now);
        await queues.add("sweep", { shard: Number(shard) });
      }
    },
  };
}

function reconcile(job: "inventory" | "fleet", everyMs: number): Omit<Schedule, "subject"> {
  return { queue: "upkeep", id: job, everyMs, data: { job } };
}
