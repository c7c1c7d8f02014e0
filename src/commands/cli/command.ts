/** Options and output shared by commands, and the parts of the process that they use. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { acknowledgedText } from "../../alerting/suppression-words.ts";
import type { Instant } from "../../lib/clock.ts";
import { parseDuration } from "../../lib/duration.ts";
import { toError } from "../../lib/errors.ts";
import { PAST_EXAMPLES, type PastSpan, parsePast } from "../../lib/moment.ts";
import { closestRows } from "../../lib/suggest.ts";
import { stripControls, visibleJson } from "../../lib/text.ts";
import { fitLines, targetOf } from "./table.ts";

export function configOption(): Option {
  return new Option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)");
}

/** `--output`: `text` is the default, for people; the others, with `json`, are for scripts. */
export function outputOption(text: "table" | "text", ...others: readonly string[]): Option {
  return new Option("--output <format>", "the output format").choices([text, "json", ...others]).default(text);
}

/** A day or time of the past, in a zone. */
export type PastIn = (zone: string) => PastSpan;

/** An option with a day or time of the past. */
export function pastOption(flags: string, description: string, now: Instant): Option {
  return new Option(flags, description).argParser((text): PastIn => {
    const past = parsePast(text, now, "utc");
    if (past) return (zone) => parsePast(text, now, zone) ?? past;
    throw new InvalidArgumentError(`It must be a day or time such as ${PAST_EXAMPLES}.`);
  });
}

/** Reads an option's duration as ms. `examples` completes "a duration such as". */
export function durationParser(leastMs: number, examples: string): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= leastMs) return ms;
    throw new InvalidArgumentError(`It must be a duration such as ${examples}.`);
  };
}

/** For an option that may be repeated. */
export function gather(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

type NamedRow = Readonly<Record<"id" | "name", string>> & { readonly location?: string };

/** Each row on an indented line of its own, with its id where names do not tell them apart. */
export function listRows(rows: readonly NamedRow[], withIds = true): string {
  const labels = rows.map(
    ({ id, name, location }) => `${withIds ? `${id}  ` : ""}${name}${location === undefined ? "" : ` · ${location}`}`,
  );
  return labels.map((label) => `\n  ${stripControls(label)}`).join("");
}

/** The message for a name that no row has, with up to three rows of a similar one. */
export function unknownMessage(
  kind: "location" | "recording" | "recording or location" | "alert",
  wanted: string,
  rows: readonly NamedRow[],
): string {
  const near = closestRows(wanted, rows);
  const hint =
    near.length === 0
      ? `; \`lenswatch ${kind === "alert" ? "status --alerts" : "status"}\` lists them`
      : `; similar:${listRows(near, new Set(near.map(({ name }) => name)).size < near.length)}`;
  return `no ${kind} has the id or name "${stripControls(wanted)}"${hint}`;
}

/** An instant in words. */
export type Written = (instant: Instant) => string;

/** The zone of the terminal. */
export function zoneOf({ env }: Pick<CommandIo, "env">): string {
  return env.TZ || Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `acknowledged by Ana until 15:00 GMT`, of an answer of the daemon. */
export function ackText(
  { author, ...ends }: { author: string } & Partial<Record<"until" | "eta", string | null | undefined>>,
  at: Written,
): string {
  const [until, eta] = [ends.until, ends.eta].map((iso) => (iso ? Date.parse(iso) : undefined));
  return acknowledgedText({ author, until, eta }, at);
}

/** Adds an example to a command's help. */
export function withExample(command: Command, line: string): Command {
  return command.addHelpText("after", `\nExample:\n  ${line}`);
}

/** The options of a command that works with the configuration itself. */
export type ConfigOptions = { readonly config?: string; readonly output: "text" | "json" };

/** Adds these, and an example. */
export function readsConfig(command: Command, example: string): Command {
  return withExample(command.addOption(configOption()).addOption(outputOption("text")), example);
}

/** Prints the answer as JSON or as text. */
export function print(io: Pick<CommandIo, "stdout">, output: string, answer: unknown, text: () => string): void {
  io.stdout.write(output === "json" ? asJson(answer) : fitLines(text(), targetOf(io.stdout)));
}

/** Indented JSON with a final newline; control characters in it are escaped. */
export function asJson(answer: unknown): string {
  return `${visibleJson(JSON.stringify(answer, null, 2))}\n`;
}

/** Prints what failed on stderr. */
export function fail(io: Pick<CommandIo, "stderr" | "setExitCode">, exitCode: ExitCode, message: string): void {
  io.stderr.write(fitLines(`lenswatch: ${message}\n`, targetOf(io.stderr)));
  io.setExitCode(exitCode);
}

type SendResult = { readonly accepted: boolean; readonly problem: string | null };

/** Never throws. */
export async function attempt(send: () => Promise<unknown>): Promise<SendResult> {
  try {
    await send();
    return { accepted: true, problem: null };
  } catch (thrown) {
    return { accepted: false, problem: toError(thrown).message };
  }
}

/** `Slack (ops): accepted`, with a newline. */
export function describeAttempt(recipient: string, { accepted, problem }: SendResult): string {
  return `${recipient}: ${accepted ? "accepted" : `not accepted: ${problem}`}\n`;
}

/** 0 success; 1 the answer is bad news; 2 wrong usage; 3 something needed is unreachable. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandIo {
  /** Absent where nothing can be read. */
  readonly stdin?: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  setExitCode(code: ExitCode): void;
  /** Calls `act` at each SIGHUP. */
  onHangup?(act: () => void): void;
  /** Calls `act` when the process exits, also when forced to; `act` must be synchronous. */
  atExit?(act: () => void): void;
}
