/**
 * Writes that could not be reconstructed are confirmed by a replica of Redis where it may replace its master: the
 * notification log, silences, acknowledgements. What may be sent is on disk before it is. A replica that does not answer is not waited for each time.
 */
import type { Redis } from "ioredis";
import type { Logger } from "../lib/log.ts";

/** A replica answers within milliseconds; one that does not would delay every later command. */
const CONFIRM_MS = 250;
/** After a wait in vain the next one is made only this much later. */
const RETRY_MS = 5_000;

type Confirm = () => Promise<void>;

/** Gives what waits for something, bounded, and logs once when that does not come in time, and once when it does again. */
function createWait(
  wait: () => Promise<boolean>,
  log: Logger | undefined,
  words: { failed: string; again: string },
): Confirm {
  let failedAt: number | undefined;
  return async () => {
    if (failedAt !== undefined && performance.now() - failedAt < RETRY_MS) return;
    const isDone = await wait();
    if (!isDone && failedAt === undefined) log?.warn(words.failed);
    if (isDone && failedAt !== undefined) log?.info(words.again);
    failedAt = isDone ? undefined : performance.now();
  };
}

/** Gives what waits until a replica has every write of this connection. */
export function createConfirm(redis: Redis, key: string, log: Logger): Confirm {
  return createWait(() => confirmWrites(redis, key).catch(() => false), log, {
    failed: "no replica of Redis confirmed a write in time, a failover now could repeat notifications",
    again: "a replica of Redis confirms writes again",
  });
}

/**
 * Resolves once a replica has everything written so far on this connection (true), or did not confirm in time (false).
 * `key` is any key: in a cluster it selects the node.
 */
export async function confirmWrites(redis: Redis, key: string): Promise<boolean> {
  const replies = await redis.pipeline().exists(key).wait(1, CONFIRM_MS).exec();
  return Number(replies?.at(-1)?.[1] ?? 0) >= 1;
}

/** The wait for the disk: of a second with `appendfsync everysec`, and what a slow disk adds. */
const SYNC_MS = 1_500;

/** Gives what waits until the server's disk has every write of this connection, where the server can say so (7.2). */
export function createSync(redis: Redis, key: string, log: Logger | undefined): Confirm {
  async function isSynced(): Promise<boolean> {
    const replies = await redis.pipeline().exists(key).call("WAITAOF", "1", "0", SYNC_MS).exec();
    const synced = replies?.at(-1)?.[1];
    return !Array.isArray(synced) || Number(synced[0]) >= 1;
  }
  return createWait(isSynced, log, {
    failed: "Redis did not write to its disk in time, a power loss now could repeat a notification: check that disk",
    again: "Redis writes to its disk in time again",
  });
}

/** The same function, resolving after `confirm`; only for calls that match `where`. */
export function confirmed<A extends unknown[], T>(
  write: (...args: A) => Promise<T>,
  confirm: Confirm,
  where: (args: A) => boolean = () => true,
): (...args: A) => Promise<T> {
  return async (...args) => {
    const result = await write(...args);
    if (where(args)) await confirm();
    return result;
  };
}
