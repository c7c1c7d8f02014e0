/** Reports to systemd, where it started the daemon with `Type=notify`: readiness, reloads, the end, and a watchdog. */
import { execFile } from "node:child_process";
import type { ReadinessFacts } from "../http/readiness.ts";
import type { Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";

const SEND_DEADLINE_MS = 5_000;
const QUEUE = 16;
const HUNG_MS = 300_000;
const HUNG_INTERVALS = 10;

/** The text of `systemctl status`, and whether only a restart helps. */
export type Health = { readonly status: string; readonly hung: boolean };

/**
 * Without NOTIFY_SOCKET nothing is sent. Node has no datagram sockets of Unix: `systemd-notify` sends, one at a time
 * and in order.
 */
export function createServiceManager(env: Readonly<Record<string, string | undefined>>, log: Logger) {
  const { NOTIFY_SOCKET, PATH, WATCHDOG_USEC, WATCHDOG_PID = String(process.pid) } = env;
  let queued = 0;
  let last = Promise.resolve();
  let failed = false;

  const send = (assignments: readonly string[]) =>
    new Promise<void>((resolve) => {
      const options = { env: { NOTIFY_SOCKET, PATH }, timeout: SEND_DEADLINE_MS, killSignal: "SIGKILL" as const };
      execFile("systemd-notify", assignments, options, (err) => {
        if (err && !failed) log.warn({ err }, "systemd could not be notified");
        failed = err !== null;
        queued -= 1;
        resolve();
      });
    });
  /** Sends assignments such as READY=1; resolves when they are received. Never rejects. */
  const notify = (...assignments: string[]): Promise<void> => {
    if (!NOTIFY_SOCKET || queued >= QUEUE) return last;
    queued += 1;
    last = last.then(() => send(assignments));
    return last;
  };

  return {
    notify,
    /** Sends WATCHDOG=1 three times per WatchdogSec, unless the daemon hangs; gives what stops it. */
    watch(health: () => Promise<Health>): () => void {
      const everyMs = Number(WATCHDOG_USEC) / 3_000;
      if (!(everyMs >= 1) || WATCHDOG_PID !== String(process.pid)) return () => {};
      const look = oneAtATime(async () => {
        try {
          const { status, hung } = await withDeadline(health(), everyMs);
          if (hung) log.error("no sweep was attempted for long though Redis answers: systemd will restart lenswatch");
          else await notify("WATCHDOG=1", `STATUS=${status}`);
        } catch (thrown) {
          log.warn({ err: toError(thrown) }, "health could not be read for systemd");
        }
      });
      const timer = setInterval(look, everyMs);
      return () => clearInterval(timer);
    },
  };
}

/**
 * Decides from facts, the latest call's kept in mind, whether the daemon hangs: Redis has answered for longer than
 * HUNG_MS and ten intervals, and no sweep was attempted meanwhile. An outage of Redis or of the service is none.
 */
export function createHangDetector(since: Instant): (facts: ReadinessFacts, now: Instant) => boolean {
  let answeringSince = since;
  return ({ redisReachable, sweeps }, now) => {
    if (!redisReachable) answeringSince = now;
    if (!sweeps) return false;
    const idleMs = now - Math.max(answeringSince, sweeps.lastAttemptAt ?? 0);
    return idleMs > Math.max(HUNG_MS, HUNG_INTERVALS * sweeps.statusIntervalMs);
  };
}
