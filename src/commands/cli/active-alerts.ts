/** Active alerts as the daemon lists them, which of them need somebody, and the headline that counts them. */
import { z } from "zod";
import { type Attention, attentionOf, handledPhrase, neededPhrase, severityRank } from "../../alerting/attention.ts";
import { groupLabels, groupNouns } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { capital } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import { ackText, type Written } from "./command.ts";
import { type Daemon, DaemonError } from "./daemon.ts";

/** As in Alertmanager's API; fields that are not shown are kept for JSON. */
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
    outage: z
      .looseObject({
        label: z.enum(groupLabels),
        value: z.string(),
        offline: z.number(),
        locations: z.number().optional(),
      })
      .optional(),
    acknowledgement: z.looseObject({ author: z.string(), until: z.string().optional() }).optional(),
  }),
});
export type ListedAlert = z.infer<typeof Active>;

/** The suppressed ones too. Throws DaemonError. */
export function readActiveAlerts(daemon: Daemon): Promise<ListedAlert[]> {
  return daemon.get("/api/v2/alerts", { active: "true", silenced: "true", inhibited: "true" }, z.array(Active));
}

/** Without fields that a later daemon adds. */
const ClusterRow = z.object({ text: z.string(), cause: z.object({ text: z.string() }).nullable() });
const MOST_CAUSES = 3;

const WorstClusters = z.object({ items: z.array(ClusterRow) });

/** What explains the worst clusters of them, a line each; nothing where that cannot be read, as by an older daemon. */
export async function readCauseLines(daemon: Daemon): Promise<string> {
  // Without the next pages: each takes as long as the first one.
  const { items } = await daemon.get("/api/v1/clusters", { limit: "1000" }, WorstClusters).catch((thrown: unknown) => {
    if (thrown instanceof DaemonError) return { items: [] };
    throw thrown;
  });
  const explained = items.flatMap(({ text, cause }) => (cause ? [`${text}: ${cause.text}.`] : []));
  return explained
    .slice(0, MOST_CAUSES)
    .map((line) => `${nameOf(line, "", 300)}\n`)
    .join("");
}

/** Without anything else that suppresses it, an alert is outside its recording's schedule. */
export function attentionAt({ status }: ListedAlert): Attention {
  return attentionOf({ ...status, isPaused: status.state === "suppressed" });
}

/** What suppresses it; undefined where somebody is needed. */
export function handledText(alert: ListedAlert, at: Written): string | undefined {
  const attention = attentionAt(alert);
  const { acknowledgement } = alert.status;
  if (attention === "acknowledged" && acknowledgement) return ackText(acknowledgement, at);
  if (attention === "maintenance") return "in maintenance";
  return attention === "needed" ? undefined : attention;
}

/** Lower is worse: what needs somebody first, then by severity, at no location first: such as those of lenswatch. */
export function rankOf(alert: ListedAlert): number {
  const placed = alert.labels.location_id || alert.labels.location ? 0.5 : 0;
  return (attentionAt(alert) === "needed" ? 0 : 10) + severityRank(alert.labels) + placed;
}

/** `Camera server edge-7 · 20 offline at 5 locations`; undefined for an alert that is not about a group. */
export function outageText({ status: { outage } }: ListedAlert): string | undefined {
  if (!outage) return undefined;
  const { label, value, offline, locations = 0 } = outage;
  const where = locations === 0 ? "" : ` at ${counted(locations, "location")}`;
  return `${capital(groupNouns[label])} ${nameOf(value, "", 100)} · ${count(offline)} offline${where}`;
}

/** `2 need attention: 1 LocationOffline, 1 LowQuality; 1 silenced`, counted as on the status page. */
export function headlineText(alerts: readonly ListedAlert[]): string {
  const by = Map.groupBy(alerts, attentionAt);
  const handled = handledPhrase(new Map([...by].map(([attention, { length }]) => [attention, length])));
  const needed = by.get("needed") ?? [];
  const names = [...Map.groupBy(needed, ({ labels }) => nameOf(labels.alertname ?? "", "unnamed"))];
  const kinds = names
    .sort(([, a], [, b]) => Math.min(...a.map(rankOf)) - Math.min(...b.map(rankOf)) || b.length - a.length)
    .map(([name, { length }]) => `${count(length)} ${name}`)
    .join(", ");
  const first = kinds === "" ? neededPhrase(0) : `${neededPhrase(needed.length)}: ${kinds}`;
  return handled === "" ? first : `${first}; ${handled}`;
}

/** How long: `12 m`. */
export function ageText(since: string | null, now: Instant): string {
  return since === null ? "–" : span(Date.parse(since), now);
}
