#!/usr/bin/env node
/**
 * The process: argv, signals and exit code are touched here and nowhere else. Commands get the environment passed in;
 * only the usual proxy variables and, for an embedded Redis, PATH are read where they are needed.
 *
 * The first SIGINT or SIGTERM asks for a graceful end, a later one forces it. npm passes a terminal's Ctrl-C on
 * to a child that has received it already, so what follows within SAME_PRESS_MS is the same press.
 */
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import type { CommandIo } from "./commands/cli/command.ts";
import { describeFailure, runCli } from "./commands/cli/program.ts";

// Compiled code is kept between starts. Node's own place is below /tmp, where other users may put code for us. The
// daemon starts seldom, and would hold what was kept, 11 MB, as long as it runs.
const { HOME, XDG_CACHE_HOME = HOME && join(HOME, ".cache") } = process.env;
if (XDG_CACHE_HOME && process.argv[2] !== "run") enableCompileCache(join(XDG_CACHE_HOME, "lenswatch"));

const SAME_PRESS_MS = 750;
const LINGER_MS = 5_000;

const controller = new AbortController();
let askedAt: number | undefined;

function onSignal(signal: NodeJS.Signals): void {
  const now = performance.now();
  if (askedAt === undefined) {
    askedAt = now;
    controller.abort();
  } else if (now - askedAt > SAME_PRESS_MS) {
    process.exit(signal === "SIGINT" ? 130 : 143);
  }
}

function onBug(thrown: unknown): void {
  process.stderr.write(describeFailure(thrown, process.env));
  process.exit(3);
}

/** The reader of our output has left (`lenswatch status | head`): the command ends without an error. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") onBug(error);
  controller.abort();
}

process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// A closed terminal ends every command but the daemon, which outlives it and reads its configuration again.
const onHangup: (() => void)[] = [];
process.on("SIGHUP", process.argv[2] === "run" ? () => onHangup.forEach((act) => void act()) : onSignal);
process.on("uncaughtException", onBug);
process.on("unhandledRejection", onBug);
process.stdout.on("error", onOutputError);
process.stderr.on("error", onOutputError);

const io: CommandIo = {
  // Opened by the commands that read it.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: controller.signal,
  setExitCode(code) {
    process.exitCode = code;
  },
  onHangup: (act) => void onHangup.push(act),
  atExit: (act) => void process.once("exit", act),
};

await runCli(process.argv.slice(2), io);

setTimeout(() => {
  process.stderr.write("lenswatch: something did not end by itself, leaving it behind\n");
  process.exit();
}, LINGER_MS).unref();
