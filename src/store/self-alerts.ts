/** The versioned document of the alerts that are not about a shard: the service itself, and the notifications. */
import type { Redis } from "ioredis";
import type { Keys } from "./keys.ts";
import type { Versioned } from "./shards.ts";

/** `empty` is the state before anything was remembered; the document is plain JSON. */
export function createSelfAlertStore<State>(redis: Redis, keys: Keys, empty: State) {
  return {
    key: keys.fleet,
    async read(): Promise<Versioned<State>> {
      const [nonce, document] = await redis.hmget(keys.fleet, "n", "d");
      return { nonce: nonce ?? "", state: document ? (JSON.parse(document) as State) : empty };
    },
  };
}

export type SelfAlertStore<State> = ReturnType<typeof createSelfAlertStore<State>>;
