/** `silence add|list|extend|expire`: silences of a running daemon. */
import { Command, Option } from "commander";
import { z } from "zod";
import {
  createMatcher,
  formatMatcher,
  type Matcher,
  type MatchOperator,
  parseMatcher,
  toApiMatcher,
} from "../alerting/matcher.ts";
import { matchersFor } from "../alerting/prepared-silence.ts";
import { groupOfSubject } from "../health/alert.ts";
import type { ApiIncident } from "../http/v1/incidents.ts";
import { ApiSilencePreview } from "../http/v1/silence-preview.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { toError } from "../lib/errors.ts";
import { count, counted } from "../lib/format.ts";
import { MOMENT_EXAMPLES } from "../lib/moment.ts";
import { stripControls, visibleLines } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";
import { asRead } from "./cli/as-read.ts";
import { type CommandIo, durationParser, print } from "./cli/command.ts";
import {
  asksDaemon,
  authorFrom,
  type Daemon,
  DaemonError,
  type DaemonOptions,
  readerZone,
  withDaemon,
} from "./cli/daemon.ts";
import { findNamed, incidentNamed, labelOfKind, nothingNamed, titleOf } from "./cli/named.ts";
import { silenceSpan } from "./cli/silence-span.ts";
import { renderGroups, type TableColumn, tableTarget } from "./cli/table.ts";

type OutputOptions = DaemonOptions & { readonly output: "table" | "json" };

type AddOptions = OutputOptions &
  Readonly<{ duration: number; start?: string; until?: string; comment: string; author?: string; anyway?: true }>;

/** A silence of Alertmanager's API; fields that are not shown are kept for JSON. */
const Silence = z.looseObject({
  id: z.string(),
  status: z.object({ state: z.enum(["active", "pending", "expired"]) }),
  matchers: z.array(z.object({ name: z.string(), value: z.string(), isRegex: z.boolean(), isEqual: z.boolean() })),
  startsAt: z.string(),
  endsAt: z.string(),
  createdBy: z.string(),
  comment: z.string(),
  about: z.string(),
});
type Silence = z.infer<typeof Silence>;

/** Exit code 0; 1 for an unknown or invalid silence. Throws DaemonError or ConfigError. */
export function silenceCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const silence = new Command("silence").description("Add, list, extend, expire silences, and undo that.");
  const all = [
    addCommand(io, clock),
    listCommand(io, clock),
    extendCommand(io, clock),
    expireCommand(io),
    undoCommand(io, clock),
  ];
  for (const one of all) silence.addCommand(one);
  return silence;
}

function addCommand(io: CommandIo, clock: Clock): Command {
  const add = new Command("add")
    .description(
      "Silence a recording, a location, a camera server or an incident, or the alerts that match all matchers.",
    )
    .argument(
      "<what...>",
      "an id or full name; an incident's id; matchers, such as severity=warning, or with != =~ !~; or both",
    )
    .addOption(lasting("the duration"))
    .option("--start <time>", `when it begins (default: now): ${MOMENT_EXAMPLES}`)
    .addOption(new Option("--until <time>", "when it ends, likewise").conflicts("duration"))
    .requiredOption("--comment <text>", "the reason (required)")
    .option("--anyway", "also where it matches nothing that is known")
    .option("--by, --author <name>", "the author (default: $USER)");
  const example = 'lenswatch silence add "Leeds Briggate" --for 2h --comment rewiring';
  return asksDaemon(add, example, "table").action(async (what: readonly string[], options: AddOptions) => {
    const now = clock.now();
    const said = { createdBy: authorFrom(options, io.env), comment: options.comment };
    const { matchers: given, name } = readWhat(what);
    await withDaemon(options, io, async (daemon) => {
      const incident = await incidentNamed(daemon, name);
      const found = name === "" || incident ? undefined : await findNamed(daemon, name);
      if (name !== "" && !incident && !found) throw new DaemonError("bad_option", await nothingNamed(daemon, name));
      const own = incident ? ofIncident(incident) : found && createMatcher(labelOfKind[found.kind], "=", found.id);
      const matchers = [...(own ? [own] : []), ...given];
      const shop = found?.timezone ?? "UTC";
      const times = timesSeenAt(now, await readerZone(daemon, io));
      const { startsAt, endsAt, words } = silenceSpan(options, { now, times, shop });
      const preview = await previewOf(daemon, matchers);
      if (preview.isIdle && !options.anyway) throw new DaemonError("bad_option", idleMessage(preview));
      const [starts, ends] = [startsAt, endsAt].map((at) => new Date(at).toISOString());
      const body = { matchers: matchers.map(toApiMatcher), startsAt: starts, endsAt: ends, ...said };
      const made = await daemon.send("POST", "/api/v2/silences", body, z.object({ silenceID: z.string() }));
      const named = incident ? [`${incident.title} · ${incident.id}`] : found ? [titleOf(found)] : [];
      const all = [...named, ...given.map(formatMatcher)].join(", ");
      const effect = effectOf(preview, startsAt > now);
      const text = `Silence ${shortId(made.silenceID)} silences ${all} ${words}.\n${effect}\n`;
      print(io, options.output, made, () => visibleLines(text));
    });
  });
}

/** The matcher for an incident as it is now: its group, else locations, else recordings. Throws DaemonError. */
function ofIncident({ id, episodes }: Pick<ApiIncident, "id" | "episodes">): Matcher {
  const open = episodes.filter(({ endsAt }) => endsAt === null);
  const [group] = open.flatMap(({ subject }) => groupOfSubject(subject) ?? []);
  const idsOf = (kind: string) => new Set(open.flatMap(({ subject }) => (subject.kind === kind ? subject.id : [])));
  const [locations, recordings] = [idsOf("location"), idsOf("recording")];
  const { label, value = "" } = group ?? { label: locations.size > 0 ? "location_id" : "recording_id" };
  // A location with a camera offline is not silenced as a whole.
  const isOther = label === "location_id" && open.some((one) => one.locationId && !locations.has(one.locationId));
  const values = group ? [value] : [...(label === "location_id" ? locations : recordings)];
  const [text, ...more] = matchersFor(label, values);
  if (text !== undefined && more.length === 0 && !isOther) return parseMatcher(text);
  const why = text === undefined ? "has no alert about recordings now" : "takes more than one silence: use its page";
  throw new DaemonError("bad_option", `${id} ${why}`);
}

const lasting = (what: string) =>
  new Option("--for, --duration <time>", `${what}, such as 30m or 1d12h`)
    .argParser(durationParser(1_000, "30m, 2h or 1d12h"))
    .default(3_600_000, "1h");

function listCommand(io: CommandIo, clock: Clock): Command {
  const list = new Command("list")
    .description("List active and pending silences.")
    .option("--expired", "include expired silences");
  return asksDaemon(list, "lenswatch silence list --expired --output json", "table").action(
    async (options: OutputOptions & { expired?: boolean }) => {
      const query = { expired: String(options.expired ?? false) };
      const silences = await withDaemon(options, io, (daemon) =>
        daemon.get("/api/v2/silences", query, z.array(Silence)),
      );
      print(io, options.output, silences, () => {
        if (silences.length === 0) return "No silences.\n";
        const groups = [...Map.groupBy(silences, ({ about }) => about)].map(([heading, rows]) => ({ heading, rows }));
        return `${renderGroups(columnsAt(clock.now()), groups, tableTarget(io))}\n${counted(silences.length, "silence")}\n`;
      });
    },
  );
}

function extendCommand(io: CommandIo, clock: Clock): Command {
  const extend = new Command("extend")
    .description("Let a silence end later.")
    .argument("<id>", ID)
    .addOption(lasting("how much later"))
    .addOption(new Option("--until <time>", `when it ends: ${MOMENT_EXAMPLES}`).conflicts("duration"));
  return asksDaemon(extend, "lenswatch silence extend 3f1c9a52 --for 2h", "table").action(
    async (prefix: string, options: OutputOptions & Readonly<{ duration: number; until?: string }>) => {
      const now = clock.now();
      await withDaemon(options, io, async (daemon) => {
        const silence = await silenceOf(daemon, prefix);
        const { id } = silence;
        if (silence.status.state === "expired")
          throw new DaemonError("bad_option", `the silence ${id} is over: set it again with \`lenswatch silence add\``);
        const before = Date.parse(silence.endsAt);
        const times = timesSeenAt(now, await readerZone(daemon, io));
        const { duration, until = new Date(before + duration).toISOString() } = options;
        const { endsAt: end, words } = silenceSpan({ duration, until }, { now, times, shop: "UTC" });
        if (end <= before) throw new DaemonError("bad_option", `the silence ${id} lasts longer than that already`);
        const body = { ...silence, endsAt: new Date(end).toISOString() };
        const made = await daemon.send("POST", "/api/v2/silences", body, z.object({ silenceID: z.string() }));
        print(io, options.output, made, () => {
          return `Silence ${shortId(made.silenceID)} lasts ${words}, for another ${humanDuration(end - now)}.\n`;
        });
      });
    },
  );
}

function undoCommand(io: CommandIo, clock: Clock): Command {
  const undo = new Command("undo")
    .description("Restore what was before the last change of a silence, for 15 minutes after it; a new one expires.")
    .argument("<id>", ID);
  return asksDaemon(undo, "lenswatch silence undo 3f1c9a52", "table").action(
    async (prefix: string, options: OutputOptions) =>
      withDaemon(options, io, async (daemon) => {
        const { id } = await silenceOf(daemon, prefix, true);
        await daemon.send("POST", `/api/v1/silences/${encodeURIComponent(id)}/undo`, {}, z.unknown(), IDS);
        const now = await daemon.get(`/api/v2/silence/${encodeURIComponent(id)}`, {}, Silence);
        const until = timesSeenAt(clock.now(), await readerZone(daemon, io)).at(Date.parse(now.endsAt), "UTC");
        const is = now.status.state === "expired" ? "is expired" : `lasts until ${until} again`;
        print(io, options.output, now, () => `Silence ${shortId(id)} ${is}.\n`);
      }),
  );
}

function expireCommand(io: CommandIo): Command {
  const expire = new Command("expire")
    .description("Expire silences now; alerts they silenced are notified where they still fire.")
    .argument("<id...>", ID);
  const example = "lenswatch silence expire 3f1c9a52";
  return asksDaemon(expire, example, "table").action(async (prefixes: readonly string[], options: OutputOptions) => {
    const ids: string[] = [];
    await withDaemon(options, io, async (daemon) => {
      for (const prefix of prefixes) {
        const { id } = await silenceOf(daemon, prefix);
        await daemon.send("DELETE", `/api/v2/silence/${encodeURIComponent(id)}`, undefined, z.unknown(), IDS);
        ids.push(id);
        if (options.output === "table")
          io.stdout.write(`Silence ${shortId(id)} expired; to restore it: lenswatch silence undo ${shortId(id)}\n`);
      }
    });
    print(io, options.output, { expired: ids }, () => "");
  });
}

const ID = "as printed by `lenswatch silence list`, or how it begins";
/** Enough of an id to type. */
const shortId = (id: string) => id.slice(0, 8);

const IDS = "`lenswatch silence list` prints the ids";
/** The silence of this id, or the one whose id begins so: one that is not over, or any. Throws DaemonError. */
async function silenceOf(daemon: Daemon, prefix: string, isAny = false): Promise<Silence> {
  const silences = await daemon.get("/api/v2/silences", {}, z.array(Silence));
  const isMeant = ({ id, status }: Silence) =>
    id.startsWith(prefix.toLowerCase()) && (isAny || status.state !== "expired");
  const exact = silences.filter(({ id }) => id === prefix.toLowerCase());
  const [found, ...others] = exact.length > 0 ? exact : silences.filter(isMeant);
  if (!found) throw new DaemonError("rejected", `There is no silence ${JSON.stringify(prefix)}: ${IDS}`);
  if (others.length === 0) return found;
  const many = `${others.length + 1} silences have an id that begins with ${prefix}: give more of it`;
  throw new DaemonError("bad_option", many);
}

const columnsAt = (now: Instant): readonly TableColumn<Silence>[] => [
  { head: "WHEN", cell: (silence) => whenText(silence, now), wraps: true },
  { head: "BY", cell: ({ createdBy }) => createdBy, wraps: true },
  { head: "COMMENT", cell: ({ comment }) => comment, wraps: true },
  { head: "ID", cell: ({ id }) => shortId(id) },
];

function whenText({ status: { state }, startsAt, endsAt }: Silence, now: Instant): string {
  const lastsMs = Date.parse(endsAt) - Date.parse(startsAt);
  if (state === "pending")
    return `begins in ${humanDuration(Date.parse(startsAt) - now)}, for ${humanDuration(lastsMs)}`;
  const leftMs = Date.parse(endsAt) - now;
  return state === "active" ? `ends in ${humanDuration(leftMs)}` : `ended ${humanDuration(-leftMs)} ago`;
}

/** A name may be several words. The shell has removed quotes around a value, which may contain spaces. */
function readWhat(what: readonly string[]) {
  const texts = what.map((text) => ({ text, parts: MATCHER.exec(text) }));
  const matchers = texts.flatMap(({ text, parts }) => (parts ? readMatcher(text, parts) : []));
  return { matchers, name: texts.flatMap(({ text, parts }) => (parts ? [] : text)).join(" ") };
}

const MATCHER = /^\s*([A-Za-z_]\w*)\s*(=~|!=|!~|=)(.*)$/s;

function readMatcher(text: string, [, name = "", operator, value = ""]: RegExpExecArray): Matcher {
  try {
    return value.trim().startsWith('"') ? parseMatcher(text) : createMatcher(name, operator as MatchOperator, value);
  } catch (thrown) {
    const why = toError(thrown).message;
    throw new DaemonError("bad_option", `${text} is no matcher such as severity=warning: ${why}`);
  }
}

function previewOf(daemon: Daemon, matchers: readonly Matcher[]): Promise<ApiSilencePreview> {
  const query = { matchers: matchers.map(formatMatcher).join(", ") };
  return daemon.get("/api/v1/silences/preview", query, asRead(ApiSilencePreview));
}

function effectOf({ alerts, recordings, of, isIdle }: ApiSilencePreview, isPending: boolean): string {
  if (isIdle) return "It matches nothing that is known.";
  const now =
    alerts === 0
      ? "No firing alert matches"
      : `${counted(alerts, "firing alert")} ${isPending ? "would match now" : "silenced"}`;
  return `${now}; it covers ${count(recordings)} of ${counted(of, "recording")}.`;
}

function idleMessage({ warnings: [why = ""] }: ApiSilencePreview): string {
  return `${stripControls(why)} --anyway sets it all the same`;
}
