import type { ShardState } from "../../src/health/shard-state.ts";
import { decodeShard, encodeShard, type ShardFields } from "../../src/store/shard-document.ts";

/** The hash of a shard after such a write to it. */
export function hashAfter({ document, more, isWhole }: ShardFields, before: Readonly<Record<string, string>> = {}) {
  const hash: Record<string, string> = { ...(isWhole ? {} : before), n: "nonce", d: document };
  for (let i = 0; i < more.length; i += 2) hash[more[i] ?? ""] = more[i + 1] ?? "";
  return hash;
}

/** A state as it is read again after it was stored. */
export function storedAgain(state: ShardState): ShardState {
  return decodeShard(hashAfter(encodeShard(state, "token"))).state;
}
