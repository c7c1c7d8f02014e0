/** The time at which a refused message is retried, by the kind of refusal. */
import type { NotifyErrorCode, NotifyErrorScope } from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";

/** A refused message, as the error of a channel describes it. */
export interface NotifyRefusal {
  readonly code: NotifyErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly scope: NotifyErrorScope;
  readonly message: string;
  /** No connection was made, so that the message was not sent. */
  readonly isUnsent?: boolean | undefined;
}

/** A passing failure is retried soon; one that needs a person is retried seldom. */
const PASSING: BackoffPolicy = { baseMs: 1_000, capMs: 120_000 };
const LASTING: BackoffPolicy = { baseMs: 10_000, capMs: 300_000 };

const UNSURE: readonly NotifyErrorCode[] = ["network", "timeout", "server_error", "other"];
const MAY_PASS: readonly NotifyErrorCode[] = [...UNSURE, "rate_limited"];

/** True where the message may have been accepted all the same. */
export function isUnsure({ code, isUnsent }: Pick<NotifyRefusal, "code" | "isUnsent">): boolean {
  return !isUnsent && UNSURE.includes(code);
}

/** `failures`: how often in a row it failed before, of the refused groups. An alert that is resent is never late. */
export function retryAt(
  { resendMs = Number.POSITIVE_INFINITY }: Integration,
  { code, scope, retryAfterMs = 0 }: NotifyRefusal,
  failures: readonly { readonly failures: number; readonly groupFailures: number }[],
  now: Instant,
): Instant {
  const counts = failures.map((one) => (scope === "message" ? one.groupFailures : one.failures));
  const backoff = Math.min(resendMs, backoffMs(MAY_PASS.includes(code) ? PASSING : LASTING, Math.max(...counts) + 1));
  return now + Math.max(backoff, retryAfterMs);
}
