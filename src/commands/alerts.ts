/** `alerts`: what fires now, as a running daemon sees it; held-back alerts when asked for, as amtool does. */
import { Command } from "commander";
import { z } from "zod";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { parseUrl, withDaemon } from "./cli/daemon.ts";
import type { CommandIo } from "./cli/io.ts";
import { asJson, outputOption } from "./cli/output.ts";
import { type Column, renderTable, type TableTarget, tableTarget } from "./cli/table.ts";
import { sinceText } from "./status.ts";

/** As Alertmanager gives it; what is not shown is passed on as it is. */
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

interface AlertsOptions {
  readonly url?: string;
  readonly config?: string;
  readonly silenced?: boolean;
  readonly inhibited?: boolean;
  readonly output: "table" | "json";
}

/** Exit code 0, also where something fires; throws DaemonError or ConfigError when it cannot be told. */
export function alertsCommand(io: CommandIo, clock: Clock = systemClock): Command {
  return new Command("alerts")
    .description("Active alerts, those that stand longest first.")
    .option("--silenced", "also those a silence holds back")
    .option("--inhibited", "also those another alert holds back")
    .addOption(outputOption("table"))
    .option(
      "--url <url>",
      "the daemon (default: http.external_url or http.listen of the configuration)",
      parseUrl,
    )
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)")
    .addHelpText("after", "\nExample:\n  lenswatch alerts --url http://127.0.0.1:9595")
    .action(async (options: AlertsOptions) => {
      const { silenced = false, inhibited = false } = options;
      const alerts = await withDaemon(options, io, (daemon) =>
        daemon.get(
          "/api/v2/alerts",
          { active: "true", silenced: String(silenced), inhibited: String(inhibited) },
          z.array(ActiveAlert),
        ),
      );
      alerts.sort((a, b) => Date.parse(a.startsAt) - Date.parse(b.startsAt));
      io.stdout.write(
        options.output === "json" ? asJson(alerts) : asText(alerts, clock.now(), tableTarget(io)),
      );
    });
}

const columns: readonly Column[] = [
  { head: "ALERT" },
  { head: "SEVERITY" },
  { head: "LOCATION", canShrink: true },
  { head: "RECORDING", canShrink: true },
  { head: "SINCE" },
  { head: "STATE" },
  { head: "RECEIVERS", canShrink: true },
  { head: "FINGERPRINT" },
];

function asText(alerts: readonly ActiveAlert[], now: Instant, target: TableTarget): string {
  if (alerts.length === 0) return "No active alerts.\n";
  const cells = alerts.map(({ labels, startsAt, status, receivers, fingerprint }) => [
    labels.alertname ?? "",
    labels.severity ?? "–",
    labels.location ?? labels.location_id ?? "–",
    labels.recording ?? labels.recording_id ?? "–",
    sinceText(startsAt, now),
    stateText(status),
    receivers.map(({ name }) => name).join(" "),
    fingerprint,
  ]);
  const count = `${alerts.length} ${alerts.length === 1 ? "alert" : "alerts"}`;
  return `${renderTable(columns, cells, target)}\n${count}\n`;
}

function stateText(status: ActiveAlert["status"]): string {
  const { state, silencedBy, inhibitedBy, mutedBy, acknowledgement } = status;
  if (silencedBy.length > 0) return "silenced";
  if (inhibitedBy.length > 0) return "inhibited";
  if (acknowledgement) return "acknowledged";
  return mutedBy.length > 0 ? "muted" : state;
}
