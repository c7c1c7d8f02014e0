import type { Alert } from "../../health/alert.ts";
import type { Rule } from "../../health/rule.ts";
import type { DarkLocation, DigestScope, Incident, IncidentKind, OtherAlerts } from "../digest.ts";
import { compare, type LocationRecords, sum } from "./groups.ts";
import { clip, subtract, total } from "./spans.ts";

/** Names of the default rules: what a remembered alert meant whose rule is gone by now. */
const DEFAULT_KINDS: ReadonlyMap<string, IncidentKind> = new Map([
  ["RecordingOffline", "offline"],
  ["RecordingMissing", "missing"],
  ["LocationOffline", "location_offline"],
  ["RecordingFlapping", "flapping"],
]);

/** What of an alert is told, be it firing or remembered as an incident. */
export type RecordedAlert = Pick<
  Alert,
  "ruleId" | "labels" | "subject" | "startsAt" | "endsAt" | "endReason"
>;

/** An alert as a digest counts it. What it means is its rule's to say, not its name's. */
export function incidentOf(alert: RecordedAlert, rules: readonly Rule[]): Incident {
  const { ruleId, labels, subject, startsAt, endsAt, endReason } = alert;
  const alertname = labels.alertname ?? ruleId;
  const rule = rules.find(({ id }) => id === ruleId);
  return {
    alertname,
    kind: rule ? kindOf(rule) : (DEFAULT_KINDS.get(alertname) ?? "other"),
    recordingId: subject.kind === "recording" ? subject.id : undefined,
    locationId: subject.kind === "location" ? subject.id : undefined,
    startsAt,
    endsAt,
    endReason,
  };
}

function kindOf({ when }: Rule): IncidentKind {
  if (when.kind === "status") return when.status === "offline" ? "offline" : "other";
  const { kind } = when;
  return kind === "missing" || kind === "location_offline" || kind === "flapping" ? kind : "other";
}

/** Location incidents inside the period, without the time at which none of its recordings was meant to record. */
export function darkLocations(
  input: DigestScope,
  locations: ReadonlyMap<string, LocationRecords>,
): DarkLocation[] {
  const bounds = { from: input.period.start, to: input.period.end };
  const dark = input.incidents.flatMap((incident): DarkLocation[] => {
    const location = incident.kind === "location_offline" && locations.get(incident.locationId ?? "");
    if (!location) return [];
    const span = { from: incident.startsAt, to: incident.endsAt ?? input.now };
    const lost = subtract(clip([span], bounds), [...subtract([bounds], location.open), ...input.blind]);
    if (lost.length === 0) return [];
    const { startsAt, endsAt, endReason } = incident;
    const recovered = endsAt !== undefined && (endReason ?? "recovered") === "recovered";
    const outage = { kind: "location_offline" as const, startsAt, endsAt, lostMs: total(lost), recovered };
    return [{ locationId: location.id, locationName: location.name, outage }];
  });
  return dark.sort((a, b) => b.outage.lostMs - a.outage.lostMs);
}

/** Alerts that are not downtime, of what the digest speaks of or of the service itself. */
export function otherAlerts(
  input: DigestScope,
  recordings: ReadonlySet<string>,
  locations: ReadonlyMap<string, LocationRecords>,
): OtherAlerts[] {
  const concerns = ({ recordingId, locationId }: Incident) =>
    recordingId === undefined
      ? locationId === undefined || locations.has(locationId)
      : recordings.has(recordingId);
  const bounds = { from: input.period.start, to: input.period.end };
  const lengths = input.incidents
    .filter((incident) => incident.kind === "other" && concerns(incident))
    .map(({ alertname, startsAt, endsAt }) => ({
      alertname,
      lengthMs: total(clip([{ from: startsAt, to: endsAt ?? input.now }], bounds)),
    }))
    .filter(({ lengthMs }) => lengthMs > 0);
  return [...Map.groupBy(lengths, ({ alertname }) => alertname)]
    .map(([alertname, all]) => ({ alertname, count: all.length, lengthMs: sum(all, (one) => one.lengthMs) }))
    .sort((a, b) => b.lengthMs - a.lengthMs || compare(a.alertname, b.alertname));
}
