/** Runs a command line of `status` or `alerts` as `lenswatch` would, and gives what it said. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { ackCommand } from "../../src/commands/ack.ts";
import type { CommandIo, ExitCode } from "../../src/commands/cli/command.ts";
import { type CommandEntry, runCli } from "../../src/commands/cli/program.ts";
import { healthzCommand } from "../../src/commands/healthz.ts";
import { reportCommand } from "../../src/commands/report.ts";
import { silenceCommand } from "../../src/commands/silence.ts";
import { statusCommand } from "../../src/commands/status.ts";
import { whyCommand } from "../../src/commands/why.ts";
import { NOW } from "../metrics/fleets.ts";

const clock = { now: () => NOW };
const table: readonly CommandEntry[] = [
  { name: "status", summary: "the fleet", load: async (io) => statusCommand(io, clock) },
  { name: "silence", summary: "silences", load: async (io) => silenceCommand(io, clock) },
  { name: "ack", summary: "acknowledgement", load: async (io) => ackCommand(io, clock) },
  { name: "healthz", summary: "alive", load: async (io) => healthzCommand(io) },
  { name: "report", summary: "lost time", load: async (io) => reportCommand(io, clock) },
  { name: "why", summary: "one recording", load: async (io) => whyCommand(io, clock) },
];

/** Properties of the output where it is a terminal; `onFrame` gets each piece that is written. */
interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly signal?: AbortSignal;
  onFrame?(text: string): unknown;
}

export async function lenswatch(
  argv: readonly string[],
  env: Record<string, string> = {},
  { signal = new AbortController().signal, onFrame, ...terminal }: Terminal = {},
) {
  const stdout = Object.assign(new PassThrough(), terminal);
  if (onFrame) stdout.on("data", (chunk) => void onFrame(String(chunk)));
  const stderr = new PassThrough();
  let exitCode: ExitCode = 0;
  const io: CommandIo = {
    stdout,
    stderr,
    env,
    signal,
    setExitCode(code) {
      exitCode = code;
    },
  };
  const said = Promise.all([text(stdout), text(stderr)]);
  await runCli(argv, io, table);
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { stdout: out, stderr: err, exitCode };
}
