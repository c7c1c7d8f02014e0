/** Alerts that fire, by the labels that matter to a test. */
import type { Alert, Labels } from "../../src/health/alert.ts";

export const NOW = Date.UTC(2026, 2, 2, 8);

/** `labels` with an `alertname`; the subject is its recording, else its location, else the service. */
export function alertWith(labels: Labels, startsAt = NOW): Alert {
  const kind = labels.recording_id ? "recording" : labels.location_id ? "location" : "service";
  const subjectId = labels.recording_id ?? labels.location_id ?? "service";
  const key = `${labels.alertname}/${kind}/${subjectId}`;
  return {
    id: `${key}@${startsAt}`,
    key,
    ruleId: labels.alertname ?? "",
    subject: { kind, id: subjectId },
    labels,
    annotations: {},
    state: "firing",
    startsAt,
    firedAt: startsAt,
    updatedAt: startsAt,
    facts: { timezone: "UTC" },
  };
}
