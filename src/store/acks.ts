/** Acknowledgements, each of one episode, deleted with its end in the same step (`scripts/commit.lua`). */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

export interface StoredAcknowledgement {
  readonly author: string;
  readonly comment: string;
  readonly at: Instant;
}

export function createAckStore(redis: Redis, keys: Keys) {
  const script = loadScript(redis, keys, "acknowledge");
  return {
    /** By episode id. */
    read: createJsonHash<StoredAcknowledgement>(redis, keys.acks).readAll,

    /** Acknowledges those of the episodes that fire; gives them. A later acknowledgement replaces an earlier one. */
    async acknowledge(episodes: readonly string[], ack: StoredAcknowledgement): Promise<string[]> {
      const acknowledgement = JSON.stringify(ack);
      const done: string[] = [];
      for (const episode of episodes)
        if ((await script(keys.acks, { episode, acknowledgement })) === 1) done.push(episode);
      return done;
    },
  };
}
