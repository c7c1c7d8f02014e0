/** The Redis of a run: one that keeps its data on disk, or a master with a replica that takes its place. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { startTestRedis } from "../../test/support/redis.ts";
import { familyPassword, startSentinels } from "../../test/support/redis-family.ts";
import { until } from "../../test/support/until.ts";

export interface Memory {
  /** The section `redis` of the configuration. */
  readonly section: object;
  /** What can be stopped and let go on; undefined where there is no such process. */
  readonly pid: number | undefined;
  /** A connection to whoever is the master now; the caller's to close. */
  look(): Redis;
  /** Ends the server as `kill -9` does. */
  kill(): Promise<void>;
  /** Resolves once there is one again; throws where it cannot be had yet. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** One server with an append-only file: after a kill it knows what it knew. */
export async function startKept(): Promise<Memory> {
  const redis = await startTestRedis({ appendonly: true });
  return {
    section: { url: redis.url },
    get pid() {
      return redis.pid;
    },
    look: () => new Redis(redis.url),
    kill: () => redis.kill(),
    restart: () => redis.restart(),
    stop: () => redis.stop(),
  };
}

/** Copying stops so long before the master is killed: what was written since is lost. */
const LOST_MS = 1_000;
const NOWHERE = ["127.0.0.1", 1] as const;

/** A master, a replica and three Sentinels. A kill loses the last second; whoever was killed comes back as the replica. */
export async function startPromoting(): Promise<Memory> {
  const family = await startSentinels();
  let [master, replica] = [family.master, family.replica];
  const to = (port: number) => new Redis({ port, password: familyPassword });
  const role = async (port: number) => {
    const redis = to(port);
    redis.on("error", () => {});
    try {
      return await redis.info("replication");
    } finally {
      redis.disconnect();
    }
  };
  return {
    section: {
      sentinels: family.sentinels.map(({ host, port }) => `${host}:${port}`),
      name: "lens",
      password: familyPassword,
    },
    pid: undefined,
    look: () => to(master.port),
    async kill() {
      const link = to(replica.port);
      await link.replicaof(...NOWHERE);
      link.disconnect();
      await sleep(LOST_MS);
      await master.kill();
    },
    async restart() {
      const promoted = async () => (await role(replica.port)).includes("role:master");
      await until("the replica is the master", promoted, 30_000);
      [master, replica] = [replica, master];
      await replica.restart(["--replicaof", "127.0.0.1", String(master.port)]);
      const follows = async () => (await role(replica.port)).includes("master_link_status:up");
      await until("the one that was killed follows", follows, 30_000);
    },
    stop: async () => family[Symbol.asyncDispose](),
  };
}
