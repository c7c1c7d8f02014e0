/** Replays the rules about locations over the statuses of a location's recordings. */
import type { Transition } from "../health/evaluation.ts";
import { type LocationCount, locationEvaluator } from "../health/location-evaluator.ts";
import { changesBySweep, replayRules, type SteadySpan } from "./replay.ts";
import type { ReplayContext } from "./setup.ts";
import type { SeenStatus } from "./statuses.ts";

/** `seen` by recording id. */
export function replayLocation(
  id: string,
  seen: ReadonlyMap<string, readonly SeenStatus[]>,
  context: Pick<ReplayContext, "setup" | "plan" | "span" | "inventory">,
): readonly Transition[] {
  const { setup, plan, span, inventory } = context;
  const { statusIntervalMs: intervalMs } = setup;
  const all = [...seen].flatMap(([recordingId, own]) => own.map((one) => ({ ...one, recordingId })));
  if (!all.some(({ status }) => status === "offline")) return [];
  const latest = new Map<string, SeenStatus>();
  const spans = changesBySweep(all, span, intervalMs).map(({ changes, ...sweeps }): SteadySpan => {
    for (const change of changes) latest.set(change.recordingId, change);
    const count = countOf(latest);
    const isClear = count.offline.length === 0;
    return { ...sweeps, isClear, evaluator: () => locationEvaluator(id, count, inventory) };
  });
  return replayRules(spans, plan.location, intervalMs);
}

/** As a sweep counts: recordings with a known status, and whether some are outside their schedule. */
function countOf(latest: ReadonlyMap<string, SeenStatus>): LocationCount {
  const known = [...latest].filter(([, { status }]) => status !== undefined);
  return {
    fresh: known.length,
    offline: known.flatMap(([id, { status, since }]) => (status === "offline" ? [{ id, since }] : [])),
    sampleId: latest.keys().next().value ?? "",
    outside: latest.values().some(({ outside }) => outside) ? { fresh: 0, offline: [] } : undefined,
  };
}
