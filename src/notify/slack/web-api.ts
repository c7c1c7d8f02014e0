/**
 * Calls of Slack's Web API by one token: each one exchange, through the proxy of the environment, without the retries
 * and the log of @slack/web-api.
 */
import { type WebClient as Client, type Logger as SlackLogger, WebClient } from "@slack/web-api";
import { unlessAborted, withTimeout } from "../../lib/abort.ts";
import { parseRetryAfter } from "../../lib/backoff.ts";
import { createHttpClient, readBody } from "../../lib/http-client.ts";
import { createRedactor } from "../../lib/redact.ts";
import { abortedError } from "../notifier.ts";
import { slackError } from "./error.ts";

/** A page of a channel's history is the longest answer. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

const nothing = () => {};
/** Its lines have message texts. */
const noLog: SlackLogger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => "error" as ReturnType<SlackLogger["getLevel"]>,
};

/** As the client takes it: without a number it would take a 429 for a broken connection. */
function secondsOf(retryAfter: string | undefined): string {
  return String(Math.ceil((parseRetryAfter(retryAfter, Date.now()) ?? 1_000) / 1_000));
}

export type SlackApi = ReturnType<typeof createSlackApi>;

/** `apiBase` without a trailing slash; `timeoutMs` limits each call; `key` is where the token is configured. */
export function createSlackApi(options: {
  apiBase: string;
  token: string;
  timeoutMs: number;
  key?: "bot_token" | "app_token";
}) {
  const { apiBase, token, timeoutMs, key = "bot_token" } = options;
  const http = createHttpClient({});
  const redactor = createRedactor([token]);

  function clientUntil(signal: AbortSignal): Client {
    return new WebClient(token, {
      slackApiUrl: `${apiBase}/`,
      allowAbsoluteUrls: false,
      logger: noLog,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      async fetch(url, { headers, body } = {}) {
        const request = { url: String(url), headers: headers as Record<string, string>, body: String(body) };
        const answer = await http.send({ method: "POST", ...request }, signal);
        const { bytes, isCut } = await readBody(answer.body, MAX_ANSWER_BYTES);
        if (isCut) throw new Error("the answer is too long");
        const { retryAfter, scopes } = answer;
        return new Response(answer.status === 204 ? null : bytes.toString("utf8"), {
          status: answer.status,
          headers: {
            "content-type": "application/json",
            ...(answer.status === 429 && { "retry-after": secondsOf(retryAfter) }),
            ...(scopes !== undefined && { "x-oauth-scopes": scopes }),
          },
        });
      },
    });
  }

  return {
    /** What `ask` gets of the client; throws NotifyError. Nothing is in flight any more once `signal` is aborted. */
    async call<T>(signal: AbortSignal, ask: (client: Client) => Promise<T>): Promise<T> {
      const limited = withTimeout(signal, timeoutMs);
      return await unlessAborted(ask(clientUntil(limited)), limited).catch((thrown: unknown) => {
        throw limited.aborted ? abortedError(limited, "Slack") : slackError(thrown, key, redactor);
      });
    },
    close: () => http.close(),
  };
}
