/** What a webhook answers, as a NotifyError (docs.slack.dev: "Sending messages using incoming webhooks", errors). */

import { safeCause } from "../failure.ts";
import { NotifyError } from "../notifier.ts";

export interface Answer {
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
  /** The header as sent: seconds or a date. */
  readonly retryAfter: string | null;
}

/** Longer than this nobody is made to wait, ms. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Undefined where Slack accepted the message: 200 with the body `ok`. */
export function refusal(answer: Answer, now: number): NotifyError | undefined {
  const { status } = answer;
  const word = slackWord(answer.text);
  const says = word === undefined ? `${status}` : `${status} ${word}`;
  const retryAfterMs = parseRetryAfter(answer.retryAfter, now);
  const endpoint = { retryable: true, scope: "endpoint", retryAfterMs } as const;

  if (status === 200 && word === "ok") return undefined;
  if (status === 429)
    return new NotifyError(
      "rate_limited",
      `Slack asks for fewer messages (${says}); it is tried again later.`,
      endpoint,
    );
  if (status >= 500)
    return new NotifyError("server_error", `Slack is in trouble (${says}); it is tried again.`, endpoint);
  if (status === 408)
    return new NotifyError(
      "timeout",
      `Slack did not get the message in time (${says}); it is tried again.`,
      endpoint,
    );
  if (status === 401 || status === 403 || word === "invalid_token" || word === "invalid_auth")
    return new NotifyError(
      "auth",
      `Slack refused the webhook (${says}); check api_url and the app's rights.`,
      endpoint,
    );
  if (status === 404 || status === 410)
    return new NotifyError(
      "not_found",
      `Slack does not know the webhook or its channel any more (${says}); make a new api_url.`,
      endpoint,
    );
  if (status >= 400)
    return new NotifyError("bad_request", `Slack refused this message (${says}).`, {
      retryable: false,
      scope: "message",
      retryAfterMs,
    });
  return new NotifyError(
    "other",
    `What answers at api_url is not a Slack webhook (${says}); check api_url and the proxy.`,
    endpoint,
  );
}

/** The error of a request that got no answer at all. */
export function unreachable(thrown: unknown, apiUrl: string): NotifyError {
  const cause = safeCause(thrown, secretsOf(apiUrl));
  return new NotifyError("network", "Slack could not be reached; check the network, DNS and HTTPS_PROXY.", {
    retryable: true,
    scope: "endpoint",
    cause,
  });
}

/** Wait in ms that a Retry-After header asks for; undefined where there is none or it cannot be read. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (text === "") return undefined;
  const seconds = /^\d{1,10}(?:\.\d{1,3})?$/.test(text);
  const date = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN;
  const ms = seconds ? Number(text) * 1000 : date - now;
  return Number.isFinite(ms) ? Math.min(LONGEST_WAIT_MS, Math.max(0, Math.ceil(ms))) : undefined;
}

/** Slack's answers are one word, such as `ok` or `invalid_blocks`; anything else is not repeated. */
function slackWord(text: string): string | undefined {
  const word = text.trim();
  return /^[a-z][a-z_]{0,60}$/.test(word) ? word : undefined;
}

/** The URL, and each part of its path and query that is long enough to be the secret in it. */
function secretsOf(apiUrl: string): readonly string[] {
  if (!URL.canParse(apiUrl)) return [apiUrl];
  const { href, pathname, search } = new URL(apiUrl);
  const parts = `${pathname}${search}`.split(/[/?&=]/).filter((part) => part.length >= 8);
  return [apiUrl, href, `${pathname}${search}`, ...parts].filter((secret) => secret.length > 1);
}
