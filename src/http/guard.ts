/**
 * Stops guessing of tokens, by the address of the connection: after ten wrong tokens in a minute every further wrong one
 * is answered 429. After ten different ones every token from there is, unless a right one came from there within a day.
 * So a client with an outdated token locks out nobody, nor does a guesser lock out an earlier user of that address.
 */
import { createHash } from "node:crypto";
import { normalizeIP } from "@fastify/rate-limit";
import type { Instant } from "../lib/clock.ts";

const MOST_FAILURES = 10;
const FAILURES_MS = 60_000;
const TRUSTED_MS = 86_400_000;
/** Per map; the address seen longest ago is dropped. */
const MOST_ADDRESSES = 5_000;

interface Failures {
  readonly since: Instant;
  count: number;
  /** Digests of different tokens, at most MOST_FAILURES. */
  readonly tokens: Set<string>;
}

type Verdict =
  | { readonly kind: "right" }
  /** `isLast`: the next wrong token is blocked. */
  | { readonly kind: "wrong"; readonly isLast: boolean }
  | { readonly kind: "blocked"; readonly retryAfterMs: number };

/** `isStrict`, for sign-in: ten wrong tokens, different or not, block every further one, of an earlier user too. */
export function createGuard({ isStrict = false } = {}) {
  const failed = new Map<string, Failures>();
  const trusted = new Map<string, Instant>();

  function failuresOf(address: string, now: Instant): Failures {
    const known = failed.get(address);
    if (known && now < known.since + FAILURES_MS && now >= known.since) return known;
    return { since: now, count: 0, tokens: new Set() };
  }

  return {
    /** Counts a token and decides about it. `isRight`: it is a configured one. */
    judge(given: { address: string; token: string; isRight: boolean }, now: Instant): Verdict {
      const address = normalizeIP(given.address, 64);
      const failures = failuresOf(address, now);
      const blocked = { kind: "blocked", retryAfterMs: failures.since + FAILURES_MS - now } as const;
      const isTrusted = now < (trusted.get(address) ?? Number.NEGATIVE_INFINITY) + TRUSTED_MS;
      const isGuesser = failures.tokens.size >= MOST_FAILURES && !isTrusted;
      if (isStrict ? failures.count >= MOST_FAILURES : isGuesser) return blocked;
      if (given.isRight) {
        setNewest(trusted, address, now);
        return { kind: "right" };
      }
      failures.count += 1;
      if (failures.tokens.size < MOST_FAILURES) failures.tokens.add(digest(given.token));
      setNewest(failed, address, failures);
      if (failures.count > MOST_FAILURES) return blocked;
      return { kind: "wrong", isLast: failures.count === MOST_FAILURES };
    },
  };
}

function setNewest<T>(map: Map<string, T>, address: string, value: T): void {
  map.delete(address);
  map.set(address, value);
  const [oldest] = map.keys();
  if (map.size > MOST_ADDRESSES && oldest !== undefined) map.delete(oldest);
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
