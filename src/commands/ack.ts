/** `ack ALERT`: acknowledges alerts, which stops their reminders; withdraws that; adds a note. */
import { Command, Option } from "commander";
import { z } from "zod";
import { type Clock, systemClock } from "../lib/clock.ts";
import { formatDuration } from "../lib/duration.ts";
import { stripControls } from "../lib/text.ts";
import { type ListedAlert, readActiveAlerts } from "./cli/active-alerts.ts";
import {
  type CommandIo,
  durationParser,
  listRows,
  localTimes,
  print,
  unknownMessage,
  type Written,
} from "./cli/command.ts";
import { asksDaemon, authorFrom, type Daemon, DaemonError, type DaemonOptions, withDaemon } from "./cli/daemon.ts";

type AckOptions = DaemonOptions &
  Readonly<{ for?: number; comment?: string; author?: string; withdraw?: true; note?: string; output: string }>;

/** Exit code 0; 1 where no such alert fires; 2 where it is not clear which is meant. Throws DaemonError or ConfigError. */
export function ackCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const lasting = new Option("--for <time>", "how long, such as 2h (default: until it resolves)");
  const withdrawn = new Option("--withdraw", "withdraw the acknowledgement, so that reminders resume");
  const noted = new Option("--note <text>", "add a note to the acknowledgement");
  const ack = new Command("ack")
    .description("Stop reminders of an alert, until it resolves or for a while. Its end is still sent.")
    .argument("<alert>", "its fingerprint as printed by `lenswatch status --alerts`, or its recording or location")
    .addOption(lasting.argParser(durationParser(1_000, "30m, 2h or 1d12h")))
    .option("--comment <text>", "the reason")
    .addOption(withdrawn.conflicts(["for", "comment", "note"]))
    .addOption(noted.conflicts(["for", "comment"]))
    .option("--author <name>", "the author (default: $USER)");
  const example = 'lenswatch ack "Leeds Briggate" --for 2h --comment "an electrician is on the way"';
  return asksDaemon(ack, example, "text").action(async (wanted: string, options: AckOptions) => {
    const author = authorFrom(options, io.env);
    const done = await withDaemon(options, io, async (daemon) => {
      const changed: Changed[] = [];
      for (const one of await findAlerts(daemon, wanted)) changed.push(await change(daemon, one, author, options));
      return changed;
    });
    const at = localTimes(clock.now(), io.env);
    const answer = done.map(({ title, ...rest }) => rest);
    print(io, options.output, FINGERPRINT.test(wanted) ? answer[0] : answer, () =>
      done.map((one) => `${stripControls(sentence(one, options, at))}\n`).join(""),
    );
  });
}

const FINGERPRINT = /^[0-9a-f]{16}$/i;

interface Found {
  readonly fingerprint: string;
  readonly title: string;
}

const Answer = z.looseObject({ until: z.string().nullish(), replaced: z.string().nullish() });
type Changed = Found & z.infer<typeof Answer>;

async function change(daemon: Daemon, found: Found, author: string, options: AckOptions): Promise<Changed> {
  const { withdraw, note, comment, for: forMs } = options;
  const path = `/api/v1/alerts/${found.fingerprint}/ack`;
  if (withdraw) {
    const query = new URLSearchParams({ author });
    await daemon.send("DELETE", `${path}?${query}`, undefined, z.unknown(), IF_MISSING);
    return { ...found };
  }
  const body =
    note === undefined
      ? { author, ...(comment ? { comment } : {}), ...(forMs === undefined ? {} : { for: formatDuration(forMs) }) }
      : { author, text: note };
  const answer = await daemon.send("POST", note === undefined ? path : `${path}/notes`, body, Answer, IF_MISSING);
  return { ...answer, ...found };
}

const IF_MISSING = "`lenswatch status --alerts --all` lists those that fire";

function sentence({ title, until, replaced }: Changed, options: AckOptions, at: Written): string {
  if (options.withdraw) return `Withdrew the acknowledgement of ${title}: reminders resume.`;
  if (options.note !== undefined) return `Added the note to ${title}.`;
  const instead = replaced ? ` This replaces the acknowledgement of ${replaced}.` : "";
  return `Acknowledged ${title}: no reminders until ${until ? at(Date.parse(until)) : "it resolves"}.${instead}`;
}

/** The alert with that fingerprint, else those about the recording or location of that id or name. */
async function findAlerts(daemon: Daemon, wanted: string): Promise<Found[]> {
  if (FINGERPRINT.test(wanted)) return [{ fingerprint: wanted.toLowerCase(), title: wanted.toLowerCase() }];
  const alerts = await readActiveAlerts(daemon);
  const isNamed = (label: string) => (alert: ListedAlert) =>
    alert.labels[label]?.toLowerCase() === wanted.toLowerCase();
  const kinds = ["recording_id", "recording", "location_id", "location"].map((label) => alerts.filter(isNamed(label)));
  const found = kinds.find((some) => some.length > 0) ?? [];
  const places = new Set(found.map(({ labels }) => labels.location_id));
  if (places.size > 1) {
    const listed = listRows(found.map((one) => ({ id: one.fingerprint, name: titleOf(one) })));
    throw new DaemonError("bad_option", `several places have that name; give a fingerprint:${listed}`);
  }
  if (found.length > 0) return found.map((one) => ({ fingerprint: one.fingerprint, title: titleOf(one) }));
  throw new DaemonError("rejected", unknownMessage("alert", wanted, namesIn(alerts)));
}

/** The recordings and locations of the alerts. */
function namesIn(alerts: readonly ListedAlert[]) {
  const rows = alerts.flatMap(({ labels: { recording_id, recording = "", location_id, location = "" } }) => [
    ...(recording_id ? [{ id: recording_id, name: recording, location }] : []),
    ...(location_id ? [{ id: location_id, name: location }] : []),
  ]);
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

function titleOf({ labels: { alertname = "", recording, location } }: ListedAlert): string {
  return [alertname, recording, location].filter((part) => !!part).join(" · ");
}
