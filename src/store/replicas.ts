/** Which replicas there are, whose configuration is in force for which duty, and who exposes the fleet. */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

export interface Report {
  readonly replica: string;
  /** Of its configuration. */
  readonly hash: string;
  readonly roles: readonly string[];
  /** When its configuration was loaded, in the order of all loads; undefined for one loaded now. */
  readonly generation: number | undefined;
  /** Whether it may expose the fleet. */
  readonly mayExpose: boolean;
  /** Who exposes the fleet and is not heard of for this long is followed by another. */
  readonly leaseMs: number;
  /** Who is not heard of for this long is gone. */
  readonly silentAfterMs: number;
}

export interface ReplicaReport {
  readonly generation: number;
  readonly exposes: boolean;
  /** Duty → hash of the configuration in force. */
  readonly inForce: ReadonlyMap<string, string>;
}

export function createReplicaStore(redis: Redis, keys: Keys) {
  const script = loadScript(redis, "report");
  return {
    async report(report: Report, now: Instant): Promise<ReplicaReport> {
      const { replica, hash, roles, generation, mayExpose } = report;
      const [next, exposes, ...inForce] = (await script(
        keys.replicas,
        keys.prefix,
        replica,
        hash,
        JSON.stringify(roles),
        generation ?? "",
        now,
        report.silentAfterMs,
        mayExpose ? "1" : "0",
        report.leaseMs,
      )) as string[];
      const pairs = inForce.flatMap((role, i) =>
        i % 2 === 0 ? [[role, inForce[i + 1] ?? ""] as const] : [],
      );
      return { generation: Number(next), exposes: exposes === "1", inForce: new Map(pairs) };
    },

    /** The replica is gone, and said so. */
    async leave(replica: string): Promise<void> {
      await redis.hdel(keys.replicas, replica);
      if ((await redis.get(keys.exposes)) === replica) await redis.del(keys.exposes);
    },
  };
}

export type ReplicaStore = ReturnType<typeof createReplicaStore>;
