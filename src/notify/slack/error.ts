/** What a webhook answers, as a NotifyError (docs.slack.dev: "Sending messages using incoming webhooks", errors). */

import { type Answer, parseRetryAfter, secretsOf } from "../answer.ts";
import { safeCause } from "../failure.ts";
import { NotifyError } from "../notifier.ts";

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

/** Slack's answers are one word, such as `ok` or `invalid_blocks`; anything else is not repeated. */
function slackWord(text: string): string | undefined {
  const word = text.trim();
  return /^[a-z][a-z_]{0,60}$/.test(word) ? word : undefined;
}
