/** A backtest: histories are added one by one and not stored; locations are replayed at the end. */

import { type LocationCount, locationEvaluator } from "../health/evaluate-locations.ts";
import type { Transition } from "../health/evaluation.ts";
import type { RecordingUptime } from "../health/recording.ts";
import { replayRecording } from "./recording.ts";
import { changesBySweep, replayRules, type SteadySpan } from "./replay.ts";
import { planOf, type ReplayContext, type ReplaySetup } from "./setup.ts";
import type { SeenStatus } from "./statuses.ts";
import { type BacktestCounts, countEpisodes } from "./tally.ts";

const MOST_TRANSITIONS = 1_000_000;

/** The history that the first uptime ratio of the span needs, ms. */
export function leadMs(rules: ReplaySetup["rules"]): number {
  return Math.max(0, ...planOf(rules).windows.map(({ overMs }) => overMs));
}

export function createBacktest(options: Omit<ReplayContext, "plan">, { mostTransitions = MOST_TRANSITIONS } = {}) {
  const { setup, span } = options;
  const plan = planOf(setup.rules);
  const context = { ...options, plan };
  const transitions: Transition[] = [];
  const locations = new Map<string, Map<string, readonly SeenStatus[]>>();

  function keep(more: readonly Transition[]): void {
    for (const transition of more) transitions.push(transition);
  }

  return {
    plan,

    /** False once there are too many transitions: then nothing more is added. */
    add(uptime: RecordingUptime): boolean {
      const { id, locationId } = uptime.recording;
      if (!setup.isWatched(id, locationId)) return true;
      if (transitions.length > mostTransitions) return false;
      const replay = replayRecording(uptime, context);
      keep(replay.transitions);
      if (plan.location.length === 0) return true;
      const here = locations.get(locationId) ?? new Map<string, readonly SeenStatus[]>();
      locations.set(locationId, here.set(id, replay.seen));
      return true;
    },

    /** Adds transitions of rules about counts. */
    keep,

    result(): BacktestCounts {
      for (const [id, seen] of locations) keep(replayLocation(id, seen, context));
      transitions.sort((a, b) => a.alert.updatedAt - b.alert.updatedAt);
      return countEpisodes(transitions, { setup, span });
    },
  };
}

/** Limits of a backtest, one sentence each. */
export const notShown: readonly string[] = [
  "Statuses are derived from uptime buckets: a bucket in which segments were expected and none arrived counts as offline for its whole length, any other as online. Outages and status changes shorter than a bucket (usually an hour) are not visible, and longer outages look up to two buckets shorter.",
  "The replay starts without earlier alerts: a problem that exists on the first day begins then. Schedules are as recorded, while the daemon has to learn them first.",
  "Times when the service was unreachable are not included, nor are recordings that have left the fleet. Routes, inhibition and silences decide what is sent of these alerts.",
];

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
    const count = countOf(latest, inventory);
    const isClear = count.offline.length === 0;
    return { ...sweeps, isClear, evaluator: () => locationEvaluator(id, count, inventory) };
  });
  return replayRules(spans, plan.location, intervalMs);
}

/** The count of a sweep: recordings with a known status, and those outside their schedule. */
function countOf(latest: ReadonlyMap<string, SeenStatus>, inventory: ReplayContext["inventory"]): LocationCount {
  const [sample = ""] = latest.keys();
  const fresh = [...latest].filter(([, { status }]) => status !== undefined);
  const outside = latest.values().reduce((sum, one) => sum + (one.outside ? 1 : 0), 0);
  return {
    known: latest.size - outside,
    fresh: fresh.length,
    offline: fresh.flatMap(([id, { status, since }]) => (status === "offline" ? [{ id, since }] : [])),
    shared: { timezone: inventory.recording(sample)?.timezone },
    outside: outside > 0 ? { known: outside, fresh: 0, offline: [] } : undefined,
  };
}
