/** The worker of digests: what could not be sent to everybody is tried again, with a back-off, for about a day. */

import type { Handler, Queues } from "../cluster/queues.ts";
import { backoffMs } from "../lib/backoff.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

/** A digest that nobody can accept for about a day is out of date. */
const RETRY = { baseMs: 10_000, capMs: 900_000 };
const TRIES = 100;

export interface DigestWorkDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "add">;
  /** True once every recipient has it or was given up. */
  send(name: string, at: Instant): Promise<boolean>;
}

export function createDigestWork({ clock, log, queues, send }: DigestWorkDeps): Handler {
  return async ({ data }) => {
    const at = typeof data.at === "number" ? data.at : clock.now();
    const failures = Number(data.failures ?? 0);
    const sent = await send(String(data.digest), at).catch((thrown: unknown) => {
      log.error(
        { err: toError(thrown), digest: data.digest },
        "a digest could not be made; it is tried again",
      );
      return false;
    });
    if (sent || failures >= TRIES) return;
    const again = { digest: data.digest, at, failures: failures + 1 };
    await queues.add("digest", again, { delayMs: backoffMs(RETRY, failures + 1) });
  };
}
