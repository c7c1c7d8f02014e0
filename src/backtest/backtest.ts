/**
 * A backtest: recordings' histories are added one by one, in any order, and are not kept; in the end come locations,
 * which need all of theirs, and messages, which need everybody.
 */
import type { Transition } from "../health/evaluation.ts";
import type { RecordingUptime } from "../health/recording.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { replayLocation } from "./location.ts";
import { messagesOf } from "./messages.ts";
import { replayRecording } from "./recording.ts";
import { type Plan, planOf, type Setup, type Span } from "./setup.ts";
import type { Seen } from "./statuses.ts";
import { type Tally, tally } from "./tally.ts";

/** More would be more than anybody reads, and than memory holds. */
const MOST_TRANSITIONS = 1_000_000;

export interface Backtest {
  readonly plan: Plan;
  /** False once more would have fired than can be counted: then nothing more is added. */
  add(uptime: RecordingUptime): boolean;
  result(): Tally;
}

export interface BacktestOptions {
  readonly setup: Setup;
  readonly span: Span;
  /** The present. */
  readonly now: Instant;
  readonly inventory: Inventory;
  /** Beginnings, ends and pauses of alerts that are counted at most; a million unless given. */
  readonly mostTransitions?: number;
}

/** How far back from the span history is needed for its first figure, ms. */
export function leadMs(rules: Setup["rules"]): number {
  return Math.max(0, ...planOf(rules).windows.map(({ overMs }) => overMs));
}

export function createBacktest(options: BacktestOptions): Backtest {
  const { setup, span, now, inventory, mostTransitions = MOST_TRANSITIONS } = options;
  const plan = planOf(setup.rules);
  const transitions: Transition[] = [];
  const locations = new Map<string, Map<string, readonly Seen[]>>();
  const intervalMs = setup.statusIntervalMs;

  function keep(more: readonly Transition[]): void {
    for (const transition of more) transitions.push(transition);
  }

  return {
    plan,

    add(uptime) {
      const { id, locationId } = uptime.recording;
      if (!setup.isWatched(id, locationId)) return true;
      if (transitions.length > mostTransitions) return false;
      const replay = replayRecording(uptime, { setup, plan, span, now, inventory });
      keep(replay.transitions);
      if (plan.location.length === 0) return true;
      const here = locations.get(locationId) ?? new Map<string, readonly Seen[]>();
      locations.set(locationId, here.set(id, replay.seen));
      return true;
    },

    result() {
      for (const [id, seen] of locations)
        keep(replayLocation(id, seen, { plan, span, intervalMs, inventory }));
      transitions.sort((a, b) => a.alert.updatedAt - b.alert.updatedAt);
      return tally({
        transitions,
        messages: messagesOf(transitions, setup, span.to),
        span,
        ruleIds: setup.rules.map(({ id }) => id),
        receivers: setup.receivers.map(({ name }) => name),
      });
    },
  };
}

/** What history cannot show, a sentence each. */
export const notShown: readonly string[] = [
  "Statuses are guessed: a bucket in which segments were expected and none came counts as offline from its first minute to its last, any other as online. Outages and flips shorter than a bucket (an hour, as a rule) leave no trace in statuses, and longer ones look up to two buckets shorter than they were.",
  "Before the first day nothing was told: what was wrong already begins on it. Schedules are taken as they were, which the daemon has to learn first.",
  "Silences, acknowledgements, restarts, failed sends and time lenswatch could not see are not in it, nor recordings that have left the fleet since; messages are what an integration would get that takes each at once.",
];
