/**
 * The command line: which commands there are, loaded only when they are named, and what a failure looks like to
 * a person: one sentence, the next step, the right exit code.
 */
import { Command, CommanderError } from "commander";
import { ConfigError, formatProblem } from "../../config/problem.ts";
import { CodedError, toError } from "../../lib/errors.ts";
import { scrub } from "../../lib/log.ts";
import { visibleLines } from "../../lib/text.ts";
import { readVersion } from "../../lib/version.ts";
import type { CommandIo, ExitCode } from "./io.ts";

/** A command of its own module; `load` gives it complete, `summary` stands for it in `lenswatch --help`. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(io: CommandIo, argv: readonly string[]): Promise<Command>;
}

/** In the order of `lenswatch --help`. */
export const commandTable: readonly CommandEntry[] = [
  {
    name: "run",
    summary: "the daemon: polls, judges, alerts, exposes",
    load: async (io) => (await import("../run.ts")).runCommand(io),
  },
  {
    name: "demo",
    summary: "everything on this machine with no account anywhere: a bad day and its messages",
    load: async (io) =>
      (await import("../demo.ts")).demoCommand(io, (await import("../../app/app.ts")).startApp),
  },
  {
    name: "simulate",
    summary: "the analytics service itself, simulated, with faults to switch on",
    load: async (io) => (await import("../simulate.ts")).simulateCommand(io),
  },
  {
    name: "check-config",
    summary: "check a configuration and print every problem with its place",
    load: async (io) => (await import("../check-config.ts")).checkConfigCommand(io),
  },
  {
    name: "status",
    summary: "the fleet now, as a table",
    load: async (io) => (await import("../status.ts")).statusCommand(io),
  },
  {
    name: "alerts",
    summary: "active alerts",
    load: async (io) => (await import("../alerts.ts")).alertsCommand(io),
  },
  {
    name: "silence",
    summary: "keep quiet about some alerts for a while",
    load: async (io) => (await import("../silence.ts")).silenceCommand(io),
  },
  {
    name: "ack",
    summary: "stop reminders of an alert until it resolves",
    load: async (io) => (await import("../ack.ts")).ackCommand(io),
  },
  {
    name: "why",
    summary: "what was decided about a recording, when and why",
    load: async (io) => (await import("../why.ts")).whyCommand(io),
  },
  {
    name: "digest",
    summary: "render a digest to a file, or send it now",
    load: async (io) => (await import("../digest.ts")).digestCommand(io),
  },
  {
    name: "backtest",
    summary: "what the rules would have told of the past, beside what others would",
    load: async (io) => (await import("../backtest.ts")).backtestCommand(io),
  },
  {
    name: "healthz",
    summary: "ask the daemon on this machine whether it is alive, for health checks of containers",
    load: async (io) => (await import("../healthz.ts")).healthzCommand(io),
  },
  {
    name: "notify-test",
    summary: "send one marked test message to a receiver, through the real path",
    load: async (io) => (await import("../notify-test.ts")).notifyTestCommand(io),
  },
  {
    name: "complete",
    summary: "print a script that teaches a shell to complete commands, options and names",
    load: async (io, argv) => (await import("../complete.ts")).completeCommand(io, argv, commandTable),
  },
];

/** Runs one command line to its end. Never throws: failures are told on stderr and in the exit code. */
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
    // Stopped by a signal is what was asked for; whatever gave way to it is no news.
    if (io.signal.aborted && isAbort(thrown)) return;
    io.stderr.write(describeFailure(thrown, io.env));
    io.setExitCode(exitCodeOf(thrown));
  }
}

/** One sentence for a person, with a newline; the stack as well where LENSWATCH_LOG_LEVEL is debug or trace. */
export function describeFailure(thrown: unknown, env: CommandIo["env"]): string {
  const error = toError(thrown);
  const said = error instanceof CodedError ? error.message : `unexpected ${error.name}: ${error.message}`;
  const withStack = env.LENSWATCH_LOG_LEVEL === "debug" || env.LENSWATCH_LOG_LEVEL === "trace";
  const problems =
    error instanceof ConfigError ? error.problems.map((problem) => `${formatProblem(problem)}\n`) : [];
  const text = `${problems.join("")}lenswatch: ${said}\n${withStack ? `${error.stack}\n` : ""}`;
  return visibleLines(scrub(text));
}

/** The program with the commands that `argv` may mean loaded, the others standing by their summary. */
async function createProgram(
  argv: readonly string[],
  io: CommandIo,
  table: readonly CommandEntry[],
): Promise<Command> {
  const program = new Command("lenswatch")
    .description(
      "Watches the health of camera recordings and tells people when one goes dark and when it is back.",
    )
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help, or a command's")
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(visibleLines(scrub(text.replace(/^error: /, "lenswatch: ")))),
    })
    .showHelpAfterError(
      "`lenswatch --help` lists the commands, `lenswatch COMMAND --help` a command's options.",
    )
    .exitOverride();
  for (const entry of table) {
    const named = argv.slice(0, 2).includes(entry.name);
    const command = named ? await entry.load(io, argv) : new Command(entry.name);
    inherit(command, program);
    program.addCommand(command.summary(entry.summary));
  }
  return program;
}

/** commander hands its settings down only to commands made in place. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}

const BAD_NEWS: ReadonlySet<string> = new Set(["invalid", "bad_scenario", "rejected"]);

/** A file that says something wrong is an answer; a file that is not there is none. */
function exitCodeOf(thrown: unknown): ExitCode {
  if (!(thrown instanceof CodedError)) return 3;
  if (BAD_NEWS.has(thrown.code)) return 1;
  return thrown.code === "bad_option" ? 2 : 3;
}

function isAbort(thrown: unknown): boolean {
  const { name } = toError(thrown);
  return name === "AbortError" || name === "AbortedError";
}
