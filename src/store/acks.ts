/** Acknowledgements, each of one episode: gone with its end, in the same step (`scripts/commit.lua`). */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

export interface Acknowledgement {
  readonly author: string;
  readonly comment: string;
  readonly at: Instant;
}

export function createAckStore(redis: Redis, keys: Keys) {
  const acknowledge = loadScript(redis, "acknowledge");

  return {
    /** By episode id. */
    async read(): Promise<ReadonlyMap<string, Acknowledgement>> {
      const rows = Object.entries(await redis.hgetall(keys.acks));
      return new Map(rows.map(([id, text]) => [id, JSON.parse(text) as Acknowledgement]));
    },

    /** Acknowledges those of the episodes that still fire; gives them. A later one takes the place of an earlier. */
    async acknowledge(episodes: readonly string[], acknowledgement: Acknowledgement): Promise<string[]> {
      const done: string[] = [];
      for (const id of episodes) {
        const taken = await acknowledge(keys.acks, keys.alerts, id, JSON.stringify(acknowledgement));
        if (taken === 1) done.push(id);
      }
      return done;
    },
  };
}
