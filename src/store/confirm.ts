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

/** Gives what waits, bounded, until a replica has every write of this connection, and logs when none does. */
export function createConfirm(redis: Redis, key: string, log: Logger): Confirm {
  let failedAt: number | undefined;
  return async () => {
    if (failedAt !== undefined && performance.now() - failedAt < RETRY_MS) return;
    const isConfirmed = await confirmWrites(redis, key).catch(() => false);
    if (!isConfirmed && failedAt === undefined)
      log.warn("no replica of Redis confirmed a write in time, a failover now could repeat notifications");
    if (isConfirmed && failedAt !== undefined) log.info("a replica of Redis confirms writes again");
    failedAt = isConfirmed ? undefined : performance.now();
  };
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

/** Waits until the server's disk has everything written so far on this connection, where the server can say so (7.2), not for long. */
export async function synced(redis: Redis, key: string): Promise<void> {
  await redis.pipeline().exists(key).call("WAITAOF", "1", "0", SYNC_MS).exec();
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
