/** Alerts that fire are stored twice, by themselves and in the state of their shard: either is made of the other where it was lost. */

import type { Instant } from "../lib/clock.ts";
import type { Alert } from "./alert.ts";
import type { AlertState, AlertStates } from "./alert-machine.ts";
import { toAlert } from "./apply-rules.ts";
import type { SelfAlertState } from "./evaluate-self.ts";
import { afterPresence, type RecordingState, type ShardState } from "./shard-state.ts";

/** A shard of which nothing is stored: the alerts that fire at these locations go on in it. Its recordings are not read. */
export function shardOfAlerts(firing: readonly Alert[], locationIds: readonly string[], now: Instant): ShardState {
  const ids = new Set(locationIds);
  const about = (kind: Alert["subject"]["kind"]) =>
    Map.groupBy(
      firing.filter(({ subject }) => subject.kind === kind),
      ({ subject }) => subject.id,
    );
  const recordings = [...about("recording")].map(([id, alerts]) => recordingOf(id, alerts));
  const here = recordings.filter((one) => ids.has(one.locationId));
  const locations = [...about("location")].filter(([id]) => ids.has(id));
  return {
    sweptAt: 0,
    recordings: new Map(here.map((one) => [one.id, { ...one, absentSince: now }])),
    locations: new Map(locations.map(([id, alerts]) => [id, { id, alerts: alertStatesOf(alerts) }])),
  };
}

/** The same of self alerts. */
export function selfAlertsOf(firing: readonly Alert[]): SelfAlertState {
  const own = firing.filter(({ subject }) => ["service", "integration", "directory", "group"].includes(subject.kind));
  const bySubject = Map.groupBy(own, ({ subject }) => `${subject.kind}/${subject.id}`);
  return Object.fromEntries([...bySubject].map(([key, alerts]) => [key, alertStatesOf(alerts)]));
}

/** A recording of which only its alerts are known. */
export function recordingOf(id: string, alerts: readonly Alert[]): RecordingState {
  const since = Math.min(...alerts.map(({ startsAt }) => startsAt));
  return { ...afterPresence(undefined, id, alerts[0]?.labels.location_id ?? "", since), alerts: alertStatesOf(alerts) };
}

/** The alerts that fire in a shard. */
export function firingIn({ recordings, locations }: ShardState, now: Instant): Alert[] {
  const of = (kind: Alert["subject"]["kind"], { id, alerts = {} }: Pick<RecordingState, "id" | "alerts">) =>
    Object.entries(alerts).flatMap(([ruleId, state]) =>
      state.state === "firing" ? toAlert({ kind, id }, ruleId, state, now) : [],
    );
  return [
    ...recordings.values().flatMap((one) => (one.alerts ? of("recording", one) : [])),
    ...locations.values().flatMap((one) => (one.alerts ? of("location", one) : [])),
  ];
}

/** The states of alerts by rule. */
function alertStatesOf(alerts: readonly Alert[]): AlertStates {
  return Object.fromEntries(alerts.map((alert) => [alert.ruleId, stateOf(alert)]));
}

function stateOf({ startsAt, firedAt, updatedAt, labels, annotations, facts }: Alert): AlertState {
  return { state: "firing", startsAt, elapsedMs: 0, evidenceAt: updatedAt, firedAt, labels, annotations, facts };
}
