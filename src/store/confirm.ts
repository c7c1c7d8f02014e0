/**
 * Where a master may be followed by one of its replicas, what nobody could work out again is written down twice
 * before anybody relies on it: what was told, a silence, an acknowledgement. A replica that is away is not waited for
 * each time.
 */
import type { Logger } from "../lib/log.ts";

/** After a wait in vain the next one is made only then. */
const TRUST_AGAIN_MS = 5_000;

export type Confirm = () => Promise<void>;

/** `ask` waits for a replica and says whether it has everything; bounded by itself. */
export function createConfirm(ask: () => Promise<boolean>, log: Logger): Confirm {
  let failedAt: number | undefined;
  return async () => {
    if (failedAt !== undefined && performance.now() - failedAt < TRUST_AGAIN_MS) return;
    const confirmed = await ask().catch(() => false);
    if (!confirmed && failedAt === undefined)
      log.warn("no replica of Redis confirmed a write in time: a failover now could lose what was told");
    if (confirmed && failedAt !== undefined) log.info("a replica of Redis confirms writes again");
    failedAt = confirmed ? undefined : performance.now();
  };
}

/** The same function, its promise kept back until `confirm` has had its say; only `where` it matters. */
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
