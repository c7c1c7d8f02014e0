/** The daemon as a process of its own, to be killed like one. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/** Compiled code is kept between starts: most of what a start costs. */
export const NODE_COMPILE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/lenswatch-tests", import.meta.url));
const PATIENCE_MS = 150_000;

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Daemon {
  readonly pid: number;
  /** Its configuration's path. */
  readonly file: string;
  readonly log: readonly LogLine[];
  /** Everything it has written so far, as it was written. */
  readonly text: string;
  /** Resolves with the first line, old or new, that has this message. */
  logged(msg: string): Promise<LogLine>;
  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void;
  /** Ends it and waits for its exit; gives its exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Starts `lenswatch run` with a configuration's text; it need not be up yet when this resolves. */
export async function startDaemon(
  config: string,
  { main = MAIN, env = {} }: { main?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Daemon> {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-daemon-"));
  const file = join(dir, "lenswatch.yaml");
  await writeFile(file, config);
  const child = spawn(process.execPath, [main, "run", "--config", file], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE, ...env },
  });
  const log: LogLine[] = [];
  const waiting = new Set<() => void>();
  let text = "";
  const read = (stream: NodeJS.ReadableStream) => {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    createInterface({ input: stream }).on("line", (line) => {
      log.push(parse(line));
      for (const look of waiting) look();
    });
  };
  read(child.stdout);
  read(child.stderr);
  const ended = exitOf(child);
  return {
    pid: child.pid ?? 0,
    file,
    log,
    get text() {
      return text;
    },
    signal: (signal) => void child.kill(signal),
    logged(msg) {
      const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
      const late = () => reject(new Error(`not logged: ${msg}; but ${JSON.stringify(log.slice(-5))}`));
      const timer = setTimeout(late, PATIENCE_MS);
      const look = () => {
        const found = log.find((line) => line.msg === msg);
        if (!found) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      return promise;
    },
    async end(signal) {
      child.kill(signal);
      const how = await ended;
      await rm(dir, { recursive: true, force: true });
      return how;
    },
  };
}

function parse(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { level: "text", msg: line };
  }
}

function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal ?? "SIGKILL")));
}
