/** Shards change beside sweeps: locations move from one to another, leave the fleet, rules go. */
import type { Instant } from "../lib/clock.ts";
import type { Judgement, Outcomes } from "./judgement.ts";
import type { Rule } from "./rule.ts";
import { compileRules } from "./rulebook.ts";
import type { AlertStates, LocationState, RecordingState, ShardState } from "./state.ts";
import { endAlerts, endRemoved } from "./subject.ts";

/** Moves locations with their recordings and alerts as they are: nothing begins, nothing ends. */
export function reassign(
  from: ShardState,
  to: ShardState,
  locationIds: ReadonlySet<string>,
): { readonly from: ShardState; readonly to: ShardState } {
  const [kept, moved] = split(from, locationIds);
  return {
    from: kept,
    to: {
      sweptAt: Math.max(to.sweptAt, from.sweptAt),
      recordings: new Map([...to.recordings, ...merged(moved.recordings, to.recordings)]),
      locations: new Map([...to.locations, ...moved.locations]),
    },
  };
}

/** Ends what is said of locations that are watched no more, and forgets them. Needs no good sweep. */
export function removeLocations(
  previous: ShardState,
  locationIds: ReadonlySet<string>,
  now: Instant,
): Judgement {
  const [next, gone] = split(previous, locationIds);
  const out: Outcomes = { transitions: [], decisions: [] };
  for (const { id, alerts } of gone.recordings.values()) {
    const subject = { kind: "recording", id } as const;
    out.decisions.push({ subject, ruleId: undefined, reason: "no_longer_watched", at: now });
    endAlerts(subject, alerts, "no_longer_watched", now, out);
  }
  for (const { id, alerts } of gone.locations.values()) {
    endAlerts({ kind: "location", id }, alerts, "no_longer_watched", now, out);
  }
  return { next, ...out };
}

/** Ends alerts of rules that are configured no more. Needs no good sweep. */
export function removeRules(previous: ShardState, rules: readonly Rule[], now: Instant): Judgement {
  const book = compileRules(rules);
  const out: Outcomes = { transitions: [], decisions: [] };
  const recordings = new Map<string, RecordingState>();
  for (const state of previous.recordings.values()) {
    recordings.set(state.id, withoutRemoved(state, "recording", book.recording, now, out));
  }
  const locations = new Map<string, LocationState>();
  for (const state of previous.locations.values()) {
    locations.set(state.id, withoutRemoved(state, "location", book.location, now, out));
  }
  return { next: { ...previous, recordings, locations }, ...out };
}

function withoutRemoved<State extends { readonly id: string; readonly alerts: AlertStates | undefined }>(
  state: State,
  kind: "recording" | "location",
  rules: readonly Rule[],
  now: Instant,
  out: Outcomes,
): State {
  if (!state.alerts) return state;
  endRemoved({ kind, id: state.id }, state.alerts, rules, now, out);
  const left = Object.entries(state.alerts).filter(([ruleId]) => rules.some(({ id }) => id === ruleId));
  return { ...state, alerts: left.length > 0 ? Object.fromEntries(left) : undefined };
}

/** The shard without these locations, and with nothing but them. */
function split(shard: ShardState, locationIds: ReadonlySet<string>): [ShardState, ShardState] {
  const part = (inside: boolean): ShardState => ({
    sweptAt: shard.sweptAt,
    recordings: new Map([...shard.recordings].filter(([, r]) => locationIds.has(r.locationId) === inside)),
    locations: new Map([...shard.locations].filter(([id]) => locationIds.has(id) === inside)),
  });
  return [part(false), part(true)];
}

/** A recording that stands in both shards keeps the later reading and the alerts of both. */
function merged(
  moved: ReadonlyMap<string, RecordingState>,
  present: ReadonlyMap<string, RecordingState>,
): [string, RecordingState][] {
  return [...moved].map(([id, state]) => {
    const other = present.get(id);
    if (!other) return [id, state];
    const [older, newer] = other.readAt <= state.readAt ? [other, state] : [state, other];
    return [id, older.alerts ? { ...newer, alerts: { ...older.alerts, ...newer.alerts } } : newer];
  });
}
