/** Starts, kills, stops and restarts replicas of the daemon. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../src/lib/clock.ts";
import { type Daemon, startDaemon } from "../../test/support/daemon.ts";
import { until } from "../../test/support/until.ts";

/** A start takes a second of CPU, on a machine that may be busy. */
const PATIENCE_MS = 90_000;

/** One replica that was ended, or ended by itself. */
export interface Ended {
  readonly at: Instant;
  readonly replica: number;
  readonly how: "kill" | "stop" | "by itself";
}

export interface Replicas {
  readonly ended: readonly Ended[];
  /** Numbers of the replicas. */
  readonly numbers: readonly number[];
  /** Addresses of the running replicas. */
  urls(): string[];
  /** Ends a replica, or another where it is down, and restarts it `downMs` later. */
  end(replica: number, how: "kill" | "stop", downMs: number): Promise<void>;
  /** Freezes a replica for this long; does nothing where it is down. */
  freeze(replica: number, lastsMs: number): Promise<void>;
  /** Waits until every replica runs and watches. */
  allWatching(): Promise<void>;
  close(): Promise<void>;
}

export interface Launch {
  readonly config: string;
  /** Where their logs go, if anywhere. */
  readonly logs?: string;
  /** `src/main.ts` of another build, which each replica starts as at every second start: a rolling update and back. */
  readonly other?: string;
}

/** Starts `count` replicas. */
export async function startReplicas(count: number, { config, logs, other }: Launch): Promise<Replicas> {
  const running = new Map<number, Daemon>();
  const ended: Ended[] = [];
  const ways = new Set<Promise<void>>();
  const starts = new Map<number, number>();
  let generation = 0;
  let closing = false;

  async function start(replica: number): Promise<void> {
    const nth = (starts.get(replica) ?? 0) + 1;
    starts.set(replica, nth);
    running.set(replica, await startDaemon(config, other !== undefined && nth % 2 === 0 ? { main: other } : {}));
  }

  async function take(replica: number, how: "kill" | "stop"): Promise<boolean> {
    const daemon = running.get(replica);
    if (!daemon) return false;
    running.delete(replica);
    const at = Date.now();
    if (how === "stop") signal(daemon.pid, "SIGCONT");
    const outcome = await daemon.end(how === "kill" ? "SIGKILL" : "SIGTERM");
    // Before its signal handlers are installed, SIGTERM kills it.
    const asAsked = how === "kill" ? outcome === "SIGKILL" : outcome === 0 || outcome === "SIGTERM";
    ended.push({ at, replica, how: asAsked ? how : "by itself" });
    await keepLog(daemon, replica);
    return true;
  }

  async function keepLog(daemon: Daemon, replica: number): Promise<void> {
    if (logs === undefined) return;
    await mkdir(logs, { recursive: true });
    const lines = daemon.log.map((line) => JSON.stringify(line)).join("\n");
    const number = String(++generation).padStart(4, "0");
    await writeFile(join(logs, `${number}-replica-${replica}-${daemon.pid}.log`), `${lines}\n`);
  }

  const numbers = Array.from({ length: count }, (_, replica) => replica);
  await Promise.all(numbers.map(start));
  return {
    ended,
    numbers,
    urls: () =>
      [...running.values()].flatMap(({ log }) => {
        const address = log.find(({ msg }) => msg === "listening")?.address;
        return typeof address === "string" ? [address] : [];
      }),
    async end(wanted, how, downMs) {
      const replica = running.has(wanted) ? wanted : ([...running.keys()][0] ?? wanted);
      const way = (async () => {
        if (!(await take(replica, how))) return;
        await sleep(downMs);
        if (!closing) await start(replica);
      })();
      ways.add(way);
      await way.finally(() => ways.delete(way));
    },
    async freeze(replica, lastsMs) {
      const daemon = running.get(replica);
      if (!daemon) return;
      signal(daemon.pid, "SIGSTOP");
      await sleep(lastsMs);
      if (running.get(replica) === daemon) signal(daemon.pid, "SIGCONT");
    },
    async allWatching() {
      await Promise.all(ways);
      const watching = ({ log }: Daemon) => log.some(({ msg }) => msg === "started");
      await until("every replica watches", () => [...running.values()].every(watching), PATIENCE_MS);
    },
    async close() {
      closing = true;
      await Promise.all(ways);
      await Promise.all([...running.keys()].map((replica) => take(replica, "stop")));
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It exited by itself, which `end` finds out.
  }
}
