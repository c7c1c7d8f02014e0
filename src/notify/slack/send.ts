/** Posts to an incoming webhook, once: pace, retries and back-off are the caller's. */

import { type FetchFunction, IncomingWebhook, type IncomingWebhookSendArguments } from "@slack/webhook";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";
import { type Answer, answerOf } from "../answer.ts";
import { abortedError, untilAborted, withTimeout } from "../failure.ts";
import { createFetch, type Fetch, type FetchInit } from "../fetch.ts";
import type { Notifier } from "../notifier.ts";
import { refusal, unreachable } from "./error.ts";
import { renderSlack } from "./render.ts";

type FetchRequestInit = Parameters<FetchFunction>[1];
type FetchResponse = Awaited<ReturnType<FetchFunction>>;
type SlackMessage = IncomingWebhookSendArguments;

/** A channel that posts to one incoming webhook. `apiUrl` is a secret and never leaves in an error or a log. */
export function createSlackNotifier(deps: {
  readonly apiUrl: string;
  /** No send takes longer, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Default: undici's, through HTTPS_PROXY and NO_PROXY. */
  readonly fetch?: Fetch | undefined;
  /** Reads a Retry-After that is a date. */
  readonly clock?: Clock | undefined;
}): Notifier {
  const { apiUrl, timeoutMs, log, clock = systemClock } = deps;
  const { fetch, close } =
    deps.fetch === undefined ? createFetch() : { fetch: deps.fetch, close: async () => {} };

  async function post(message: SlackMessage, signal: AbortSignal): Promise<void> {
    let answer: Answer | undefined;
    const once: FetchFunction = async (url, init) => {
      answer = await answerOf(await fetch(String(url), toFetch(init, signal)));
      return forWebhook(answer);
    };
    try {
      const webhook = new IncomingWebhook(apiUrl, { fetch: once, timeout: 0, retryConfig: { retries: 0 } });
      await untilAborted(webhook.send(message), signal);
    } catch (thrown) {
      if (signal.aborted) throw abortedError(signal, "Slack");
      if (answer === undefined) throw unreachable(thrown, apiUrl);
    }
    const refused = answer && refusal(answer, clock.now());
    if (refused) throw refused;
  }

  return {
    async send(notification, { signal, plain = false }) {
      await post(renderSlack(notification, { plain }), withTimeout(signal, timeoutMs));
      log.debug({ integration: notification.integrationId }, "Slack accepted a message");
    },
    close,
  };
}

/** Redirects are not followed: a message goes to the configured host or nowhere. */
function toFetch(init: FetchRequestInit, signal: AbortSignal): FetchInit {
  const body = typeof init?.body === "string" ? init.body : null;
  return { method: "POST", headers: { ...init?.headers }, body, redirect: "manual", signal };
}

/** What IncomingWebhook looks at: it takes any 2xx for accepted, we look at the answer ourselves afterwards. */
function forWebhook({ status, text }: Answer): FetchResponse {
  const bodyless = status === 204 || status === 205 || status === 304;
  return new Response(bodyless ? null : text, { status });
}
