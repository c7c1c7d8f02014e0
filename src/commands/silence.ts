/** `silence add|list|expire`: what a running daemon is to keep quiet about, and until when. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { createMatcher, formatMatcher, parseMatcher } from "../alerting/matcher.ts";
import type { Matcher, MatchOperator } from "../alerting/route.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { humanDuration, parseDuration } from "../lib/duration.ts";
import { toError } from "../lib/errors.ts";
import { stripControls } from "../lib/text.ts";
import { addDaemonOptions, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import type { CommandIo } from "./cli/io.ts";
import { asJson, outputOption } from "./cli/output.ts";
import { effectOf } from "./cli/silence-effect.ts";
import { type Column, renderTable, type TableTarget, tableTarget } from "./cli/table.ts";

interface OutputOptions extends DaemonOptions {
  readonly output: "table" | "json";
}

interface AddOptions extends OutputOptions {
  readonly duration: number;
  readonly comment: string;
  readonly author?: string;
}

interface ListOptions extends OutputOptions {
  readonly expired?: boolean;
}

/** As Alertmanager gives it; what is not shown is passed on as it is. */
const Silence = z.looseObject({
  id: z.string(),
  status: z.object({ state: z.enum(["active", "pending", "expired"]) }),
  matchers: z.array(
    z.object({ name: z.string(), value: z.string(), isRegex: z.boolean(), isEqual: z.boolean() }),
  ),
  startsAt: z.string(),
  endsAt: z.string(),
  createdBy: z.string(),
  comment: z.string(),
});
type Silence = z.infer<typeof Silence>;

/** Exit code 0; 1 where there is no such silence or it cannot be had; else throws DaemonError or ConfigError. */
export function silenceCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const silence = new Command("silence").description("What is not told although it fires, and until when.");
  for (const one of [addCommand(io, clock), listCommand(io, clock), expireCommand(io)])
    silence.addCommand(one);
  return silence;
}

function addCommand(io: CommandIo, clock: Clock): Command {
  const add = new Command("add")
    .description("Keeps quiet about what all matchers match.")
    .addArgument(new Argument("<matcher...>", "name=value; also != =~ !~").argParser(collectMatcher))
    .addOption(
      new Option("--duration <time>", "how long, such as 30m or 1d12h")
        .argParser(parseLength)
        .default(3_600_000, "1h"),
    )
    .requiredOption("--comment <text>", "why (required)")
    .option("--author <name>", "who (default: $USER)")
    .addHelpText(
      "after",
      '\nExample:\n  lenswatch silence add alertname=RecordingOffline location="Leeds" --duration 2h --comment rewiring',
    );
  return withOutput(add).action(async (matchers: readonly Matcher[], options: AddOptions) => {
    const now = clock.now();
    const endsAt = now + options.duration;
    const body = {
      matchers: matchers.map(({ name, operator, value }) => ({
        name,
        value,
        isRegex: operator.endsWith("~"),
        isEqual: !operator.startsWith("!"),
      })),
      startsAt: new Date(now).toISOString(),
      endsAt: new Date(endsAt).toISOString(),
      createdBy: options.author ?? io.env.USER ?? "lenswatch",
      comment: options.comment,
    };
    await withDaemon(options, io, async (daemon) => {
      const made = await daemon.send("POST", "/api/v2/silences", body, z.object({ silenceID: z.string() }));
      if (options.output === "json") return io.stdout.write(asJson(made));
      const what = `${matchers.map(formatMatcher).join(", ")} for ${humanDuration(options.duration)}`;
      io.stdout.write(`Silence ${made.silenceID} holds ${what}.\n`);
      return io.stdout.write(`${stripControls(await effectOf(daemon, matchers))}\n`);
    });
  });
}

function listCommand(io: CommandIo, clock: Clock): Command {
  const list = new Command("list")
    .description("Silences that hold something, or will.")
    .option("--expired", "also those that are over")
    .addHelpText("after", "\nExample:\n  lenswatch silence list --expired --output json");
  return withOutput(list).action(async (options: ListOptions) => {
    const silences = await withDaemon(options, io, (daemon) =>
      daemon.get("/api/v2/silences", { expired: String(options.expired ?? false) }, z.array(Silence)),
    );
    io.stdout.write(
      options.output === "json" ? asJson(silences) : asText(silences, clock.now(), tableTarget(io)),
    );
  });
}

function expireCommand(io: CommandIo): Command {
  const expire = new Command("expire")
    .description("Ends silences now; what they held and still fires is told at once.")
    .argument("<id...>", "as `silence list` prints them")
    .addHelpText("after", "\nExample:\n  lenswatch silence expire 3f1c9a52-6a0e-4d7a-9c5b-1a2b3c4d5e6f");
  return withOutput(expire).action(async (ids: readonly string[], options: ListOptions) => {
    await withDaemon(options, io, async (daemon) => {
      for (const id of ids) {
        await daemon.send("DELETE", `/api/v2/silence/${encodeURIComponent(id)}`, undefined, z.unknown());
        if (options.output === "table") io.stdout.write(`Silence ${id} is over.\n`);
      }
    });
    if (options.output === "json") io.stdout.write(asJson({ expired: ids }));
  });
}

function withOutput(command: Command): Command {
  return addDaemonOptions(command.addOption(outputOption("table")));
}

const columns: readonly Column[] = [
  { head: "ID" },
  { head: "STATE" },
  { head: "MATCHERS", canShrink: true },
  { head: "WHEN" },
  { head: "BY", canShrink: true },
  { head: "COMMENT", canShrink: true },
];

function asText(silences: readonly Silence[], now: Instant, target: TableTarget): string {
  if (silences.length === 0) return "No silences.\n";
  const rows = silences.map(({ id, status, matchers, startsAt, endsAt, createdBy, comment }) => [
    id,
    status.state,
    matchers.map((one) => formatMatcher({ ...one, operator: operatorOf(one) })).join(", "),
    whenText(status.state, Date.parse(startsAt), Date.parse(endsAt), now),
    createdBy,
    comment,
  ]);
  const count = `${silences.length} ${silences.length === 1 ? "silence" : "silences"}`;
  return `${renderTable(columns, rows, target)}\n${count}\n`;
}

function whenText(
  state: Silence["status"]["state"],
  startsAt: Instant,
  endsAt: Instant,
  now: Instant,
): string {
  if (state === "pending") return `begins in ${humanDuration(startsAt - now)}`;
  return state === "active"
    ? `ends in ${humanDuration(endsAt - now)}`
    : `over for ${humanDuration(now - endsAt)}`;
}

function operatorOf({ isRegex, isEqual }: Silence["matchers"][number]): MatchOperator {
  if (isEqual) return isRegex ? "=~" : "=";
  return isRegex ? "!~" : "!=";
}

/** As the shell hands them over: quotes around a value are gone, and there may be spaces in it. */
function collectMatcher(text: string, before: readonly Matcher[] | undefined): Matcher[] {
  const [, name, operator, value] = /^\s*([A-Za-z_]\w*)\s*(=~|!=|!~|=)(.*)$/s.exec(text) ?? [];
  try {
    const matcher =
      name === undefined || value === undefined || value.trim().startsWith('"')
        ? parseMatcher(text)
        : createMatcher(name, operator as MatchOperator, value);
    return [...(before ?? []), matcher];
  } catch (thrown) {
    throw new InvalidArgumentError(`It should look like severity=warning: ${toError(thrown).message}.`);
  }
}

function parseLength(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1_000) throw new InvalidArgumentError("It should look like 30m, 2h or 1d12h.");
  return ms;
}
