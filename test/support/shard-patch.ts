import { overviewAfter } from "../../src/health/shard-overview.ts";
import { patched, recordingsAfter, type ShardPatch } from "../../src/health/shard-patch.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import { emptyShard } from "../../src/store/shard-document.ts";

/** The patch that makes this state of an empty shard. */
export function patchTo(state: ShardState): ShardPatch {
  return patchOf(emptyShard, { ...state, changed: state.recordings });
}

/** The patch of a sweep that does this to a shard, and nothing else. */
export function patchOf(
  before: Pick<ShardState, "recordings">,
  {
    sweptAt,
    gaps,
    locations,
    ...done
  }: Pick<ShardState, "sweptAt" | "gaps" | "locations"> & Partial<Parameters<typeof recordingsAfter>[1]>,
): ShardPatch {
  const all = { read: new Map(), changed: new Map(), left: new Set<string>(), ...done };
  return { sweptAt, gaps, locations, ...recordingsAfter(before, all) };
}

/** A commit of this state, whatever the shard was under the nonce. */
export function shardCommit(nonce: string, state: ShardState) {
  const patch = patchTo(state);
  const overview = overviewAfter(patch, { intervalMs: 30_000, inventory: { recording: () => undefined } });
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
