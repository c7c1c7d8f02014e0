/** Active alerts as the daemon lists them by Alertmanager's API, and as a table. */
import { z } from "zod";
import { type Attention, attentionOf, HANDLED_WORDS } from "../../alerting/attention.ts";
import { looks, severityRank, severityTone } from "../../alerting/tone.ts";
import { groupLabels, groupName, groupNouns } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import { nameWithin } from "../../lib/format.ts";
import { span } from "../../lib/when.ts";
import { ackText, type Written } from "./command.ts";
import type { Daemon } from "./daemon.ts";
import { renderGroups, type TableColumn, type TableTarget } from "./table.ts";

/** An alert in Alertmanager's API; fields that are not shown are kept for JSON. */
const Active = z.looseObject({
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  receivers: z.array(z.object({ name: z.string() })),
  fingerprint: z.string(),
  startsAt: z.string(),
  status: z.looseObject({
    state: z.enum(["unprocessed", "active", "suppressed"]),
    silencedBy: z.array(z.string()),
    inhibitedBy: z.array(z.string()),
    mutedBy: z.array(z.string()),
    maintenance: z.looseObject({ name: z.string(), until: z.string().optional() }).optional(),
    outage: z.looseObject({ label: z.enum(groupLabels), value: z.string() }).optional(),
    acknowledgement: z
      .looseObject({ author: z.string(), until: z.string().optional(), eta: z.string().optional() })
      .optional(),
  }),
});
export type ListedAlert = z.infer<typeof Active>;

/** The suppressed ones too. Throws DaemonError. */
export function readActiveAlerts(daemon: Daemon): Promise<ListedAlert[]> {
  return daemon.get("/api/v2/alerts", { active: "true", silenced: "true", inhibited: "true" }, z.array(Active));
}

/** The attention for an alert, by its status in that API: one that nothing else suppresses is outside its schedule. */
function attentionAt({ status }: ListedAlert): Attention {
  return attentionOf({ ...status, isPaused: status.state === "suppressed" });
}

export function isNeeded(alert: ListedAlert): boolean {
  return attentionAt(alert) === "needed";
}

/** `acknowledged by Ana until 15:00 GMT`; undefined where somebody is needed. */
export function handledText(
  attention: Attention,
  acknowledgement: Parameters<typeof ackText>[0] | null | undefined,
  at: Written,
): string | undefined {
  if (attention === "needed") return undefined;
  return attention === "acknowledged" && acknowledgement ? ackText(acknowledgement, at) : HANDLED_WORDS[attention];
}

/** The alerts by location, that of the worst alert first; the oldest first among equals. */
export function alertsTable(alerts: readonly ListedAlert[], now: Instant, at: Written, target: TableTarget): string {
  const sorted = alerts.toSorted((a, b) => rankOf(a) - rankOf(b) || Date.parse(a.startsAt) - Date.parse(b.startsAt));
  const groups = Map.groupBy(sorted, ({ labels }) => labels.location_id ?? labels.location ?? "");
  const named = [...groups.values()].map((rows) => ({ heading: (rows[0] && placeOf(rows[0])) || "No location", rows }));
  return renderGroups(columnsAt(now, at), named, target);
}

/** Lower is worse: an alert that needs somebody first, then by severity. */
function rankOf(alert: ListedAlert): number {
  return (isNeeded(alert) ? 0 : 10) + severityRank(alert.labels);
}

function placeOf({ labels }: ListedAlert): string {
  return labels.location ?? labels.location_id ?? "";
}

const columnsAt = (now: Instant, at: Written): readonly TableColumn<ListedAlert>[] => [
  { head: "RECORDING", cell: recordingText, wraps: true },
  { head: "ALERT", cell: ({ labels }) => labels.alertname ?? "", wraps: true },
  { head: "SEVERITY", cell: ({ labels }) => labels.severity ?? "–", style: severityStyle },
  { head: "FOR", cell: ({ startsAt }) => ageText(startsAt, now) },
  {
    head: "STATE",
    cell: (alert) => handledText(attentionAt(alert), alert.status.acknowledgement, at) ?? alert.status.state,
    wraps: true,
  },
  { head: "RECEIVERS", cell: ({ receivers }) => receivers.map(({ name }) => name).join(" "), canDrop: true },
  { head: "FINGERPRINT", cell: ({ fingerprint }) => fingerprint.slice(0, 8) },
];

/** `camera server edge-7`, of an alert about a group. */
export function groupText({ labels, status: { outage } }: ListedAlert): string | undefined {
  return outage && `${groupNouns[outage.label]} ${groupName(outage, labels)}`;
}

/** Nothing of an alert about a whole location: the labels that its recordings share are not its subject. */
function recordingText(alert: ListedAlert): string {
  const { labels } = alert;
  const { recording, recording_id: id, location, location_id: locationId, camera_server: value = "" } = labels;
  const place = location ?? locationId ?? "";
  const group = groupText(alert);
  const shared = value && `${groupNouns.camera_server} ${groupName({ label: "camera_server", value }, labels)}`;
  const wider = place === "" ? shared || labels.organisation_name || labels.timezone : undefined;
  return nameWithin(recording ?? id ?? group ?? wider ?? "–", place);
}

function severityStyle(alert: ListedAlert) {
  return isNeeded(alert) ? looks[severityTone(alert.labels)].terminal : "dim";
}

/** The time since then: `12 m`. */
export function ageText(since: string | null, now: Instant): string {
  return since === null ? "–" : span(Date.parse(since), now);
}
