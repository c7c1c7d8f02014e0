/** Redis servers in company: a master with a replica and three Sentinels, a cluster of three, one that speaks TLS. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findRedisServer } from "../../src/redis-embedded/launch.ts";
import { lastingPort } from "./lasting-port.ts";
import { makePki } from "./pki.ts";
import { until } from "./until.ts";

const binary = await findRedisServer(process.env);
const PASSWORD = "family";

interface Server {
  readonly port: number;
  /** As `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port, with more arguments. */
  restart(args: readonly string[]): Promise<void>;
}

interface Family extends AsyncDisposable {
  readonly dir: string;
  /** Starts a server with these lines of configuration on a port of its own. */
  start(lines: (port: number) => readonly string[], mode?: "--sentinel"): Promise<Server>;
}

async function startFamily(): Promise<Family> {
  if (binary === undefined) throw new Error("redis-server is not installed; see describeWithRedis");
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-family-"));
  const servers: Server[] = [];
  return {
    dir,
    async start(lines, mode) {
      const port = await lastingPort();
      const file = join(dir, `${port}.conf`);
      const base = ["bind 127.0.0.1", `dir ${dir}`, `logfile ${dir}/${port}.log`];
      await writeFile(file, [...base, ...lines(port), ""].join("\n"));
      const server = toServer(port, (...args) =>
        spawn(binary, [file, ...(mode ? [mode] : []), ...args], { stdio: "ignore" }),
      );
      servers.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.kill()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function toServer(port: number, launch: (...args: string[]) => ChildProcess): Server {
  let child = launch();
  return {
    port,
    async kill() {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await ended;
    },
    async restart(args) {
      child = launch(...args);
    },
  };
}

/** Asks one server one thing; undefined where it does not answer. */
async function ask(port: number, command: string, ...args: (string | number)[]): Promise<unknown> {
  const redis = new Redis({
    port,
    host: "127.0.0.1",
    password: PASSWORD,
    lazyConnect: true,
    retryStrategy: () => null,
  });
  redis.on("error", () => {});
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}

const plain = (port: number) => [
  `port ${port}`,
  `requirepass ${PASSWORD}`,
  `masterauth ${PASSWORD}`,
  'save ""',
  "appendonly no",
  "repl-diskless-sync-delay 0",
];

const addressOf = ({ port }: Server) => ({ host: "127.0.0.1", port });

export const familyPassword = PASSWORD;

/** A master, its replica, and three Sentinels that detect a failure within a second. */
export async function startSentinels() {
  const family = await startFamily();
  const master = await family.start(plain);
  const replica = await family.start((port) => [...plain(port), `replicaof 127.0.0.1 ${master.port}`]);
  await until("the replica follows", async () =>
    String(await ask(replica.port, "INFO", "replication")).includes("master_link_status:up"),
  );
  const sentinels = await Promise.all(
    [1, 2, 3].map(() =>
      family.start(
        (port) => [
          `port ${port}`,
          `sentinel monitor lens 127.0.0.1 ${master.port} 2`,
          `sentinel auth-pass lens ${PASSWORD}`,
          "sentinel down-after-milliseconds lens 1000",
          "sentinel failover-timeout lens 1500",
        ],
        "--sentinel",
      ),
    ),
  );
  const knows = async ({ port }: Server) => {
    const found = await ask(port, "SENTINEL", "MASTER", "lens");
    const fields = Array.isArray(found) ? found.map(String) : [];
    const field = (name: string) => Number(fields[fields.indexOf(name) + 1]);
    return field("num-other-sentinels") === 2 && field("num-slaves") === 1;
  };
  await until("the Sentinels know each other", async () => (await Promise.all(sentinels.map(knows))).every(Boolean));
  return Object.assign(family, { master, replica, sentinels: sentinels.map(addressOf) });
}

/** Three masters that share the slots. */
export async function startCluster() {
  const family = await startFamily();
  const nodes = await Promise.all(
    [1, 2, 3].map(() =>
      family.start((port) => [
        ...plain(port),
        "cluster-enabled yes",
        `cluster-config-file nodes-${port}.conf`,
        `cluster-port ${port + 1}`,
      ]),
    ),
  );
  const slots = [0, 5_461, 10_923, 16_384];
  for (const [i, { port }] of nodes.entries()) {
    await until("the node answers", async () => (await ask(port, "PING")) === "PONG");
    await ask(port, "CLUSTER", "ADDSLOTSRANGE", slots[i] ?? 0, (slots[i + 1] ?? 0) - 1);
    for (const other of nodes) await ask(port, "CLUSTER", "MEET", "127.0.0.1", other.port, other.port + 1);
  }
  for (const { port } of nodes) {
    await until("the cluster is whole", async () =>
      String(await ask(port, "CLUSTER", "INFO")).includes("cluster_state:ok"),
    );
  }
  return Object.assign(family, { nodes: nodes.map(addressOf) });
}

/** A server with TLS only that requires client certificates, and the paths of the client's files. */
export async function startTls() {
  const family = await startFamily();
  const at = (name: string) => join(family.dir, name);
  const { ca, server: served, client } = makePki();
  const files = {
    "ca.pem": ca,
    "server.pem": served.cert,
    "server.key": served.key,
    "client.pem": client.cert,
    "client.key": client.key,
  };
  await Promise.all(Object.entries(files).map(([name, pem]) => writeFile(at(name), pem)));
  const server = await family.start((port) => [
    "port 0",
    `tls-port ${port}`,
    `tls-cert-file ${at("server.pem")}`,
    `tls-key-file ${at("server.key")}`,
    `tls-ca-cert-file ${at("ca.pem")}`,
    'save ""',
  ]);
  return Object.assign(family, { ...addressOf(server), at });
}
