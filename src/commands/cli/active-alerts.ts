/** Active alerts as the daemon lists them, which of them need somebody, and the headline of the status page. */
import { z } from "zod";
import { type Attention, attentionOf, neededPhrase } from "../../alerting/attention.ts";
import { severityRank } from "../../alerting/words.ts";
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

const WorstClusters = z.object({ headline: z.string(), items: z.array(ClusterRow) });

/** The headline of the status page, and what explains the worst clusters, a line each; a count where they cannot be read. */
export async function readBoard(
  daemon: Daemon,
  active: readonly ListedAlert[],
): Promise<{ readonly headline: string; readonly causes: string }> {
  // Without the next pages: each takes as long as the first one.
  const board = daemon.get("/api/v1/clusters", { limit: "1000" }, WorstClusters);
  const { headline, items } = await board.catch((thrown: unknown) => {
    if (!(thrown instanceof DaemonError)) throw thrown;
    const needed = active.filter((alert) => attentionAt(alert) === "needed");
    return { headline: neededPhrase(needed.length), items: [] };
  });
  const explained = items.flatMap(({ text, cause }) => (cause ? [`${text}: ${cause.text}.`] : []));
  const causes = explained
    .slice(0, MOST_CAUSES)
    .map((line) => `${nameOf(line, "", 300)}\n`)
    .join("");
  return { headline: nameOf(headline, "", 300), causes };
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

/** How long: `12 m`. */
export function ageText(since: string | null, now: Instant): string {
  return since === null ? "–" : span(Date.parse(since), now);
}
