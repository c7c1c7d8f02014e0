/**
 * Where a replica of Redis may replace its master, writes that could not be reconstructed are confirmed by a replica:
 * the notification log, silences, acknowledgements. A replica that does not answer is not waited for each time.
 */
import type { Logger } from "../lib/log.ts";

/** After a wait in vain the next one is made only this much later. */
const RETRY_MS = 5_000;

export type Confirm = () => Promise<void>;

/** `ask` waits for a replica, bounded, and gives whether it has every write. */
export function createConfirm(ask: () => Promise<boolean>, log: Logger): Confirm {
  let failedAt: number | undefined;
  return async () => {
    if (failedAt !== undefined && performance.now() - failedAt < RETRY_MS) return;
    const confirmed = await ask().catch(() => false);
    if (!confirmed && failedAt === undefined)
      log.warn("no replica of Redis confirmed a write in time, a failover now could repeat notifications");
    if (confirmed && failedAt !== undefined) log.info("a replica of Redis confirms writes again");
    failedAt = confirmed ? undefined : performance.now();
  };
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
