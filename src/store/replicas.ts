/** The replicas, whose configuration is active for which role, which one exposes the fleet; and what one does in turn. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { type Check, newId, type Transact, type Write } from "./transact.ts";

/** The report of a replica about itself. */
export interface ReplicaReport {
  readonly replica: string;
  /** The hash of its configuration. */
  readonly hash: string;
  readonly roles: readonly string[];
  /** The place of its configuration in the order of all loads; undefined for one loaded now. */
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

/** A replica as it is stored. */
export interface Reported extends Pick<ReplicaReport, "hash" | "roles" | "sweeps"> {
  readonly generation: number;
  readonly at: Instant;
}

type Reports = ReadonlyMap<string, Reported>;

/** The generation of a configuration that is loaded now: after all others, whatever the clocks of their replicas were. */
export function nextGeneration(reports: Reports, now: Instant): number {
  return Math.max(now, ...[...reports.values()].map(({ generation }) => generation + 1));
}

/**
 * By role the hash of the active configuration, which is the one loaded last by a replica still there; the replicas that
 * sweep with it, and share the shards; and those that are gone.
 */
export function agree(
  reports: Reports,
  { silentAfterMs, awayAfterMs }: Pick<ReplicaReport, "silentAfterMs" | "awayAfterMs">,
  now: Instant,
) {
  // By id where two loaded at the same time: for every replica the same one is the last.
  const inOrder = [...reports].sort(([a, one], [b, other]) => one.generation - other.generation || (a < b ? -1 : 1));
  const { there = [], gone = [] } = Object.groupBy(inOrder, ([, { at }]) =>
    now - at > silentAfterMs ? "gone" : "there",
  );
  const active = new Map(there.flatMap(([, { roles, hash }]) => roles.map((role) => [role, hash] as const)));
  const sharing = there.filter(
    ([, { sweeps, at, hash }]) => sweeps && now - at <= awayAfterMs && hash === active.get("poll"),
  );
  return { active, sharing: sharing.map(([id]) => id), gone: gone.map(([id]) => id) };
}

export function createReplicaStore(redis: Redis, keys: Keys, { transact }: Transact) {
  const parse = (stored: Readonly<Record<string, string>>): Reports =>
    new Map(Object.entries(stored).map(([id, text]) => [id, JSON.parse(text) as Reported]));

  /** Takes, renews or releases the lease of exposing the fleet; true where the replica has it then. */
  async function expose(
    { replica, mayExpose, leaseMs }: Pick<ReplicaReport, "replica" | "mayExpose" | "leaseMs">,
    holder: string | null,
  ): Promise<boolean> {
    if (holder === null ? !mayExpose : holder !== replica) return false;
    const write: Write = mayExpose ? ["SET", keys.exposes, replica, "PX", leaseMs] : ["DEL", keys.exposes];
    const checks = [{ place: [keys.exposes] as const, version: holder ?? "" }];
    const { kind } = await transact({ id: newId(), checks, writes: [write] });
    return mayExpose && kind === "stored";
  }

  /** Writes which configurations are active; false where another replica was faster. */
  async function activate(active: ReadonlyMap<string, string>, known: Readonly<Record<string, string>>) {
    const changed = [...active].filter(([role, hash]) => known[role] !== hash);
    if (changed.length === 0) return true;
    const checks = changed.map(([role]) => ({ place: [keys.active, role] as const, version: known[role] ?? "" }));
    const writes: Write[] = [["HSET", keys.active, ...changed.flat()]];
    return (await transact({ id: newId(), checks, writes })).kind !== "conflict";
  }

  return {
    /**
     * Gives its generation, whether it exposes the fleet, by role the hash of the active configuration, and the
     * replicas that share the shards.
     */
    async report(report: ReplicaReport, now: Instant) {
      const { replica, hash, roles, sweeps } = report;
      const generation = report.generation ?? nextGeneration(parse(await redis.hgetall(keys.replicas)), now);
      const own: Reported = { hash, generation, roles, at: now, sweeps };
      for (;;) {
        // One round trip, in this order: what is active is read before the reports that decide it.
        const [known, , stored, holder] = await Promise.all([
          redis.hgetall(keys.active),
          roles.length > 0 ? redis.hset(keys.replicas, replica, JSON.stringify(own)) : undefined,
          redis.hgetall(keys.replicas),
          redis.get(keys.exposes),
        ]);
        const { active, sharing, gone } = agree(parse(stored), report, now);
        if (!(await activate(active, known))) continue;
        const forget = gone.length > 0 ? redis.hdel(keys.replicas, ...gone) : undefined;
        const [exposes] = await Promise.all([expose(report, holder), forget]);
        return { generation, exposes, active, sharing };
      }
    },

    /** The check by which a transaction holds only while this configuration is the active one. */
    checkActive: (role: string, hash: string): Check => ({ place: [keys.active, role], version: hash }),

    /** Removes a replica that stops. */
    async leave(replica: string): Promise<void> {
      await redis.hdel(keys.replicas, replica);
      await expose({ replica, mayExpose: false, leaseMs: 0 }, replica);
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
