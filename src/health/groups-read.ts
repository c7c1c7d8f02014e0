/** When groups were read: their alerts are evaluated apart from the sweeps that read their recordings. */
import type { Instant } from "../lib/clock.ts";
import { groupOfSubject } from "./alert.ts";
import { type GroupEvidence, groupParts } from "./evaluate-groups.ts";
import { GAP_INTERVALS } from "./rhythm.ts";

/**
 * By id, for groups with alerts that sweeps count: since when at least half of the recordings have been read; 0: they were
 * not, lately. Undefined of none.
 */
export function groupsReadAt(
  states: Readonly<Record<string, unknown>>,
  { shards }: Pick<GroupEvidence, "shards">,
  { now, intervalMs }: { readonly now: Instant; readonly intervalMs: number },
): Record<string, Instant> | undefined {
  const ids = Object.keys(states).flatMap((key) => (key.startsWith("group/") ? key.slice("group/".length) : []));
  const groups = ids.flatMap((id) => {
    const group = groupOfSubject({ kind: "group", id });
    return group ? { id, ...group } : [];
  });
  const byLabel = new Map(
    [...new Set(groups.map(({ label }) => label))].map((label) => [label, groupParts(shards, label)]),
  );
  const found: Record<string, Instant> = {};
  for (const { id, label, value } of groups) {
    const parts = byLabel.get(label)?.get(value) ?? [];
    const sums = parts.map(
      ({ shard: { at, gapMs = GAP_INTERVALS * intervalMs }, count: { known, fresh, outside } }) => ({
        at,
        known: known + (outside?.known ?? 0),
        read: now - at > gapMs ? 0 : fresh + (outside?.fresh ?? 0),
      }),
    );
    if (parts.length > 0) found[id] = halfReadAt(sums.sort((a, b) => b.at - a.at));
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

interface Sum {
  readonly at: Instant;
  readonly known: number;
  readonly read: number;
}

/** `newest` first. */
function halfReadAt(newest: readonly Sum[]): Instant {
  let left = newest.reduce((sum, { known }) => sum + known, 0) / 2;
  const last = newest.find(({ read }) => {
    left -= read;
    return left <= 0;
  });
  return last?.at ?? 0;
}
