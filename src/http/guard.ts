/**
 * Throttles wrong tokens by address: after ten within a minute every further one is answered 429. A right token passes
 * at any time, so that nobody is locked out by others behind the same proxy; its length makes it hard to guess.
 */
import { normalizeIP } from "@fastify/rate-limit";
import type { Instant } from "../lib/clock.ts";

const MOST_FAILURES = 10;
const FAILURES_MS = 60_000;
/** The address seen longest ago is dropped. */
const MOST_ADDRESSES = 5_000;

export type Guard = ReturnType<typeof createGuard>;

export function createGuard() {
  const failed = new Map<string, { readonly since: Instant; count: number }>();

  return {
    /** Counts a wrong token. `isLast`: the next one is blocked; `blockedMs`: this one is, for so long. */
    fail(given: string, now: Instant): { readonly isLast: boolean; readonly blockedMs: number | undefined } {
      const address = normalizeIP(given, 64);
      const known = failed.get(address);
      const isRecent = known && now < known.since + FAILURES_MS && now >= known.since;
      const { since, count } = isRecent ? known : { since: now, count: 0 };
      failed.delete(address);
      failed.set(address, { since, count: count + 1 });
      const [oldest] = failed.keys();
      if (failed.size > MOST_ADDRESSES && oldest !== undefined) failed.delete(oldest);
      const isBlocked = count >= MOST_FAILURES;
      return { isLast: count + 1 === MOST_FAILURES, blockedMs: isBlocked ? since + FAILURES_MS - now : undefined };
    },
  };
}
