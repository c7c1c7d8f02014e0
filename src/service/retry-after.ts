import type { Instant } from "../lib/clock.ts";

const MAX_MS = 24 * 3_600_000;

/** Milliseconds to stay away by a `Retry-After` header: seconds or an HTTP date (RFC 9110, 10.2.3); a day at most. */
export function parseRetryAfter(header: string | string[] | undefined, now: Instant): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text || text.length > 64 || !/^(?:\d+$|[a-z]|\d{4}-)/i.test(text)) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(MAX_MS, Math.max(0, ms)) : undefined;
}
