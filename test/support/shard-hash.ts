import type { ShardState } from "../../src/health/shard-state.ts";
import { decodeShard, emptyShard, encodeSweep, type ShardFields } from "../../src/store/shard-document.ts";
import { patchTo } from "./shard-patch.ts";

/** The fields of a shard that was written as a whole. */
export function fieldsOf(state: ShardState, version = "version"): ShardFields {
  return encodeSweep({ state: emptyShard }, patchTo(state), version);
}

/** The hash of a shard after such a write to it. */
export function hashAfter(
  { document, more, gone, isWhole }: ShardFields,
  before: Readonly<Record<string, string>> = {},
) {
  const hash: Record<string, string> = { ...(isWhole ? {} : before), n: "nonce", d: document };
  for (let i = 0; i < more.length; i += 2) hash[more[i] ?? ""] = more[i + 1] ?? "";
  for (const field of gone) delete hash[field];
  return hash;
}

/** A state as it is read again after it was stored. */
export function storedAgain(state: ShardState): ShardState {
  return decodeShard(hashAfter(fieldsOf(state))).state;
}
