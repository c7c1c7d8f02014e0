/** The outcome of a sweep for a shard: only what changed, and what was read of the rest. */
import type { Instant } from "../lib/clock.ts";
import type { Reading } from "./recording.ts";
import type { LocationState, RecordingState, ShardState } from "./shard-state.ts";

/** Every recording is noted, changed or left. */
export interface ShardPatch {
  readonly sweptAt: Instant;
  readonly gaps?: readonly number[] | undefined;
  /** Recordings of which nothing cold changed, by id, with what was read of them if anything was. */
  readonly noted: ReadonlyMap<string, Pick<Reading, "lastSeenAt" | "averageQuality"> | undefined>;
  /** New recordings, and those of which something cold changed. */
  readonly changed: ReadonlyMap<string, RecordingState>;
  readonly left: ReadonlySet<string>;
  readonly locations: ReadonlyMap<string, LocationState>;
}

/** The same recordings belong to the shard after the sweep. */
export function keepsMembers({ recordings }: ShardState, { changed, left }: ShardPatch): boolean {
  return left.values().every((id) => !recordings.has(id)) && changed.keys().every((id) => recordings.has(id));
}

/** The recordings after the sweep; hot values are those of before where nothing else changed. */
export function statesAfter(
  { recordings }: ShardState,
  { changed, left }: Pick<ShardPatch, "changed" | "left">,
): RecordingState[] {
  const known = [...recordings.values()];
  if (changed.size + left.size === 0) return known;
  const kept = left.size === 0 ? known : known.filter(({ id }) => !left.has(id));
  const after = kept.map((state) => changed.get(state.id) ?? state);
  for (const [id, state] of changed) if (!recordings.has(id)) after.push(state);
  return after;
}

/** Recordings in the order of a shard: by id. */
export function inOrder(states: Iterable<RecordingState>): Map<string, RecordingState> {
  const sorted = [...states].sort((a, b) => (a.id < b.id ? -1 : 1));
  return new Map(sorted.map((state) => [state.id, state]));
}

/** The shard after the sweep. Hot values, and states of the same recordings, are replaced in place. */
export function patched(shard: ShardState, patch: ShardPatch): ShardState {
  const { sweptAt, gaps, noted, changed, locations } = patch;
  noted.forEach((read, id) => {
    const state = shard.recordings.get(id);
    if (!state || !read) return;
    state.readAt = sweptAt;
    state.lastSeenAt = read.lastSeenAt;
    state.averageQuality = read.averageQuality;
  });
  if (!keepsMembers(shard, patch)) return { sweptAt, gaps, recordings: inOrder(statesAfter(shard, patch)), locations };
  for (const [id, state] of changed) shard.recordings.set(id, state);
  return { sweptAt, gaps, recordings: shard.recordings, locations };
}
