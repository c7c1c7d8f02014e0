/** The outcome of a sweep for a shard: what changed, and what was read of the rest. */
import type { Instant } from "../lib/clock.ts";
import type { Reading } from "./recording.ts";
import type { LocationState, RecordingState, ShardState } from "./shard-state.ts";

type Read = Pick<Reading, "lastSeenAt" | "averageQuality">;

export interface ShardPatch {
  readonly sweptAt: Instant;
  readonly gaps?: readonly number[] | undefined;
  /** The recordings after the sweep, in the order of their ids. */
  readonly states: readonly RecordingState[];
  /** What was read of each, at the same place, where nothing cold changed; else its hot values are those of its state. */
  readonly reads: readonly (Read | undefined)[];
  /** New recordings, and those of which something cold changed. */
  readonly changed: ReadonlyMap<string, RecordingState>;
  /** The shard has the same recordings as before. */
  readonly isSame: boolean;
  readonly locations: ReadonlyMap<string, LocationState>;
}

/** The recordings after a sweep that read, changed and dropped some of those before. */
export function recordingsAfter(
  { recordings }: Pick<ShardState, "recordings">,
  {
    read,
    changed,
    left,
  }: Pick<ShardPatch, "changed"> & {
    readonly read: ReadonlyMap<string, Read | undefined>;
    readonly left: ReadonlySet<string>;
  },
): Pick<ShardPatch, "states" | "reads" | "changed" | "isSame"> {
  const known = [...recordings.values()];
  const added = [...changed.values()].filter(({ id }) => !recordings.has(id));
  const kept = left.size === 0 ? known : known.filter(({ id }) => !left.has(id));
  const states = changed.size === 0 ? kept : kept.map((state) => changed.get(state.id) ?? state);
  if (added.length > 0) states.push(...added);
  if (added.length > 0) states.sort(byId);
  const isSame = added.length === 0 && kept.length === known.length;
  return { states, reads: states.map(({ id }) => read.get(id)), changed, isSame };
}

export function byId(a: RecordingState, b: RecordingState): number {
  return a.id < b.id ? -1 : 1;
}

/** The shard after the sweep. Hot values, and states of the same recordings, are replaced in place. */
export function patched({ recordings }: ShardState, patch: ShardPatch): ShardState {
  const { sweptAt, gaps, states, reads, changed, isSame, locations } = patch;
  const after = isSame ? recordings : new Map(states.map((state) => [state.id, changed.get(state.id) ?? { ...state }]));
  let place = 0;
  for (const state of after.values()) {
    const read = reads[place++];
    if (!read) continue;
    state.readAt = sweptAt;
    state.lastSeenAt = read.lastSeenAt;
    state.averageQuality = read.averageQuality;
  }
  if (isSame) for (const [id, state] of changed) after.set(id, state);
  return { sweptAt, gaps, recordings: after, locations };
}
