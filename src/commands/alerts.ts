/** `alerts`: active alerts of a running daemon, suppressed ones on request, as in amtool. */
import { Command } from "commander";
import { groupNouns } from "../health/alert.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { nameWithin } from "../lib/format.ts";
import {
  ageText,
  attentionAt,
  handledText,
  type ListedAlert,
  rankOf,
  readActiveAlerts,
  readBoard,
} from "./cli/active-alerts.ts";
import { type CommandIo, localTimes, print, type Written } from "./cli/command.ts";
import { asksDaemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { renderGroups, type TableColumn, tableTarget } from "./cli/table.ts";

type AlertsOptions = DaemonOptions & Readonly<{ silenced?: boolean; inhibited?: boolean; output: "table" | "json" }>;

/** Exit code 0, also with active alerts. Throws DaemonError or ConfigError. */
export function alertsCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("alerts")
    .description("List active alerts by location, those that need somebody and are worst first.")
    .option("--silenced", "include silenced alerts")
    .option("--inhibited", "include inhibited alerts");
  const asking = asksDaemon(command, "lenswatch alerts --url http://127.0.0.1:9595", "table");
  return asking.action(async (options: AlertsOptions) => {
    const { all, board } = await withDaemon(options, io, async (daemon) => {
      const all = await readActiveAlerts(daemon);
      return { all, board: options.output === "table" && all.length > 0 ? await readBoard(daemon, all) : undefined };
    });
    const isShown = ({ status: { silencedBy, inhibitedBy } }: ListedAlert) =>
      (options.silenced || silencedBy.length === 0) && (options.inhibited || inhibitedBy.length === 0);
    const alerts = all.filter(isShown).sort((a, b) => Date.parse(a.startsAt) - Date.parse(b.startsAt));
    print(io, options.output, alerts, () => {
      const headline = board ? withOptions(board.headline) : "No active alerts.";
      const columns = columnsAt(clock.now(), localTimes(clock.now(), io.env));
      const table = renderGroups(columns, groupsOf(alerts), tableTarget(io));
      return `${headline}\n${board?.causes ?? ""}${table && `\n${table}`}`;
    });
  });
}

/** `2 need attention; 1 silenced (--silenced), 1 explained by another alert (--inhibited).` */
function withOptions(headline: string): string {
  const handled = /(?<=(?:^|[;,]) )(\d[\d,]*) (silenced|explained by another alert)(?=[;,]|$)/g;
  const option = { silenced: "--silenced", "explained by another alert": "--inhibited" };
  return `${headline.replace(handled, (phrase, _, words: keyof typeof option) => `${phrase} (${option[words]})`)}.`;
}

/** By location, that of the worst alert first; the oldest first among equals. */
function groupsOf(alerts: readonly ListedAlert[]) {
  const groups = Map.groupBy(
    alerts.toSorted((a, b) => rankOf(a) - rankOf(b)),
    ({ labels }) => labels.location_id ?? labels.location ?? "",
  );
  return [...groups.values()].map((rows) => ({ heading: rows[0] ? placeOf(rows[0]) || "No location" : "", rows }));
}

function placeOf({ labels }: ListedAlert): string {
  return labels.location ?? labels.location_id ?? "";
}

const columnsAt = (now: Instant, at: Written): readonly TableColumn<ListedAlert>[] => [
  { head: "RECORDING", cell: recordingText, wraps: true },
  { head: "ALERT", cell: ({ labels }) => labels.alertname ?? "", wraps: true },
  { head: "SEVERITY", cell: ({ labels }) => labels.severity ?? "–", style: severityStyle },
  { head: "FOR", cell: ({ startsAt }) => ageText(startsAt, now) },
  { head: "STATE", cell: (alert) => handledText(alert, at) ?? alert.status.state, wraps: true },
  { head: "RECEIVERS", cell: ({ receivers }) => receivers.map(({ name }) => name).join(" "), canDrop: true },
  { head: "FINGERPRINT", cell: ({ fingerprint }) => fingerprint },
];

function recordingText(alert: ListedAlert): string {
  const { recording, recording_id: id, camera_server: server, organisation, timezone } = alert.labels;
  const place = placeOf(alert);
  const group = server && `${groupNouns.camera_server} ${server}`;
  const wider = place === "" ? (organisation ?? timezone) : undefined;
  return nameWithin(recording ?? id ?? group ?? wider ?? "–", place);
}

function severityStyle(alert: ListedAlert) {
  if (attentionAt(alert) !== "needed") return "dim";
  return alert.labels.severity === "critical" ? "red" : undefined;
}
