/** Waits before a retry. */
import type { Instant } from "./clock.ts";

/** Doubling, capped, with jitter so that many clients do not retry at once. */
export type BackoffPolicy = { readonly baseMs: number; readonly capMs: number };

/** Wait in ms before attempt `failures + 1`; between half the step and the whole of it. `random` gives 0–1. */
export function backoffMs(policy: BackoffPolicy, failures: number, random: () => number = Math.random): number {
  const step = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.round(step * (0.5 + random() / 2));
}

const LONGEST_MS = 24 * 3_600_000;
const SECONDS = /^\d+(?:\.\d{1,3})?$/;
/** `Date.parse` alone takes almost any text for a date. */
const DATE = /^(?:[A-Z][a-z]{2,8}, |[A-Z][a-z]{2} [A-Z][a-z]{2} |\d{4}-)/;

/** Wait in ms that a `Retry-After` header asks for: seconds or a date (RFC 9110, 10.2.3); at most a day. */
export function parseRetryAfter(header: string | undefined, now: Instant): number | undefined {
  const text = header?.trim() ?? "";
  if (text.length > 64 || !(SECONDS.test(text) || DATE.test(text))) return undefined;
  const ms = SECONDS.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(LONGEST_MS, Math.max(0, Math.ceil(ms))) : undefined;
}
