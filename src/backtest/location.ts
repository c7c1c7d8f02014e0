/** Replays the rules about locations over the statuses of a location's recordings. */
import type { Transition } from "../health/evaluation.ts";
import { type LocationCount, locationEvaluator } from "../health/location-evaluator.ts";
import type { Inventory } from "../health/shard-state.ts";
import { replayRules, type SteadySpan } from "./replay.ts";
import { type Plan, type TimeSpan, tickBefore } from "./setup.ts";
import type { SeenStatus } from "./statuses.ts";

interface LocationOptions {
  readonly plan: Plan;
  readonly span: TimeSpan;
  readonly intervalMs: number;
  readonly inventory: Inventory;
}

/** `seen` by recording id. */
export function replayLocation(
  id: string,
  seen: ReadonlyMap<string, readonly SeenStatus[]>,
  { plan, span, intervalMs, inventory }: LocationOptions,
): readonly Transition[] {
  const hasOffline = [...seen.values()].some((changes) => changes.some(({ status }) => status === "offline"));
  if (!hasOffline) return [];
  const spans = spansOf(id, seen, { span, intervalMs, inventory });
  return replayRules(spans, plan.location, intervalMs);
}

interface Change {
  readonly recordingId: string;
  readonly seen: SeenStatus;
}

function* spansOf(
  id: string,
  seen: ReadonlyMap<string, readonly SeenStatus[]>,
  { span, intervalMs, inventory }: Omit<LocationOptions, "plan">,
): Generator<SteadySpan> {
  const changes: Change[] = [...seen]
    .flatMap(([recordingId, own]) => own.map((one) => ({ recordingId, seen: one })))
    .sort((a, b) => a.seen.at - b.seen.at);
  const now = new Map<string, SeenStatus>();
  const end = tickBefore(span.to, intervalMs) + intervalMs;
  for (let i = 0; i < changes.length; ) {
    const from = changes[i]?.seen.at ?? end;
    for (; changes[i]?.seen.at === from; i++) {
      const change = changes[i];
      if (change) now.set(change.recordingId, change.seen);
    }
    const count = countOf(now);
    yield {
      from,
      to: (changes[i]?.seen.at ?? end) - intervalMs,
      isClear: count.offline.length === 0,
      evaluator: () => locationEvaluator(id, count, inventory),
    };
  }
}

/** As a sweep counts: recordings with a known status, and whether some are outside their schedule. */
function countOf(now: ReadonlyMap<string, SeenStatus>): LocationCount {
  const offline: LocationCount["offline"] = [];
  let [fresh, outside, sampleId] = [0, false, ""];
  for (const [id, seen] of now) {
    sampleId ||= id;
    outside ||= seen.outside;
    if (seen.status === undefined) continue;
    fresh++;
    if (seen.status !== "online") offline.push({ id, since: seen.since });
  }
  return { fresh, offline, sampleId, outside: outside ? { fresh: 0, offline: [] } : undefined };
}
