/** `silence add|list|extend|expire`: silences of a running daemon. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import {
  createMatcher,
  formatMatcher,
  type Matcher,
  type MatchOperator,
  matchesAll,
  operatorOf,
  parseMatcher,
  toApiMatcher,
} from "../alerting/matcher.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { toError } from "../lib/errors.ts";
import { counted } from "../lib/format.ts";
import { MOMENT_EXAMPLES } from "../lib/moment.ts";
import { stripControls } from "../lib/text.ts";
import { readActiveAlerts } from "./cli/active-alerts.ts";
import { type CommandIo, durationParser, localZone, print } from "./cli/command.ts";
import { asksDaemon, authorFrom, type Daemon, DaemonError, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { silenceSpan } from "./cli/silence-span.ts";
import { renderGroups, type TableColumn, tableTarget } from "./cli/table.ts";

type OutputOptions = DaemonOptions & { readonly output: "table" | "json" };

type AddOptions = OutputOptions &
  Readonly<{ duration: number; start?: string; until?: string; comment: string; author?: string }>;

/** A silence of Alertmanager's API; fields that are not shown are kept for JSON. */
const Silence = z.looseObject({
  id: z.string(),
  status: z.object({ state: z.enum(["active", "pending", "expired"]) }),
  matchers: z.array(z.object({ name: z.string(), value: z.string(), isRegex: z.boolean(), isEqual: z.boolean() })),
  startsAt: z.string(),
  endsAt: z.string(),
  createdBy: z.string(),
  comment: z.string(),
});
type Silence = z.infer<typeof Silence>;

/** Exit code 0; 1 for an unknown or invalid silence. Throws DaemonError or ConfigError. */
export function silenceCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const silence = new Command("silence").description("Add, list, extend and expire silences.");
  const all = [addCommand(io, clock), listCommand(io, clock), extendCommand(io, clock), expireCommand(io)];
  for (const one of all) silence.addCommand(one);
  return silence;
}

function addCommand(io: CommandIo, clock: Clock): Command {
  const add = new Command("add")
    .description("Silence the alerts that match all matchers.")
    .addArgument(new Argument("<matcher...>", "name=value, or with != =~ !~").argParser(collectMatcher))
    .addOption(
      new Option("--for, --duration <time>", "the duration, such as 30m or 1d12h")
        .argParser(durationParser(1_000, "30m, 2h or 1d12h"))
        .default(3_600_000, "1h"),
    )
    .option("--start <time>", `when it begins (default: now): ${MOMENT_EXAMPLES}`)
    .addOption(new Option("--until <time>", "when it ends, likewise").conflicts("duration"))
    .requiredOption("--comment <text>", "the reason (required)")
    .option("--author <name>", "the author (default: $USER)");
  const example = 'lenswatch silence add alertname=RecordingOffline location="Leeds" --duration 2h --comment rewiring';
  return asksDaemon(add, example, "table").action(async (matchers: readonly Matcher[], options: AddOptions) => {
    const now = clock.now();
    const said = { createdBy: authorFrom(options, io.env), comment: options.comment };
    await withDaemon(options, io, async (daemon) => {
      const local = { now, localZone: localZone(io.env) };
      const { startsAt, endsAt, words } = await silenceSpan(daemon, matchers, options, local);
      const [starts, ends] = [startsAt, endsAt].map((at) => new Date(at).toISOString());
      const body = { matchers: matchers.map(toApiMatcher), startsAt: starts, endsAt: ends, ...said };
      const made = await daemon.send("POST", "/api/v2/silences", body, z.object({ silenceID: z.string() }));
      const what = `${matchers.map(formatMatcher).join(", ")} ${words}`;
      print(io, options.output, made, () => `Silence ${made.silenceID} silences ${what}.\n`);
      if (options.output === "json") return;
      io.stdout.write(`${stripControls(await effectOf(daemon, matchers, startsAt > now))}\n`);
    });
  });
}

function listCommand(io: CommandIo, clock: Clock): Command {
  const list = new Command("list")
    .description("List active and pending silences.")
    .option("--expired", "include expired silences");
  return asksDaemon(list, "lenswatch silence list --expired --output json", "table").action(
    async (options: OutputOptions & { expired?: boolean }) => {
      const silences = await withDaemon(options, io, (daemon) =>
        daemon.get("/api/v2/silences", { expired: String(options.expired ?? false) }, z.array(Silence)),
      );
      print(io, options.output, silences, () => {
        if (silences.length === 0) return "No silences.\n";
        const groups = [...Map.groupBy(silences, matchersText)].map(([heading, rows]) => ({ heading, rows }));
        return `${renderGroups(columnsAt(clock.now()), groups, tableTarget(io))}\n${counted(silences.length, "silence")}\n`;
      });
    },
  );
}

function extendCommand(io: CommandIo, clock: Clock): Command {
  const extend = new Command("extend")
    .description("Let a silence end later.")
    .argument("<id>", ID)
    .addOption(
      new Option("--for, --duration <time>", "how much later, such as 30m or 1d12h")
        .argParser(durationParser(1_000, "30m, 2h or 1d12h"))
        .default(3_600_000, "1h"),
    )
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
        const matchers = silence.matchers.map((one) => ({ ...one, operator: operatorOf(one) }));
        const local = { now, localZone: localZone(io.env) };
        const { duration, until = new Date(before + duration).toISOString() } = options;
        const { endsAt: end, words } = await silenceSpan(daemon, matchers, { duration, until }, local);
        if (end <= before) throw new DaemonError("bad_option", `the silence ${id} lasts longer than that already`);
        const body = { ...silence, endsAt: new Date(end).toISOString() };
        const made = await daemon.send("POST", "/api/v2/silences", body, z.object({ silenceID: z.string() }));
        print(io, options.output, made, () => {
          return `Silence ${made.silenceID} lasts ${words}, for another ${humanDuration(end - now)}.\n`;
        });
      });
    },
  );
}

function expireCommand(io: CommandIo): Command {
  const expire = new Command("expire")
    .description("Expire silences now; alerts they silenced are notified where they still fire.")
    .argument("<id...>", ID);
  const example = "lenswatch silence expire 3f1c9a52-6a0e-4d7a-9c5b-1a2b3c4d5e6f";
  return asksDaemon(expire, example, "table").action(async (prefixes: readonly string[], options: OutputOptions) => {
    const ids: string[] = [];
    await withDaemon(options, io, async (daemon) => {
      for (const prefix of prefixes) {
        const { id } = await silenceOf(daemon, prefix);
        await daemon.send("DELETE", `/api/v2/silence/${encodeURIComponent(id)}`, undefined, z.unknown(), IDS);
        ids.push(id);
        if (options.output === "table") io.stdout.write(`Silence ${id} expired.\n`);
      }
    });
    print(io, options.output, { expired: ids }, () => "");
  });
}

const ID = "as printed by `lenswatch silence list`, or how it begins";
const IDS = "`lenswatch silence list` prints the ids";
/** The silence of this id, or the one that is not over and whose id begins so. Throws DaemonError. */
async function silenceOf(daemon: Daemon, prefix: string): Promise<Silence> {
  const silences = await daemon.get("/api/v2/silences", {}, z.array(Silence));
  const isMeant = ({ id, status }: Silence) => id.startsWith(prefix.toLowerCase()) && status.state !== "expired";
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
  { head: "ID", cell: ({ id }) => id },
];

function whenText({ status: { state }, startsAt, endsAt }: Silence, now: Instant): string {
  const lastsMs = Date.parse(endsAt) - Date.parse(startsAt);
  if (state === "pending")
    return `begins in ${humanDuration(Date.parse(startsAt) - now)}, for ${humanDuration(lastsMs)}`;
  const leftMs = Date.parse(endsAt) - now;
  return state === "active" ? `ends in ${humanDuration(leftMs)}` : `ended ${humanDuration(-leftMs)} ago`;
}

function matchersText({ matchers }: Silence): string {
  return matchers.map((one) => formatMatcher({ ...one, operator: operatorOf(one) })).join(", ");
}

/** The shell has removed quotes around a value, which may contain spaces. */
function collectMatcher(text: string, before: readonly Matcher[] | undefined): Matcher[] {
  const [, name, operator, value] = /^\s*([A-Za-z_]\w*)\s*(=~|!=|!~|=)(.*)$/s.exec(text) ?? [];
  try {
    const matcher =
      name === undefined || value === undefined || value.trim().startsWith('"')
        ? parseMatcher(text)
        : createMatcher(name, operator as MatchOperator, value);
    return [...(before ?? []), matcher];
  } catch (thrown) {
    throw new InvalidArgumentError(`It must be a matcher such as severity=warning: ${toError(thrown).message}.`);
  }
}

/** A sentence about the silence that was just added. A failed request is no failure: the silence exists. */
async function effectOf(daemon: Daemon, matchers: readonly Matcher[], isPending: boolean): Promise<string> {
  try {
    const alerts = await readActiveAlerts(daemon);
    const silenced = alerts.filter(({ labels }) => matchesAll(matchers, labels)).length;
    if (silenced > 0) return `${counted(silenced, "firing alert")} ${isPending ? "would match now" : "silenced"}.`;
    const unknown = await unknownName(daemon, matchers);
    return unknown === undefined
      ? "No firing alert matches."
      : `No firing alert matches, and there is no ${unknown}: check the names with \`lenswatch status\`.`;
  } catch (thrown) {
    if (thrown instanceof DaemonError) return "The firing alerts could not be read.";
    throw thrown;
  }
}

/** `location "Bathh"`: the first name or id in the matchers that is not in the fleet. */
async function unknownName(daemon: Daemon, matchers: readonly Matcher[]): Promise<string | undefined> {
  for (const { name, operator, value } of matchers) {
    const parameter = /^(recording|location)(_id)?$/.exec(name)?.[1];
    if (parameter === undefined || operator !== "=" || value === "") continue;
    const query = { [parameter]: value, limit: "1" };
    const { items } = await daemon.get("/api/v1/recordings", query, z.object({ items: z.array(z.unknown()) }));
    if (items.length === 0) return `${parameter} ${JSON.stringify(value)}`;
  }
  return undefined;
}
