/** A location's history through the rules about locations: its recordings' taken together. */
import type { Transition } from "../health/evaluation.ts";
import { type LocationCount, locationEvaluator } from "../health/location-evaluator.ts";
import type { Inventory } from "../health/shard-state.ts";
import { replayRules, type Stretch } from "./replay.ts";
import { type Plan, type Span, tickBefore } from "./setup.ts";
import type { Seen } from "./statuses.ts";

export interface LocationOptions {
  readonly plan: Plan;
  readonly span: Span;
  readonly intervalMs: number;
  readonly inventory: Inventory;
}

/** `seen` by recording id. */
export function replayLocation(
  id: string,
  seen: ReadonlyMap<string, readonly Seen[]>,
  { plan, span, intervalMs, inventory }: LocationOptions,
): readonly Transition[] {
  const isNews = [...seen.values()].some((changes) => changes.some(({ status }) => status === "offline"));
  if (!isNews) return [];
  const stretches = stretchesOf(id, seen, { span, intervalMs, inventory });
  return replayRules(stretches, plan.location, intervalMs);
}

interface Change {
  readonly recordingId: string;
  readonly seen: Seen;
}

function* stretchesOf(
  id: string,
  seen: ReadonlyMap<string, readonly Seen[]>,
  { span, intervalMs, inventory }: Omit<LocationOptions, "plan">,
): Generator<Stretch> {
  const changes: Change[] = [...seen]
    .flatMap(([recordingId, own]) => own.map((one) => ({ recordingId, seen: one })))
    .sort((a, b) => a.seen.at - b.seen.at);
  const now = new Map<string, Seen>();
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
      isQuiet: count.offline.length === 0,
      evaluator: () => locationEvaluator(id, count, inventory),
    };
  }
}

/** As a sweep counts them: those whose status is known, and those outside their schedule, of whom nothing is known. */
function countOf(now: ReadonlyMap<string, Seen>): LocationCount {
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
