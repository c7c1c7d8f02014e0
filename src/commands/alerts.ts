/** `alerts`: active alerts of a running daemon, suppressed ones on request, as in amtool. */
import { Command } from "commander";
import { z } from "zod";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { counted } from "../lib/format.ts";
import { type CommandIo, outputOption, withExample } from "./cli/command.ts";
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
    acknowledgement: z.looseObject({ author: z.string() }).optional(),
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
    const [alerts, hidden] = [all.filter(isShown), all.filter((alert) => !isShown(alert))];
    alerts.sort((a, b) => Date.parse(a.startsAt) - Date.parse(b.startsAt));
    printList(io, options.output, alerts, columnsAt(clock.now()), { noun: "alert", none: "No active alerts." });
    if (options.output === "table" && hidden.length > 0) io.stdout.write(`${describeHidden(hidden)}\n`);
  });
}

/** `Not shown: 2 silenced alerts (--silenced), 1 inhibited alert (--inhibited).` */
function describeHidden(hidden: readonly ActiveAlert[]): string {
  const silenced = hidden.filter(({ status }) => status.silencedBy.length > 0).length;
  const inhibited = hidden.filter(({ status }) => status.inhibitedBy.length > 0).length;
  const counts = Object.entries({ silenced, inhibited }).filter(([, count]) => count > 0);
  return `Not shown: ${counts.map(([kind, count]) => `${counted(count, `${kind} alert`)} (--${kind})`).join(", ")}.`;
}

const columnsAt = (now: Instant): readonly TableColumn<ActiveAlert>[] => [
  { head: "ALERT", cell: ({ labels }) => labels.alertname ?? "" },
  { head: "SEVERITY", cell: ({ labels }) => labels.severity ?? "–" },
  { head: "LOCATION", cell: ({ labels }) => labels.location ?? labels.location_id ?? "–", canShrink: true },
  { head: "RECORDING", cell: ({ labels }) => labels.recording ?? labels.recording_id ?? "–", canShrink: true },
  { head: "SINCE", cell: ({ startsAt }) => sinceUtc(startsAt, now) },
  { head: "STATE", cell: ({ status }) => stateText(status) },
  { head: "RECEIVERS", cell: ({ receivers }) => receivers.map(({ name }) => name).join(" "), canShrink: true },
  { head: "FINGERPRINT", cell: ({ fingerprint }) => fingerprint },
];

function stateText(status: ActiveAlert["status"]): string {
  const { state, silencedBy, inhibitedBy, mutedBy, acknowledgement } = status;
  if (silencedBy.length > 0) return "silenced";
  if (inhibitedBy.length > 0) return "inhibited";
  if (acknowledgement) return "acknowledged";
  return mutedBy.length > 0 ? "muted" : state;
}
