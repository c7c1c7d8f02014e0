/** The connection that each lenswatch keeps to the embedded Redis: it proves whose server it is, and that it is used. */
import { Redis } from "ioredis";
import { toError } from "../lib/errors.ts";
import type { RedisEndpoint } from "./files.ts";

/** The connection name by which every lenswatch that uses the server is counted. */
export const KEEPER = "lenswatch-keeper";

export interface Attached {
  /** Emits "end" when the server ends; never reconnects. */
  readonly connection: Redis;
  readonly pid: number;
}

/** `down`: nothing listens; `loading`: a server with our password reads its data; `not_ours`: another server listens. */
type NoAnswer = "down" | "loading" | "not_ours";

/** Connects and checks password and data directory. */
export async function attach(endpoint: RedisEndpoint, dir: string): Promise<Attached | NoAnswer> {
  let refused = false;
  const connection = new Redis({
    host: "127.0.0.1",
    port: endpoint.port,
    password: endpoint.password,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
  });
  connection.on("error", (error: NodeJS.ErrnoException) => {
    refused ||= error.code === "ECONNREFUSED";
  });
  try {
    await connection.connect();
    if ((await connection.ping()) !== "PONG") throw new Error("no PONG");
    const [, served] = (await connection.config("GET", "dir")) as string[];
    if (served !== dir) throw new Error("another directory's server");
    await connection.client("SETNAME", KEEPER);
    const info = await connection.info("server");
    return { connection, pid: Number(/process_id:(\d+)/.exec(info)?.[1]) };
  } catch (thrown) {
    connection.disconnect();
    if (refused) return "down";
    return toError(thrown).message.startsWith("LOADING") ? "loading" : "not_ours"; // Redis' error code is its first word
  }
}

/** Removes this connection from the count; gives how many others there are. */
export async function countOthersAndLeave(connection: Redis): Promise<number> {
  await connection.client("SETNAME", "");
  const clients = String(await connection.client("LIST"));
  return clients.split("\n").filter((line) => line.includes(` name=${KEEPER} `)).length;
}
