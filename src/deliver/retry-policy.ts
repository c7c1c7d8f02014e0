/** How long an endpoint, a recipient or a message rests after it was refused, by what the refusal was. */
import type { NotifyErrorCode } from "../alerting/notification.ts";
import type { BackoffPolicy } from "../lib/backoff.ts";

/** What passes by itself is tried again soon; what needs a person is tried seldom. */
const PASSING: BackoffPolicy = { baseMs: 1_000, capMs: 120_000 };
const LASTING: BackoffPolicy = { baseMs: 10_000, capMs: 300_000 };
export const BACKOFF: Readonly<Record<NotifyErrorCode, BackoffPolicy>> = {
  network: PASSING,
  timeout: PASSING,
  rate_limited: PASSING,
  server_error: PASSING,
  other: PASSING,
  auth: LASTING,
  not_found: LASTING,
  bad_request: LASTING,
  recipient_refused: LASTING,
};
