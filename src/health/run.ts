/** One judgement under way: what it reads, and what it gathers. Lives as long as a call of `judgeShard`. */

import { applyRules, endAlerts, type Moment } from "./apply-rules.ts";
import { Census } from "./census.ts";
import { type CompiledRules, compileRules } from "./compile-rules.ts";
import type { DecisionReason, EvaluationContext, Outcomes } from "./evaluation.ts";
import type { Sample } from "./recording-conditions.ts";
import { recordingEvaluator } from "./recording-evaluator.ts";
import type { RecordingState, ShardState } from "./shard-state.ts";

/** Two good readings further apart than this many intervals say nothing about the time between. */
export const GAP_INTERVALS = 3;

const NONE: ReadonlySet<string> = new Set();

export interface Run {
  readonly previous: ShardState;
  readonly context: EvaluationContext;
  readonly moment: Moment;
  readonly book: CompiledRules;
  readonly watched: ReadonlySet<string>;
  /** Recordings with a low uptime, a set for each rule about it; undefined where each has to be asked for. */
  readonly low: readonly ReadonlySet<string>[] | undefined;
  /** Undefined where no rule asks about locations. */
  readonly census: Census | undefined;
  readonly next: Map<string, RecordingState>;
  /** The previous state in its order, which is the order rows mostly come in. */
  readonly walk: Iterator<RecordingState, undefined>;
  /** The one the next row is expected to be about. */
  ahead: RecordingState | undefined;
  /** Whether any row was about another. */
  strayed: boolean;
  /** The last location that was found to be watched. */
  place: string | undefined;
  /** Recordings of the previous state that are not judged here any more. */
  readonly left: Set<string>;
  /** How many recordings of the previous state are dealt with. */
  carried: number;
  readonly out: Outcomes;
}

export function beginRun(previous: ShardState, context: EvaluationContext): Run {
  const book = compileRules(context.rules);
  const walk = previous.recordings.values();
  return {
    previous,
    context,
    moment: { now: context.now, maxGapMs: GAP_INTERVALS * context.intervalMs },
    book,
    watched: new Set(context.locationIds.filter((id) => !context.excluded.has(id))),
    low:
      context.lowUptimes &&
      book.uptimes.map(({ overMs, below }) => context.lowUptimes?.(overMs, below) ?? NONE),
    census: book.location.length > 0 ? new Census() : undefined,
    next: new Map(),
    walk,
    ahead: walk.next().value,
    strayed: false,
    place: undefined,
    left: new Set(),
    carried: 0,
    out: { transitions: [], decisions: [] },
  };
}

/** What was known of the recording of the next row. */
export function previousOf(run: Run, id: string): RecordingState | undefined {
  const { ahead } = run;
  if (ahead?.id === id) {
    run.ahead = run.walk.next().value;
    return ahead;
  }
  run.strayed = true;
  return run.previous.recordings.get(id);
}

export function hasLowUptime({ low, book, context }: Run, id: string): boolean {
  if (low) return low.some((ids) => ids.has(id));
  return book.uptimes.some(({ below, overMs }) => (context.uptime(id, overMs) ?? below) < below);
}

/** Whether an earlier row was about it; that takes a row out of order. */
export function isDealtWith({ strayed, next, left }: Run, id: string): boolean {
  return strayed && (next.has(id) || left.has(id));
}

export function isWatched(run: Run, id: string, locationId: string): boolean {
  const { watched, context } = run;
  if (run.place !== locationId && !watched.has(locationId)) return false;
  run.place = locationId;
  return context.excluded.size === 0 || !context.excluded.has(id);
}

/** The recording with its alerts moved by what it showed. */
export function withAlerts(run: Run, sample: Sample): RecordingState {
  const { state } = sample;
  const evaluator = recordingEvaluator(sample, run.context);
  const alerts = applyRules(evaluator, state.alerts, run.book.recording, run.moment, run.out);
  return alerts === state.alerts ? state : { ...state, alerts };
}

/** Remembers the recording, and counts it for its location when its last good reading is fresh. */
export function commit({ next, census, context, moment }: Run, state: RecordingState): void {
  next.set(state.id, state);
  if (!census || state.status === undefined || moment.now - state.readAt > moment.maxGapMs) return;
  const within = context.inSchedule(state.id);
  if (state.status === "offline") census.offline(state.locationId, state.id, within, state.since);
  else census.online(state.locationId, state.id, within);
}

/** Lets go of a recording; alerts of it end as no longer watched. */
export function leave(
  run: Run,
  state: RecordingState,
  reason: "no_longer_watched" | "moved" | "forgotten",
): void {
  run.left.add(state.id);
  run.carried++;
  decide(run, state.id, reason);
  endAlerts({ kind: "recording", id: state.id }, state.alerts, "no_longer_watched", run.moment.now, run.out);
}

export function decide({ out, moment }: Run, id: string, reason: DecisionReason): void {
  out.decisions.push({ subject: { kind: "recording", id }, ruleId: undefined, reason, at: moment.now });
}
