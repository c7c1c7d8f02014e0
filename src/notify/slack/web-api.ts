/**
 * Calls of Slack's Web API by one token: each one exchange, through the proxy of the environment, nothing retried; and
 * its errors (docs.slack.dev, chat.postMessage, chat.update, conversations.history) as those of a channel.
 */
import { z } from "zod";
import type { NotifyErrorCode, NotifyErrorScope } from "../../alerting/model.ts";
import { unlessAborted, withTimeout } from "../../lib/abort.ts";
import { parseRetryAfter } from "../../lib/backoff.ts";
import { createHttpClient, readBody } from "../../lib/http-client.ts";
import { tryJson } from "../../lib/json-values.ts";
import { createRedactor } from "../../lib/redact.ts";
import { abortedError, NotifyError } from "../notifier.ts";
import { codeOfStatus } from "../web-endpoint.ts";

/** A page of a channel's history is the longest answer. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

const Accepted = z.looseObject({ ok: z.literal(true) });
/** Any other text is not repeated: it may come from something else than Slack. */
const Refused = z.object({
  error: z.string().regex(/^[a-z][a-z_]{0,60}$/),
  needed: z
    .string()
    .regex(/^[a-z:,._]{1,100}$/)
    .optional()
    .catch(undefined),
});

/** Until when Slack takes no call of a method by a token, whatever it is about; messages are limited by channel. */
const held = new Map<string, number>();
/** Whole ms: with fractions, sums and differences of instants are not exact. */
const elapsedMs = () => Math.floor(performance.now());

export type SlackApi = ReturnType<typeof createSlackApi>;

/** `apiBase` without a trailing slash; `timeoutMs` limits each call; `key` is where the token is configured. */
export function createSlackApi(options: {
  apiBase: string;
  token: string;
  timeoutMs: number;
  key?: keyof typeof NEW_TOKEN;
}) {
  const { apiBase, token, timeoutMs, key = "bot_token" } = options;
  const http = createHttpClient({});
  const redactor = createRedactor([token]);
  const holdOf = (method: string) => `${apiBase} ${token} ${method}`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-www-form-urlencoded" };

  async function exchange(method: string, args: object, signal: AbortSignal) {
    const request = { method: "POST", url: `${apiBase}/${method}`, headers, body: formOf(args) } as const;
    const { status, retryAfter, body } = await http.send(request, signal);
    const { bytes, isCut } = await readBody(body, MAX_ANSWER_BYTES);
    if (isCut) throw new Error("the answer is too long");
    return { status, retryAfter, text: bytes.toString("utf8") };
  }

  return {
    /** The answer, which says `ok`; throws NotifyError. Nothing is in flight any more once `signal` is aborted. */
    async call(signal: AbortSignal, method: string, args: object = {}): Promise<Readonly<Record<string, unknown>>> {
      const heldMs = (held.get(holdOf(method)) ?? 0) - elapsedMs();
      if (heldMs > 0) throw refusal(LIMITED, "429", heldMs);
      const limited = withTimeout(signal, timeoutMs);
      const answer = await unlessAborted(exchange(method, args, limited), limited).catch((thrown: unknown) => {
        if (limited.aborted) throw abortedError(limited, "Slack");
        const message = "Slack could not be reached: check slack_api_url, the network, DNS and HTTPS_PROXY.";
        const cause = redactor.error(thrown);
        throw new NotifyError("network", message, { retryable: true, scope: "endpoint", cause });
      });
      const { status, retryAfter, text } = answer;
      if (status === 429) {
        const waitMs = parseRetryAfter(retryAfter, Date.now()) ?? 1_000;
        if (!method.startsWith("chat.")) held.set(holdOf(method), elapsedMs() + waitMs);
        throw refusal(LIMITED, "429", waitMs);
      }
      if (status !== 200) throw statusError(status);
      const json = tryJson(text);
      const accepted = Accepted.safeParse(json);
      if (!accepted.success) throw platformError(json, key);
      return accepted.data;
    },
    close: () => http.close(),
  };
}

/** A form, as every method takes it; lists and mappings in it are JSON. */
function formOf(args: object): string {
  const fields = Object.entries(args).filter(([, value]) => value !== undefined);
  return new URLSearchParams(
    fields.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]),
  ).toString();
}

type Meaning = readonly [code: NotifyErrorCode, scope: NotifyErrorScope, next: string];

const AGAIN = "the message is sent again";
/** The next step depends on the token. */
const TOKEN: Meaning = ["auth", "endpoint", ""];
const LIMITED: Meaning = ["rate_limited", "integration", AGAIN];
const INVITE = "invite the app in that channel: /invite @lenswatch";
const CHANNEL = "check `channel`, and invite the app to a private one: /invite @lenswatch";

const ROWS: readonly (readonly [words: string, meaning: Meaning])[] = [
  ["not_authed invalid_auth token_revoked token_expired account_inactive not_allowed_token_type", TOKEN],
  ["missing_scope org_login_required team_access_not_granted access_denied no_permission", TOKEN],
  ["channel_not_found", ["not_found", "integration", CHANNEL]],
  ["not_in_channel", ["not_found", "integration", INVITE]],
  ["is_archived", ["not_found", "integration", "unarchive the channel, or set another `channel`"]],
  [
    "restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel " +
      "restricted_action_non_threadable_channel restricted_action_thread_locked ekm_access_denied",
    ["auth", "integration", "a setting of the workspace keeps the app out of this channel"],
  ],
  [
    "msg_too_long msg_blocks_too_long no_text invalid_blocks invalid_blocks_format invalid_attachments " +
      "attachment_payload_limit_exceeded too_many_attachments invalid_arguments invalid_metadata_format " +
      "invalid_metadata_schema metadata_too_large",
    ["bad_request", "message", "it does not accept this message"],
  ],
  [
    "message_not_found thread_not_found cannot_reply_to_message cant_update_message edit_window_closed",
    ["conversation_gone", "message", "the message was deleted, a new one is posted"],
  ],
  ["ratelimited rate_limited message_limit_exceeded", LIMITED],
  [
    "internal_error fatal_error service_unavailable request_timeout team_added_to_org update_failed",
    ["server_error", "endpoint", AGAIN],
  ],
];
const MEANINGS = new Map(ROWS.flatMap(([words, meaning]) => words.split(" ").map((word) => [word, meaning] as const)));

/** The next step where a token is refused, by the key it is configured at. */
const NEW_TOKEN = {
  bot_token: "install the app again and put its bot token into bot_token",
  app_token: "create an app token with the scope connections:write and put it into app_token",
} as const;

function statusError(status: number): NotifyError {
  const code = codeOfStatus(status);
  const next = status < 500 ? "this is not Slack's Web API, check slack_api_url and the proxy" : AGAIN;
  return refusal([code === "bad_request" ? "other" : code, "endpoint", next], String(status));
}

function platformError(answer: unknown, key: keyof typeof NEW_TOKEN): NotifyError {
  const { error: word, needed = "that it needs" } = Refused.safeParse(answer).data ?? {};
  if (word === undefined)
    return refusal(["other", "integration", "check slack_api_url and the proxy"], "something else than Slack does");
  if (word === "missing_scope" && key === "bot_token")
    return refusal(["auth", "endpoint", `add the scope ${needed} to the app and install it again`], word);
  const known = MEANINGS.get(word) ?? ["other", "integration", AGAIN];
  return refusal(known === TOKEN ? ["auth", "endpoint", NEW_TOKEN[key]] : known, word);
}

function refusal([code, scope, next]: Meaning, answered: string, retryAfterMs?: number): NotifyError {
  const message = `Slack answered ${answered}: ${next}.`;
  return new NotifyError(code, message, { retryable: code !== "bad_request", scope, retryAfterMs });
}
