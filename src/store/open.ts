/** Redis as the configuration names it: the one at `redis.url`, or an embedded one started or adopted in a directory. */
import type { Redis } from "ioredis";
import type { Logger } from "../lib/log.ts";
import { startEmbeddedRedis } from "./embedded.ts";
import { connectRedis } from "./redis.ts";

/** Where an embedded Redis keeps its data, below the working directory. */
export const DATA_DIR = "data";

export interface OpenRedis {
  /** A new connection, not connected yet; `name` shows in `CLIENT LIST`. */
  connect(name: string): Redis;
  /** True when lenswatch runs the server itself. */
  readonly embedded: boolean;
  /** Stops an embedded server that nobody else uses; connections are their makers' to close. */
  close(): Promise<void>;
}

/** Throws StoreError `no_server` or `unavailable` where an embedded server cannot be had. */
export async function openRedis(url: string | undefined, log: Logger): Promise<OpenRedis> {
  if (url !== undefined) {
    return { connect: (name) => connectRedis(url, log, name), embedded: false, close: async () => {} };
  }
  const server = await startEmbeddedRedis({ dir: DATA_DIR, log });
  return {
    connect: (name) => connectRedis(server.url, log, name),
    embedded: true,
    close: () => server.stop(),
  };
}
