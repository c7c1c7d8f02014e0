/** The connection a lenswatch keeps to the embedded Redis: proof that it is ours, and that somebody uses it. */
import { Redis } from "ioredis";
import { toError } from "../lib/errors.ts";
import type { Endpoint } from "./files.ts";

/** The connection name by which every lenswatch that uses the server is counted. */
export const KEEPER = "lenswatch-keeper";

export interface Attached {
  /** Ends ("end") when the server does; never reconnects. */
  readonly connection: Redis;
  readonly pid: number;
}

/** `down`: nobody listens; `loading`: a server that knows the password reads its data; `not_ours`: somebody else listens. */
export type NoAnswer = "down" | "loading" | "not_ours";

/** Connects and checks password and data directory. */
export async function attach(endpoint: Endpoint, dir: string): Promise<Attached | NoAnswer> {
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

/** Stops being counted; how many others still are. */
export async function giveUpKeeping(connection: Redis): Promise<number> {
  await connection.client("SETNAME", "");
  const clients = String(await connection.client("LIST"));
  return clients.split("\n").filter((line) => line.includes(` name=${KEEPER} `)).length;
}
