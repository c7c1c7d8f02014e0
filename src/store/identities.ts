/** Which ids rules and integrations have, so that every replica and every start uses the same. */
import type { Redis } from "ioredis";
import type { Keys } from "./keys.ts";
import { type Place, type Read, type Transact, writing } from "./transact.ts";

/** By id: what it was given to, in words of its own that configurations are compared by; no secrets. */
export type Identities = Readonly<Record<string, readonly string[]>>;

type StoredIdentities = { readonly rules: Identities; readonly integrations: Identities };

export function createIdentityStore(redis: Redis, keys: Keys, { read, change }: Transact) {
  const place: Place = [keys.identities];
  const parse = ({ text }: Read): StoredIdentities =>
    text === undefined ? { rules: {}, integrations: {} } : JSON.parse(text);
  return {
    read: async (): Promise<StoredIdentities> => parse((await read([place]))[0]),

    /** Stores, where it may, what `next` makes of what is stored; calls it again where another replica was faster. */
    update: (
      next: (known: StoredIdentities, owing: ReadonlySet<string>) => StoredIdentities,
      mayStore: boolean,
    ): Promise<void> =>
      change([place], async ([known], id) => {
        const owing = new Set(await redis.smembers(keys.integrations));
        const text = JSON.stringify(next(parse(known), owing));
        return { writes: mayStore ? [writing(id, place, text)] : [], result: undefined };
      }),
  };
}
