/** Work on many shards, a few at a time, and the log of those that fail. */
import { HOUR_MS, MINUTE_MS } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import type { Logger } from "../lib/log.ts";

/** Gives `inTurn(work)`: so many are under way at once, the others begin in the order in which they came. */
export function createTurns(atOnce: number): (work: () => Promise<unknown>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** The deadline of work that the status interval waits for, and that of the rest, ms. */
export const DEADLINE_MS = 5 * MINUTE_MS;
export const SLOW_DEADLINE_MS = HOUR_MS;

/** Gives work that is given up at its deadline: its signal is aborted, and nobody waits for it any more. */
export function bounded<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>) {
  return async (signal: AbortSignal): Promise<T> => {
    const stop = new AbortController();
    const follow = () => stop.abort();
    signal.addEventListener("abort", follow, { once: true });
    return await withDeadline(work(stop.signal), deadlineMs).finally(() => {
      signal.removeEventListener("abort", follow);
      stop.abort();
    });
  };
}

/** Gives `inTurn(work)`: work on a shard in its turn, unless it was aborted; its deadline begins with the turn. */
export function createShardTurns(atOnce: number, deadlineMs: number) {
  const inTurn = createTurns(atOnce);
  return (work: (shard: number, signal: AbortSignal) => Promise<unknown>) =>
    (shard: number, signal: AbortSignal): Promise<void> =>
      inTurn(async () => {
        if (!signal.aborted) await bounded(deadlineMs, (stop) => work(shard, stop))(signal);
      });
}

/** Gives `note(shard, err)`, which logs the first failure of a shard in a row, and the success after it. */
export function createFailureLog(log: Logger, failed: string, again: string) {
  const failing = new Set<number>();
  return (shard: number, err: Error | undefined): void => {
    if (err && !failing.has(shard)) log.warn({ err, shard }, failed);
    if (err) failing.add(shard);
    else if (failing.delete(shard)) log.info({ shard }, again);
  };
}
