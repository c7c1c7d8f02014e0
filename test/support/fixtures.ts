/** Values of the domain for tests: complete ones, with what matters to the test passed as changes. */

import type { Silence } from "../../src/alerting/silence.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { AlertState } from "../../src/health/alert-machine.ts";
import type { Recording, UptimeBucket } from "../../src/health/recording.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import type { StoredEpisode } from "../../src/store/episodes.ts";

/**
 * A firing alert. Rule and subject follow from the labels: a recording, else a location, else the service; without
 * labels, RecordingOffline of `rec-1`. The episode began and fired at `startsAt`, 0 by default.
 */
export function anAlert(changes: Partial<Alert> = {}): Alert {
  const { labels = { alertname: "RecordingOffline", recording_id: "rec-1" }, startsAt = 0 } = changes;
  const subject = changes.subject ?? subjectOf(labels);
  const ruleId = changes.ruleId ?? labels.alertname ?? "";
  const key = changes.key ?? `${ruleId}/${subject.kind}/${subject.id}`;
  const firedAt = changes.firedAt ?? startsAt;
  return {
    id: `${key}@${firedAt}`,
    key,
    ruleId,
    subject,
    labels,
    annotations: {},
    state: "firing",
    startsAt,
    firedAt,
    updatedAt: firedAt,
    facts: { timezone: "UTC" },
    ...changes,
  };
}

function subjectOf({ recording_id, location_id }: Alert["labels"]): Alert["subject"] {
  if (recording_id) return { kind: "recording", id: recording_id };
  return location_id ? { kind: "location", id: location_id } : { kind: "service", id: "service" };
}

/** A firing alert of RecordingOffline of a recording. */
export function offlineAlert(recordingId: string, changes: Partial<Alert> = {}): Alert {
  const labels = { alertname: "RecordingOffline", recording_id: recordingId };
  return anAlert({ labels, ...changes });
}

/** The same episode, resolved at `endsAt`. */
export function resolvedAlert(alert: Alert, endsAt: number, changes: Partial<Alert> = {}): Alert {
  return { ...alert, state: "resolved", updatedAt: endsAt, endsAt, endReason: "recovered", ...changes };
}

/** A stored episode, of RecordingOffline of `rec-1` unless changed; open without `endsAt`. */
export function anEpisode(
  startsAt: number,
  endsAt: number | undefined,
  changes: Partial<StoredEpisode> = {},
): StoredEpisode {
  const { alertname = "RecordingOffline", subject = { kind: "recording", id: "rec-1" } as const } = changes;
  return {
    ...{ id: `${alertname}/${subject.kind}/${subject.id}@${startsAt}`, ruleId: alertname, alertname, subject },
    ...{ startsAt, endsAt, endReason: endsAt === undefined ? undefined : "recovered" },
    ...changes,
  };
}

/** A firing alert as a shard stores it, at time 0. */
export function anAlertState(changes: Partial<AlertState> = {}): AlertState {
  return {
    state: "firing",
    startsAt: 0,
    elapsedMs: 0,
    evidenceAt: 0,
    firedAt: 0,
    labels: {},
    annotations: {},
    facts: { timezone: "UTC" },
    ...changes,
  };
}

/** A recording without a schedule, at location L1 in London. */
export function aRecording(id: string, changes: Partial<Recording> = {}): Recording {
  return {
    id,
    name: `Camera ${id}`,
    organisation: "org1",
    cameraServer: "cs1",
    locationId: "L1",
    useUploadingSchedule: false,
    timezone: "Europe/London",
    ...changes,
  };
}

/** The state of an online recording, read at `readAt`, 0 by default. */
export function aRecordingState(id: string, changes: Partial<RecordingState> = {}): RecordingState {
  const readAt = changes.readAt ?? 0;
  return {
    id,
    locationId: "L1",
    status: "online",
    readAt,
    since: readAt,
    lastSeenAt: readAt,
    averageQuality: 1,
    onlineSeenAt: undefined,
    absentSince: undefined,
    history: undefined,
    outage: undefined,
    alerts: undefined,
    ...changes,
  };
}

/** An hour or a day within the schedule with that overall uptime, 0–1; undefined is the service's null. */
export function anUptimeBucket(
  startAt: number,
  overallUptime: number | undefined,
  changes: Partial<UptimeBucket> = {},
): UptimeBucket {
  return {
    startAt,
    withinSchedule: true,
    segmentsExpected: 60,
    segmentsReceived: undefined,
    avgUptimeOnSegment: undefined,
    pcSegmentsReceived: undefined,
    overallUptime,
    ...changes,
  };
}

/** What is stored with the summary of a cold start. */
export const aStart = { complete: true, unsettled: 0, recordings: 480, locations: 60, watched: [] } as const;

/** A silence of everything, from time 0 on. */
export function aSilence(changes: Partial<Silence> = {}): Silence {
  return {
    id: "s1",
    matchers: [],
    startsAt: 0,
    endsAt: Number.MAX_SAFE_INTEGER,
    updatedAt: 0,
    createdBy: "dana",
    comment: "rewiring",
    annotations: {},
    ...changes,
  };
}
