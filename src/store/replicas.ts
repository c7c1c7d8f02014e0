/** The replicas, whose configuration is active for which role, which one exposes the fleet; and what one does in turn. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

/** The report of a replica about itself. */
export interface ReplicaReport {
  readonly replica: string;
  /** The hash of its configuration. */
  readonly hash: string;
  readonly roles: readonly string[];
  /** The time at which its configuration was loaded, in the order of all loads; undefined for one loaded now. */
  readonly generation: number | undefined;
  /** True where it may expose the fleet. */
  readonly mayExpose: boolean;
  /** Another replica may expose the fleet when the one that did is silent for this long. */
  readonly leaseMs: number;
  /** True where it works on shards, and takes its share of them; another one silent for longer has none. */
  readonly sweeps: boolean;
  readonly awayAfterMs: number;
  /** A replica silent for longer is removed. */
  readonly silentAfterMs: number;
}

export function createReplicaStore(redis: Redis, keys: Keys) {
  const script = loadScript(redis, keys, "report");
  return {
    /**
     * Gives its generation, whether it exposes the fleet, by role the hash of the active configuration, and the
     * replicas that share the shards.
     */
    async report(report: ReplicaReport, now: Instant) {
      type Status = {
        generation: number;
        exposes: boolean;
        active: Record<string, string>;
        sharing: string[] | Record<string, never>;
      };
      const status = (await script(keys.replicas, { ...report, now })) as Status;
      // An empty list comes as an object.
      return { ...status, active: new Map(Object.entries(status.active)), sharing: Object.values(status.sharing) };
    },

    /** Removes a replica that stops. */
    async leave(replica: string): Promise<void> {
      await redis.hdel(keys.replicas, replica);
      if ((await redis.get(keys.exposes)) === replica) await redis.del(keys.exposes);
    },
  };
}

/** Shorter than the interval, so that the next round is not missed by a hair. */
const LEASE_RATIO = 0.8;

/** For what one replica does in each interval: true for the first to ask. A token was written and read back. */
export function createLease(redis: Redis, key: string) {
  return async (intervalMs: number): Promise<boolean> => {
    const token = randomUUID();
    const ms = Math.max(1, Math.round(intervalMs * LEASE_RATIO));
    await redis.set(key, token, "PX", ms, "NX");
    // After Redis' clock went back, the last lease would last as much longer.
    await redis.pexpire(key, ms, "LT");
    return (await redis.get(key)) === token;
  };
}
