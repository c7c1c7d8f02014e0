/** Runs a command line as `lenswatch` would, and gives what it said. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { onTestFinished } from "vitest";
import { ackCommand } from "../../src/commands/ack.ts";
import { backtestCommand } from "../../src/commands/backtest.ts";
import type { CommandIo, ExitCode } from "../../src/commands/cli/command.ts";
import { type CommandEntry, commandTable, runCli } from "../../src/commands/cli/program.ts";
import { handoverCommand } from "../../src/commands/handover.ts";
import { queryCommand } from "../../src/commands/query.ts";
import { reportCommand } from "../../src/commands/report.ts";
import { silenceCommand } from "../../src/commands/silence.ts";
import { statusCommand } from "../../src/commands/status.ts";
import { whyCommand } from "../../src/commands/why.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { NOW } from "../metrics/fleets.ts";

const clocked: Readonly<Record<string, (io: CommandIo, clock: Clock) => Command>> = {
  ...{ status: statusCommand, silence: silenceCommand, ack: ackCommand, why: whyCommand },
  ...{ report: reportCommand, backtest: backtestCommand, query: queryCommand, handover: handoverCommand },
};

/** The command table with the clock of the test. */
function tableAt(now: number): readonly CommandEntry[] {
  return commandTable.map((entry) => {
    const command = clocked[entry.name];
    return command ? { ...entry, load: async (io) => command(io, { now: () => now }) } : entry;
  });
}

export interface Around extends Partial<Pick<CommandIo, "stdin" | "signal">> {
  /** The output is a terminal. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly stderr?: PassThrough;
  readonly now?: number;
  readonly table?: readonly CommandEntry[];
  /** Gets each piece that is written. */
  onFrame?(text: string): unknown;
}

/** A command that runs until `stop`, and may be heard meanwhile. */
export function start(argv: readonly string[], env: CommandIo["env"] = {}, around: Around = {}) {
  const { signal, stdin, now = NOW, table = tableAt(now), stderr = new PassThrough(), onFrame, ...terminal } = around;
  const stopping = new AbortController();
  const stdout = Object.assign(new PassThrough(), terminal);
  let soFar = "";
  stdout.on("data", (chunk) => {
    soFar += chunk;
    onFrame?.(String(chunk));
  });
  let exitCode: ExitCode = 0;
  const io: CommandIo = {
    ...{ stdout, stderr, env, signal: signal ?? stopping.signal, ...(stdin && { stdin }) },
    setExitCode(code) {
      exitCode = code;
    },
  };
  const said = Promise.all([text(stdout), text(stderr)]);
  const ended = runCli(argv, io, table).then(async () => {
    stdout.end();
    stderr.end();
    const [out, err] = await said;
    return { stdout: out, stderr: err, exitCode };
  });
  /** Resolves once these words were written; throws with the last ones where they are not within 100 s. */
  async function heard(words: RegExp): Promise<RegExpExecArray> {
    const late = AbortSignal.timeout(100_000);
    for (;;) {
      const found = words.exec(soFar);
      if (found) return found;
      await Promise.race([
        once(stdout, "data", { signal: late }).catch(() => {
          throw new Error(`not heard: ${words}; but …${soFar.slice(-2_000)}`);
        }),
        ended.then(({ stderr }) => Promise.reject(new Error(`ended without ${words}: ${stderr}`))),
      ]);
    }
  }
  return { ended, heard, stop: () => stopping.abort() };
}

export const lenswatch = (...given: Parameters<typeof start>) => start(...given).ended;

/** A configuration, removed after the test. */
export async function configuration(yaml: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "lenswatch-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "lenswatch.yaml");
  await writeFile(file, yaml);
  return file;
}
