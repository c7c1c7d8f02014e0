import { overviewAfter } from "../../src/health/shard-overview.ts";
import { patched, type ShardPatch } from "../../src/health/shard-patch.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import { emptyShard } from "../../src/store/shard-document.ts";

/** The patch that makes this state of an empty shard. */
export function patchTo({ sweptAt, gaps, recordings, locations }: ShardState): ShardPatch {
  return { sweptAt, gaps, noted: new Map(), changed: recordings, left: new Set(), locations };
}

/** A commit of this state, whatever the shard was under the nonce. */
export function shardCommit(nonce: string, state: ShardState) {
  const patch = patchTo(state);
  const overview = overviewAfter(emptyShard, patch, { intervalMs: 30_000, inventory: { recording: () => undefined } });
  return { before: { nonce, state: emptyShard }, patch, overview, now: state.sweptAt, changes: [] };
}

/** A state of which hot values can be written without changing this one. */
export function copyOf(state: ShardState): ShardState {
  return { ...state, recordings: new Map(state.recordings.values().map((one) => [one.id, { ...one }])) };
}

/** The state after a sweep; the one before stays as it is. */
export function afterSweep(before: ShardState, patch: ShardPatch): ShardState {
  return copyOf(patched(copyOf(before), patch));
}
