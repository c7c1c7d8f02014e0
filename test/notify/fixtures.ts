/** Notifications to render and send: one location in Leeds, a Friday in November. */

import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import type { ProblemKind } from "../../src/health/alert.ts";
import { anAlert } from "../support/fixtures.ts";

/** Fri 20 Nov 2026 14:17 in London. */
export const NOW = Date.UTC(2026, 10, 20, 14, 17);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

const PROBLEMS: Readonly<Record<string, ProblemKind>> = {
  RecordingOffline: "offline",
  RecordingFlapping: "flapping",
  LowQuality: "low_quality",
  LowUptime: "low_uptime",
  LocationOffline: "location_offline",
  CameraServerOffline: "camera_server_offline",
  ServiceUnreachable: "service_unreachable",
  ServicePartlyUnreachable: "service_partly_unreachable",
  NotificationsFailing: "notifications_failing",
};

/** With the problem that the default rule of this name watches; an external alert has none. */
function factsOf(alertname = "", { subject, facts }: Partial<NotifiedAlert>): NotifiedAlert["facts"] {
  const problem = subject?.kind === "external" ? undefined : PROBLEMS[alertname];
  return { timezone: "Europe/London", ...(problem && { problem }), ...facts };
}

/** An alert on the recording called `name`, firing since 14:05. */
export function alertOf(name: string, changes: Partial<NotifiedAlert> = {}): NotifiedAlert {
  const id = changes.subject?.id ?? Buffer.from(name).toString("hex").padEnd(24, "0").slice(0, 24);
  const alertname = changes.labels?.alertname ?? "RecordingOffline";
  const { subject = { kind: "recording", id }, startsAt = NOW - 12 * MINUTE } = changes;
  return {
    ...anAlert({ key: `${alertname}/recording/${id}`, ruleId: alertname, subject, startsAt, updatedAt: NOW }),
    fingerprint: "0123456789abcdef",
    isNew: true,
    ...changes,
    facts: factsOf(alertname, changes),
    labels: {
      alertname,
      severity: "critical",
      recording_id: id,
      recording: name,
      location_id: "5f00000000000000000000aa",
      location: "Leeds Briggate",
      ...changes.labels,
    },
  };
}

/** The same alert, resolved at 14:14 unless `changes` set another time. */
export function endedOf(name: string, changes: Partial<NotifiedAlert> = {}): NotifiedAlert {
  return alertOf(name, {
    state: "resolved",
    startsAt: NOW - 12 * MINUTE,
    endsAt: NOW - 3 * MINUTE,
    endReason: "recovered",
    isNew: false,
    ...changes,
  });
}

/** An alert about something other than a recording; its labels are only those given. */
export function otherAlert(
  kind: "location" | "group" | "service" | "integration",
  id: string,
  labels: Record<string, string>,
  changes: Partial<NotifiedAlert> = {},
): NotifiedAlert {
  return {
    ...alertOf(id),
    subject: { kind, id },
    ...changes,
    labels: { severity: "critical", ...labels },
    facts: factsOf(labels.alertname, changes),
  };
}

export function notificationOf(changes: Partial<Notification> = {}): Notification {
  return {
    reason: "first",
    receiver: "ops",
    integrationId: "ops/slack/0",
    group: { id: "{}/location_id=5f00000000000000000000aa", labels: { location_id: "5f00000000000000000000aa" } },
    firing: [],
    resolved: [],
    now: NOW,
    externalUrl: "https://lenswatch.example.com",
    messageId: "01J0000000000000000000000",
    trace: [],
    standing: [],
    ...changes,
  };
}
