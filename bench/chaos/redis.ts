/** The Redis of a run: one server that persists its data, or a master with a replica. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { startTestRedis } from "../../test/support/redis.ts";
import { familyPassword, startSentinels } from "../../test/support/redis-family.ts";
import { until } from "../../test/support/until.ts";

export interface RunRedis {
  /** The section `redis` of the configuration. */
  readonly section: object;
  /** The process to freeze; undefined where there is none. */
  readonly pid: number | undefined;
  /** Connects to the current master; the caller closes the connection. */
  connect(): Redis;
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>;
  /** Resolves once a master is up again; throws where it cannot start yet. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** One server with an append-only file, so that a kill loses nothing. */
export async function startPersistent(): Promise<RunRedis> {
  const redis = await startTestRedis({ appendonly: true });
  return {
    section: { url: redis.url },
    get pid() {
      return redis.pid;
    },
    connect: () => new Redis(redis.url),
    kill: () => redis.kill(),
    restart: () => redis.restart(),
    stop: () => redis.stop(),
  };
}

/** Replication stops this long before the master is killed, so later writes are lost. */
const LOST_MS = 1_000;
const NOWHERE = ["127.0.0.1", 1] as const;

/** A master, a replica and three Sentinels. A kill loses the last second; the killed server returns as replica. */
export async function startFailover(): Promise<RunRedis> {
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
    connect: () => to(master.port),
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
