/** Redis as the configuration names it, or where it names none an embedded one, started or adopted in a directory. */
import type { Redis } from "ioredis";
import type { Logger } from "../lib/log.ts";
import { startEmbeddedRedis } from "../redis-embedded/embedded.ts";
import { connectRedis } from "../store/redis.ts";
import { canFailOver, type RedisPlace } from "../store/redis-client.ts";

/** Where an embedded Redis keeps its data, below the working directory. */
export const DATA_DIR = "data";

export interface OpenRedis {
  /** A new connection, not connected yet; `name` shows in `CLIENT LIST`. */
  connect(name: string): Redis;
  /** Whether another server may take its place, with what it knows. */
  readonly canFailOver: boolean;
  /** Stops an embedded server that nobody else uses; connections are their makers' to close. */
  close(): Promise<void>;
}

/** Throws StoreError `no_server` or `unavailable` where an embedded server cannot be had. */
export async function openRedis(place: RedisPlace, log: Logger): Promise<OpenRedis> {
  if (place.url !== undefined || canFailOver(place)) {
    return {
      connect: (name) => connectRedis(place, log, name),
      canFailOver: canFailOver(place),
      close: async () => {},
    };
  }
  const server = await startEmbeddedRedis({ dir: DATA_DIR, log });
  return {
    connect: (name) => connectRedis({ url: server.url }, log, name),
    canFailOver: false,
    close: () => server.stop(),
  };
}
