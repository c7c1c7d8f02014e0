/** How long nothing is sent to an endpoint, or by an integration, after failures there. */
import type { NotifyErrorCode } from "../alerting/model.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import type { Write } from "./transact.ts";

/** A failure is retried within minutes: one this old belongs to what is not configured any more. */
export const FAILURE_KEPT_MS = 7 * 86_400_000;

export interface Backoff {
  readonly until: Instant | undefined;
  readonly failedAt: Instant | undefined;
  readonly failures: number;
  readonly since: Instant | undefined;
}

export function toBackoff(row: readonly (string | null)[]): Backoff {
  const [until, failedAt, failures, since] = row.map((text) => (text === null ? undefined : Number(text)));
  return { until, failedAt, failures: failures ?? 0, since };
}

/** A message was accepted: a backoff that lasts longer was set by another one since. */
export function acceptedWrites(keys: Keys, backoffs: ReadonlyMap<string, Backoff>, now: Instant): Write[] {
  return [...backoffs].flatMap(([scope, { until = 0 }]): Write[] =>
    until <= now ? [["DEL", keys.backoff(scope)]] : [],
  );
}

interface Failed {
  readonly now: Instant;
  /** The time of the next try, and when the claim began that failed. */
  readonly at: Instant;
  readonly began: Instant;
  /** A backoff that ended longer ago belongs to an earlier failure. */
  readonly overMs: number;
}

export function failedWrites(
  key: string,
  stored: Backoff | undefined,
  { code, detail }: { readonly code: NotifyErrorCode; readonly detail: string },
  { now, at, began, overMs }: Failed,
): Write[] {
  // Nothing was due there for as long: this is another failure.
  const isOld = stored?.until !== undefined && stored.until + overMs < now;
  const known = isOld ? undefined : stored;
  // Sends side by side that began before the last failure met the same trouble, not another one.
  const isSame = known?.failedAt !== undefined && began < known.failedAt;
  const until = Math.max(known?.until ?? 0, at);
  return [
    ...(isOld ? [["DEL", key] as const] : []),
    ["HSET", key, "since", known?.since ?? now, "until", until, "code", code, "detail", detail],
    ["PEXPIRE", key, FAILURE_KEPT_MS],
    ...(isSame ? [] : [["HSET", key, "failedAt", now, "failures", (known?.failures ?? 0) + 1] as const]),
  ];
}
