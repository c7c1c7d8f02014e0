/** The command line: the table of commands, loaded only when named; a failure is one sentence and an exit code. */
import { Command, CommanderError } from "commander";
import { ConfigError, formatProblem } from "../../config/problem.ts";
import { CodedError, toError } from "../../lib/errors.ts";
import { scrub } from "../../lib/log.ts";
import { visibleLines } from "../../lib/text.ts";
import { readVersion } from "../../lib/version.ts";
import type { CommandIo, ExitCode } from "./command.ts";
import { fitLines, targetOf } from "./table.ts";

/** A command in a module of its own; `summary` is its line in `lenswatch --help`. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(io: CommandIo): Promise<Command>;
}

/** In the order of `lenswatch --help`. */
export const commandTable: readonly CommandEntry[] = [
  entry("init", "ask for credentials and a receiver, check them and write a configuration", async (io) =>
    (await import("../init.ts")).initCommand(io),
  ),
  entry("run", "run the daemon", async (io) => (await import("../run.ts")).runCommand(io)),
  entry("demo", "run everything on this machine without any account, with a scripted outage", async (io) => {
    const [{ demoCommand }, { startApp }] = [await import("../demo.ts"), await import("../../app/app.ts")];
    return demoCommand(io, startApp);
  }),
  entry("simulate", "serve a simulation of the analytics service, with faults on demand", async (io) =>
    (await import("../simulate.ts")).simulateCommand(io),
  ),
  entry("check-config", "validate a configuration and print every problem with its position", async (io) =>
    (await import("../check-config.ts")).checkConfigCommand(io),
  ),
  entry("status", "list recordings with their status and alerts", async (io) =>
    (await import("../status.ts")).statusCommand(io),
  ),
  entry("silence", "add, list, extend, expire and undo silences", async (io) =>
    (await import("../silence.ts")).silenceCommand(io),
  ),
  entry("ack", "acknowledge alerts, which stops their reminders", async (io) =>
    (await import("../ack.ts")).ackCommand(io),
  ),
  entry("why", "print the decision log of a recording", async (io) => (await import("../why.ts")).whyCommand(io)),
  entry("digest", "render a digest to a file, or send it now", async (io) =>
    (await import("../digest.ts")).digestCommand(io),
  ),
  entry("report", "print the lost time of a period by cause", async (io) =>
    (await import("../report.ts")).reportCommand(io),
  ),
  entry("handover", "print what one shift tells the next", async (io) =>
    (await import("../handover.ts")).handoverCommand(io),
  ),
  entry("backtest", "replay past uptime through the rules: which alerts, when and how long", async (io) =>
    (await import("../backtest.ts")).backtestCommand(io),
  ),
  entry("query", "print figures of the analytics service: entries, dwell, zones, uptime and more", async (io) =>
    (await import("../query.ts")).queryCommand(io),
  ),
  entry("healthz", "check the health of the daemon on this machine", async (io) =>
    (await import("../healthz.ts")).healthzCommand(io),
  ),
  entry("notify-test", "send a test message to each integration of a receiver", async (io) =>
    (await import("../notify-test.ts")).notifyTestCommand(io),
  ),
  entry("slack", "print the manifest of the Slack app", async (io) => (await import("../slack.ts")).slackCommand(io)),
];

function entry(name: string, summary: string, load: CommandEntry["load"]): CommandEntry {
  return { name, summary, load };
}

/** Runs one command line. Never throws: failures are printed on stderr and set the exit code. */
export async function runCli(
  argv: readonly string[],
  io: CommandIo,
  table: readonly CommandEntry[] = commandTable,
): Promise<void> {
  try {
    const program = await createProgram(argv, io, table);
    await program.parseAsync(argv, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode !== 0) io.setExitCode(2);
      return;
    }
    // Stopping on a signal is no failure.
    if (io.signal.aborted && isAbort(thrown)) return;
    io.stderr.write(fitLines(describeFailure(thrown, io.env), targetOf(io.stderr)));
    io.setExitCode(exitCodeOf(thrown));
  }
}

/** One sentence with a newline, and the stack where LENSWATCH_LOG_LEVEL is debug or trace. */
export function describeFailure(thrown: unknown, env: CommandIo["env"]): string {
  const error = toError(thrown);
  const message = error instanceof CodedError ? error.message : `unexpected ${error.name}: ${error.message}`;
  const withStack = env.LENSWATCH_LOG_LEVEL === "debug" || env.LENSWATCH_LOG_LEVEL === "trace";
  const problems = error instanceof ConfigError ? error.problems.map((problem) => `${formatProblem(problem)}\n`) : [];
  const text = `${problems.join("")}lenswatch: ${message}\n${withStack ? `${error.stack}\n` : ""}`;
  return visibleLines(scrub(text));
}

/** The program with the commands that `argv` may name loaded, the others with their summary only. */
async function createProgram(argv: readonly string[], io: CommandIo, table: readonly CommandEntry[]): Promise<Command> {
  const program = new Command("lenswatch")
    .description("Watches camera recordings and notifies people when one goes offline and when it is back.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help, or that of a command")
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(visibleLines(scrub(text.replace(/^error: /, "lenswatch: ")))),
    })
    .showHelpAfterError("`lenswatch --help` lists the commands, `lenswatch COMMAND --help` a command's options.")
    .addHelpText("after", "\nTo start, `lenswatch init` writes a configuration; `lenswatch demo` needs none.")
    .exitOverride();
  for (const entry of table) {
    const named = argv.slice(0, 2).includes(entry.name);
    const command = named ? await entry.load(io) : new Command(entry.name);
    inherit(command, program);
    program.addCommand(command.summary(entry.summary));
  }
  return program;
}

/** commander copies its settings only to commands created in place. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}

const BAD_NEWS: ReadonlySet<string> = new Set(["invalid", "bad_scenario", "rejected", "unauthorized", "unknown_name"]);

/** An invalid file is an answer; a missing one is not. */
function exitCodeOf(thrown: unknown): ExitCode {
  if (!(thrown instanceof CodedError)) return 3;
  if (BAD_NEWS.has(thrown.code)) return 1;
  return thrown.code === "bad_option" || thrown.code === "too_much" ? 2 : 3;
}

function isAbort(thrown: unknown): boolean {
  const { name } = toError(thrown);
  return name === "AbortError" || name === "AbortedError";
}
