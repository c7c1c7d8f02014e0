/**
 * Holds back who guesses at the tokens of the API, by the address of the connection, whatever a header says of it:
 * after ten wrong tokens in a minute every further wrong one is answered 429. Ten different ones are guesses: then no
 * token from there is looked at any more, unless the right one came from there lately. So a client with an old token
 * locks out nobody, and a guesser nobody who worked there before.
 */
import { createHash } from "node:crypto";
import { normalizeIP } from "@fastify/rate-limit";
import type { Instant } from "../lib/clock.ts";

const MOST_FAILURES = 10;
const FAILURES_MS = 60_000;
const TRUSTED_MS = 86_400_000;
/** Addresses of each kind; who was there longest is forgotten. */
const MOST_ADDRESSES = 5_000;

interface Failures {
  readonly since: Instant;
  count: number;
  /** Digests of different tokens, as many as make a guesser. */
  readonly tokens: Set<string>;
}

/** What to do with a token: let it in, answer that it is wrong, or that there were too many. */
export type Verdict =
  | { readonly kind: "in" }
  | { readonly kind: "wrong"; readonly isLast: boolean }
  | { readonly kind: "held"; readonly retryAfterMs: number };

export interface Guard {
  /** Counts a token that was given and says what is to be done. `isRight`: it is one of ours. */
  judge(given: { address: string; token: string; isRight: boolean }, now: Instant): Verdict;
}

export function createGuard(): Guard {
  const failed = new Map<string, Failures>();
  const trusted = new Map<string, Instant>();

  function failuresOf(address: string, now: Instant): Failures {
    const known = failed.get(address);
    if (known && now < known.since + FAILURES_MS && now >= known.since) return known;
    return { since: now, count: 0, tokens: new Set() };
  }

  return {
    judge({ address: at, token, isRight }, now) {
      const address = normalizeIP(at, 64);
      const failures = failuresOf(address, now);
      const held = { kind: "held", retryAfterMs: failures.since + FAILURES_MS - now } as const;
      const isTrusted = now < (trusted.get(address) ?? Number.NEGATIVE_INFINITY) + TRUSTED_MS;
      if (failures.tokens.size >= MOST_FAILURES && !isTrusted) return held;
      if (isRight) {
        remember(trusted, address, now);
        return { kind: "in" };
      }
      failures.count += 1;
      if (failures.tokens.size < MOST_FAILURES) failures.tokens.add(digest(token));
      remember(failed, address, failures);
      return failures.count > MOST_FAILURES
        ? held
        : { kind: "wrong", isLast: failures.count === MOST_FAILURES };
    },
  };
}

/** As the youngest, at the expense of the oldest. */
function remember<T>(map: Map<string, T>, address: string, value: T): void {
  map.delete(address);
  map.set(address, value);
  const [oldest] = map.keys();
  if (map.size > MOST_ADDRESSES && oldest !== undefined) map.delete(oldest);
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
