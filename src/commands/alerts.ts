/** `alerts`: active alerts of a running daemon, suppressed ones on request, as in amtool. */
import { Command } from "commander";
import { z } from "zod";
import { type Attention, attentionOf, handledPhrase, neededPhrase } from "../alerting/attention.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { ackText, type CommandIo, localTimes, outputOption, type Written, withExample } from "./cli/command.ts";
import { addDaemonOptions, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { printList, type TableColumn } from "./cli/table.ts";
import { sinceUtc } from "./status.ts";

/** As in Alertmanager's API; fields that are not shown are kept for JSON. */
const ActiveAlert = z.looseObject({
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
    acknowledgement: z.looseObject({ author: z.string(), until: z.string().optional() }).optional(),
  }),
});
type ActiveAlert = z.infer<typeof ActiveAlert>;

type AlertsOptions = DaemonOptions & Readonly<{ silenced?: boolean; inhibited?: boolean; output: "table" | "json" }>;

/** Exit code 0, also with active alerts. Throws DaemonError or ConfigError. */
export function alertsCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("alerts")
    .description("List active alerts, the oldest first.")
    .option("--silenced", "include silenced alerts")
    .option("--inhibited", "include inhibited alerts")
    .addOption(outputOption("table"));
  withExample(addDaemonOptions(command), "lenswatch alerts --url http://127.0.0.1:9595");
  return command.action(async (options: AlertsOptions) => {
    const parameters = { active: "true", silenced: "true", inhibited: "true" };
    const all = await withDaemon(options, io, (daemon) =>
      daemon.get("/api/v2/alerts", parameters, z.array(ActiveAlert)),
    );
    const isShown = ({ status: { silencedBy, inhibitedBy } }: ActiveAlert) =>
      (options.silenced || silencedBy.length === 0) && (options.inhibited || inhibitedBy.length === 0);
    const alerts = all.filter(isShown).sort((a, b) => Date.parse(a.startsAt) - Date.parse(b.startsAt));
    printList(io, options.output, alerts, columnsAt(clock.now(), localTimes(clock.now(), io.env)), {
      noun: "alert",
      none: "No active alerts.",
    });
    if (options.output === "table" && all.length > 0) io.stdout.write(`${describeAll(all)}\n`);
  });
}

/** `2 need attention; 1 silenced (--silenced), 1 explained by another alert (--inhibited).`, as on the status page. */
function describeAll(alerts: readonly ActiveAlert[]): string {
  const counts = new Map([...Map.groupBy(alerts, attentionAt)].map(([attention, of]) => [attention, of.length]));
  const handled = handledPhrase(counts)
    .replace(/silenced/, "$& (--silenced)")
    .replace(/explained[^,]*/, "$& (--inhibited)");
  return `${[neededPhrase(counts.get("needed") ?? 0), handled].filter((part) => part !== "").join("; ")}.`;
}

/** Without anything else that suppresses it, an alert is outside its recording's schedule. */
function attentionAt({ status }: ActiveAlert): Attention {
  return attentionOf({ ...status, isPaused: status.state === "suppressed" });
}

const columnsAt = (now: Instant, at: Written): readonly TableColumn<ActiveAlert>[] => [
  { head: "ALERT", cell: ({ labels }) => labels.alertname ?? "" },
  { head: "SEVERITY", cell: ({ labels }) => labels.severity ?? "–" },
  { head: "LOCATION", cell: ({ labels }) => labels.location ?? labels.location_id ?? "–", canShrink: true },
  { head: "RECORDING", cell: ({ labels }) => labels.recording ?? labels.recording_id ?? "–", canShrink: true },
  { head: "SINCE", cell: ({ startsAt }) => sinceUtc(startsAt, now) },
  { head: "STATE", cell: (alert) => stateText(alert, at), canShrink: true },
  { head: "RECEIVERS", cell: ({ receivers }) => receivers.map(({ name }) => name).join(" "), canShrink: true },
  { head: "FINGERPRINT", cell: ({ fingerprint }) => fingerprint },
];

function stateText(alert: ActiveAlert, at: Written): string {
  const attention = attentionAt(alert);
  const { state, acknowledgement } = alert.status;
  if (attention === "acknowledged" && acknowledgement) return ackText(acknowledgement, at);
  return attention === "needed" ? state : attention;
}
