/** A small fleet with some trouble, and its alerts. */

import type { Alert } from "../../../src/health/alert.ts";
import { noteQuality, type QualityHistory } from "../../../src/health/quality.ts";
import type { FleetSnapshot } from "../../../src/health/shard-state.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import type { UptimeKept } from "../../../src/poll/uptime-reader.ts";
import type { Report } from "../../../src/report/report.ts";
import { noLoss } from "../../../src/report/tally.ts";
import { alertState, fleetOf, INTERVAL, NOW, recordingState } from "../../metrics/fleets.ts";
import { anAlert, anUptimeBucket } from "../../support/fixtures.ts";

const MINUTE = 60_000;

/** An alert that fires at a recording of Leeds, unless it differs. */
export function alertOf(alertname: string, differing: Partial<Alert> = {}): Alert {
  const { id = "till-3" } = differing.subject ?? {};
  const key = `${alertname}/${id}`;
  return anAlert({
    key,
    id: `${key}@${NOW - 10 * MINUTE}`,
    ruleId: alertname,
    subject: { kind: "recording", id },
    labels: {
      alertname,
      severity: "critical",
      recording_id: "till-3",
      recording: "Till 3",
      location_id: "leeds",
      location: "Leeds Briggate",
    },
    annotations: { summary: "Till 3 at Leeds Briggate is offline", description: "Camera server cs-1." },
    startsAt: NOW - 12 * MINUTE,
    firedAt: NOW - 10 * MINUTE,
    updatedAt: NOW,
    facts: { timezone: "Europe/London", problem: "offline" },
    ...differing,
  });
}

/** The service is out of reach: lenswatch is blind. */
export const unreachable: Alert = alertOf("ServiceUnreachable", {
  subject: { kind: "service", id: "analytics" },
  labels: { alertname: "ServiceUnreachable", severity: "critical" },
  annotations: {
    summary: "The analytics service cannot be reached",
    description: "No sweep succeeds: recordings keep their last known state.",
  },
  facts: { timezone: "UTC", problem: "service_unreachable", detail: "status/uptime timed out after 20 s." },
});

/** Of one location. */
export function aReport(name: string): Report {
  const loss = { ...noLoss(), recordings: 2, expectedMs: 20 * 3_600_000, knownMs: 18 * 3_600_000, recording: 90_000 };
  const period = { from: NOW - 86_400_000, to: NOW, label: "Fri 30 Jan 2026" };
  return { now: NOW, period, total: loss, rows: [{ id: "leeds", name, loss }] };
}

export function active(...alerts: readonly Alert[]): () => Promise<ActiveAlert[]> {
  return async () => alerts.map((alert) => ({ alert, receivers: ["ops"] }));
}

const names = {
  "till-3": "Till 3",
  entrance: "Entrance",
  stairs: "Stairs",
  shoes: "Shoes",
  café: "Café",
  door: "Door",
};

/** Three locations: one with trouble, one of which part is not known, one where all is well. */
export const smallFleet: FleetSnapshot = fleetOf({
  recordings: [
    recordingState("entrance", { locationId: "leeds" }),
    recordingState("till-3", {
      locationId: "leeds",
      status: "offline",
      since: NOW - 12 * MINUTE,
      lastSeenAt: NOW - 12 * MINUTE,
      averageQuality: 0,
      alerts: {
        RecordingOffline: alertState("RecordingOffline", {
          startsAt: NOW - 12 * MINUTE,
          annotations: { description: "Camera server cs-1." },
          facts: { timezone: "Europe/London", problem: "offline" },
        }),
        LowUptime: alertState("LowUptime", {
          state: "pending",
          labels: { alertname: "LowUptime", severity: "warning" },
          facts: { timezone: "Europe/London", problem: "low_uptime", overallUptime: 0.9312 },
        }),
      },
    }),
    recordingState("stairs", { locationId: "york", readAt: NOW - 4 * INTERVAL }),
    recordingState("shoes", { locationId: "york", status: "degraded", averageQuality: 0.61 }),
    recordingState("café", { locationId: "bath", status: "online" }),
    recordingState("door", { locationId: "bath" }),
  ],
  names,
  locations: [
    { id: "leeds", name: "Leeds Briggate" },
    { id: "york", name: "York" },
    { id: "bath", name: "Bath" },
  ],
  uptimes: { "till-3": 0.9312, entrance: 1 },
});

/** Uptime of some days and hours, good and bad, and a quality that falls. */
export function keptUptime(): UptimeKept {
  const hours = Array.from({ length: 60 }, (_, i) => 62 - i);
  const buckets = hours.map((hoursAgo) =>
    anUptimeBucket(NOW - hoursAgo * 60 * MINUTE, hoursAgo % 7 === 0 ? undefined : (hoursAgo % 11) / 10, {
      withinSchedule: hoursAgo % 24 > 4,
    }),
  );
  const quality = hours.reduce<QualityHistory | undefined>(
    (history, hoursAgo) => noteQuality(history, hoursAgo / 62, NOW - hoursAgo * 60 * MINUTE),
    undefined,
  );
  const days = { "2026-01-20": { ratio: 0.5, segmentsExpected: 60 }, "2026-01-21": { ratio: 1, segmentsExpected: 60 } };
  return { buckets, days, timezone: "Europe/London", quality };
}
