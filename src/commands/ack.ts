/** `ack ALERT`: acknowledges alerts, which stops their reminders; withdraws that; adds a note. */
import { Command, Option } from "commander";
import { z } from "zod";
import { type Clock, systemClock } from "../lib/clock.ts";
import { formatDuration } from "../lib/duration.ts";
import { counted } from "../lib/format.ts";
import { MOMENT_EXAMPLES, parseEta } from "../lib/moment.ts";
import { stripControls } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";
import { groupText, type ListedAlert, readActiveAlerts } from "./cli/active-alerts.ts";
import { type CommandIo, durationParser, listRows, print, unknownMessage, type Written } from "./cli/command.ts";
import {
  asksDaemon,
  authorFrom,
  type Daemon,
  DaemonError,
  type DaemonOptions,
  readerZone,
  withDaemon,
} from "./cli/daemon.ts";
import { incidentNamed } from "./cli/named.ts";

type AckOptions = DaemonOptions &
  Readonly<{
    for?: number;
    eta?: string;
    comment?: string;
    author?: string;
    withdraw?: true;
    undo?: true;
    note?: string;
  }> & { readonly output: string };

/** Exit code 0; 1 where no such alert fires; 2 where it is not clear which is meant. Throws DaemonError or ConfigError. */
export function ackCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const lasting = new Option("--for <time>", "how long, such as 2h (default: until it resolves)");
  const expected = new Option("--eta <time>", `when the owner expects to be done: ${MOMENT_EXAMPLES}`);
  const withdrawn = new Option("--withdraw", "withdraw the acknowledgement, so that reminders resume");
  const undone = new Option("--undo", "restore what was before the last change, for 15 minutes after it");
  const noted = new Option("--note <text>", "add a note to the acknowledgement");
  const ack = new Command("ack")
    .description("Stop reminders of an alert, until it resolves or for a while. Its end is still sent.")
    .argument(
      "<alert>",
      "its recording, location or camera server; an incident's id; or its fingerprint, which may be shortened",
    )
    .addOption(lasting.argParser(durationParser(1_000, "30m, 2h or 1d12h")))
    .addOption(expected)
    .option("--comment <text>", "the reason")
    .addOption(withdrawn.conflicts(["for", "eta", "comment", "note", "undo"]))
    .addOption(undone.conflicts(["for", "eta", "comment", "note"]))
    .addOption(noted.conflicts(["for", "eta", "comment"]))
    .option("--by, --author <name>", "the owner from now on (default: $USER)");
  const example = 'lenswatch ack "Leeds Briggate" --by amy --eta 09:00 --comment "an electrician is on the way"';
  return asksDaemon(ack, example, "text").action(async (wanted: string, options: AckOptions) => {
    const author = authorFrom(options, io.env);
    const now = clock.now();
    const { done, zone } = await withDaemon(options, io, async (daemon) => {
      const zone = await readerZone(daemon, io);
      const eta = options.eta === undefined ? undefined : parseEta(options.eta, now, zone);
      if (typeof eta === "string") throw new DaemonError("bad_option", `--eta: ${eta}`);
      const changed: Changed[] = [];
      for (const one of await findAlerts(daemon, wanted))
        changed.push(await change(daemon, one, { ...options, author, eta }));
      return { done: changed, zone };
    });
    const answer = done.map(({ title, place, ...rest }) => rest);
    print(io, options.output, FINGERPRINT.test(wanted) ? answer[0] : answer, () => {
      const times = timesSeenAt(now, zone);
      return `${stripControls(sentence(done, options, (at) => times.at(at, "UTC")))}\n`;
    });
  });
}

const FINGERPRINT = /^[0-9a-f]{16}$/i;
const SHORT = /^[0-9a-f]{6,16}$/i;

interface Found {
  readonly fingerprint: string;
  readonly title: string;
  readonly place: string;
}

const Answer = z.looseObject({
  until: z.string().nullish(),
  eta: z.string().nullish(),
  replaced: z.string().nullish(),
});
type Changed = Found & z.infer<typeof Answer>;

async function change(
  daemon: Daemon,
  found: Found,
  { author, withdraw, undo, note, comment, eta, for: forMs }: Omit<AckOptions, "eta"> & { eta: number | undefined },
): Promise<Changed> {
  const path = `/api/v1/alerts/${found.fingerprint}/ack`;
  if (withdraw) {
    const query = new URLSearchParams({ author: author ?? "" });
    await daemon.send("DELETE", `${path}?${query}`, undefined, z.unknown(), IF_MISSING);
    return { ...found };
  }
  const lasting = forMs === undefined ? {} : { for: formatDuration(forMs) };
  const expected = eta === undefined ? {} : { eta: new Date(eta).toISOString() };
  const [to, said] = undo
    ? ["/undo", {}]
    : note === undefined
      ? ["", { ...(comment && { comment }), ...lasting, ...expected }]
      : ["/notes", { text: note }];
  const answer = await daemon.send("POST", `${path}${to}`, { author, ...said }, Answer, IF_MISSING);
  return { ...answer, ...found };
}

const IF_MISSING = "`lenswatch status --alerts --all` lists those that fire";

/** One line for one deed, however many alerts it is about. */
function sentence(done: readonly Changed[], { withdraw, undo, note }: AckOptions, at: Written): string {
  const [first] = done;
  const places = new Set(done.map(({ place }) => place));
  const where = places.size === 1 && first?.place ? ` at ${first.place}` : "";
  const what = done.length === 1 ? (first?.title ?? "") : `${counted(done.length, "alert")}${where}`;
  if (withdraw) return `Withdrew the acknowledgement of ${what}: reminders resume.`;
  if (undo) return `Undid the last change of the acknowledgement of ${what}.`;
  if (note !== undefined) return `Added the note to ${what}.`;
  const authors = [...new Set(done.flatMap(({ replaced }) => replaced ?? []))];
  const instead = authors.length > 0 ? ` This replaces the acknowledgement of ${authors.join(", ")}.` : "";
  const [until, eta] = [first?.until, first?.eta].map((iso) => (iso ? at(Date.parse(iso)) : undefined));
  return `Acknowledged ${what}: no reminders until ${until ?? (done.length === 1 ? "it resolves" : "they resolve")}${eta ? `, ETA ${eta}` : ""}.${instead}`;
}

/** The alert whose fingerprint begins so, the incident with that id, else the alerts about the recording, location or camera server of that id or name. */
async function findAlerts(daemon: Daemon, wanted: string): Promise<Found[]> {
  const alerts = await readActiveAlerts(daemon);
  const isNamed = (label: string) => (alert: ListedAlert) =>
    alert.labels[label]?.toLowerCase() === wanted.toLowerCase();
  const known = SHORT.test(wanted) ? alerts.filter(({ fingerprint: one }) => one.startsWith(wanted.toLowerCase())) : [];
  if (known.length === 0 && FINGERPRINT.test(wanted))
    return [{ fingerprint: wanted.toLowerCase(), title: wanted.toLowerCase(), place: "" }];
  const incident = await incidentNamed(daemon, wanted);
  if (incident) return [{ fingerprint: incident.id, title: `${incident.title} · ${incident.id}`, place: "" }];
  const kinds = [known, ...NAMING.map((label) => alerts.filter(isNamed(label)))];
  const found = kinds.find((some) => some.length > 0) ?? [];
  const places = new Set(found.map(({ labels }) => labels.location_id));
  if (places.size > 1 || known.length > 1) {
    const listed = listRows(found.map((one) => ({ id: one.fingerprint.slice(0, 8), name: titleOf(one) })));
    throw new DaemonError("bad_option", `several places have that name; give a fingerprint:${listed}`);
  }
  if (found.length > 0) return found.map(toFound);
  throw new DaemonError("rejected", unknownMessage("alert", wanted, namesIn(alerts)));
}

const toFound = (one: ListedAlert): Found => ({
  ...{ fingerprint: one.fingerprint, title: titleOf(one), place: one.labels.location ?? "" },
});

const NAMING = ["recording_id", "recording", "location_id", "location", "camera_server", "camera_server_name"];

/** The recordings and locations of the alerts. */
function namesIn(alerts: readonly ListedAlert[]) {
  const rows = alerts.flatMap(({ labels: { recording_id, recording = "", location_id, location = "" } }) => [
    ...(recording_id ? [{ id: recording_id, name: recording, location }] : []),
    ...(location_id ? [{ id: location_id, name: location }] : []),
  ]);
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

function titleOf(alert: ListedAlert): string {
  const { alertname, recording, location } = alert.labels;
  return [alertname, recording, location, groupText(alert)].filter((part) => !!part).join(" · ");
}
