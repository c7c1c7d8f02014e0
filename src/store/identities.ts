/** Which ids rules and integrations have, so that every replica and every start uses the same. */
import type { Redis } from "ioredis";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

/** By id: what it was given to, in words of its own that configurations are compared by; no secrets. */
export type Identities = Readonly<Record<string, readonly string[]>>;

type StoredIdentities = { readonly rules: Identities; readonly integrations: Identities };

export function createIdentityStore(redis: Redis, keys: Keys) {
  const replace = loadScript(redis, keys, "replace");
  const parse = (text: string): StoredIdentities => (text === "" ? { rules: {}, integrations: {} } : JSON.parse(text));
  return {
    read: async (): Promise<StoredIdentities> => parse((await redis.get(keys.identities)) ?? ""),

    /** Stores, where it may, what `next` makes of what is stored; calls it again where another replica was faster. */
    async update(
      next: (known: StoredIdentities, owing: ReadonlySet<string>) => StoredIdentities,
      mayStore: boolean,
    ): Promise<void> {
      for (;;) {
        const before = (await redis.get(keys.identities)) ?? "";
        const stored = next(parse(before), new Set(await redis.smembers(keys.integrations)));
        if (!mayStore || (await replace(keys.identities, { before, after: JSON.stringify(stored) }))) return;
      }
    },
  };
}
