/** Slack's errors (docs.slack.dev, chat.postMessage, chat.update, conversations.history) as those of a channel. */
import { ErrorCode } from "@slack/web-api";
import type { NotifyErrorCode, NotifyErrorScope } from "../../alerting/model.ts";
import type { Redactor } from "../../lib/redact.ts";
import { NotifyError } from "../notifier.ts";
import { codeOfStatus } from "../web-endpoint.ts";

type Meaning = readonly [code: NotifyErrorCode, scope: NotifyErrorScope, next: string];

const AGAIN = "the message is sent again";
/** What to do depends on the token. */
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

/** What to do about a token that is refused, by the key it is configured at. */
const NEW_TOKEN = {
  bot_token: "install the app again and put its bot token into bot_token",
  app_token: "create an app token with the scope connections:write and put it into app_token",
} as const;

interface Thrown {
  readonly code?: unknown;
  readonly data?: { readonly error?: unknown; readonly needed?: unknown };
  readonly statusCode?: number;
  readonly retryAfter?: number;
  readonly message?: string;
}

/** What @slack/web-api threw. */
export function slackError(thrown: unknown, key: keyof typeof NEW_TOKEN, redactor: Redactor): NotifyError {
  const { code, data, statusCode = 0, retryAfter } = Object(thrown) as Thrown;
  const cause = redactor.error(thrown);
  if (code === ErrorCode.PlatformError) return platformError(data ?? {}, key, cause);
  if (code === ErrorCode.RateLimitedError) return refusal(LIMITED, "429", cause, retryAfter);
  if (code === ErrorCode.HTTPError) {
    const meaning = codeOfStatus(statusCode);
    const next = statusCode < 500 ? "this is not Slack's Web API, check slack_api_url and the proxy" : AGAIN;
    return refusal([meaning === "bad_request" ? "other" : meaning, "endpoint", next], String(statusCode), cause);
  }
  const message = "Slack could not be reached: check slack_api_url, the network, DNS and HTTPS_PROXY.";
  return new NotifyError("network", message, { retryable: true, scope: "endpoint", cause });
}

function platformError({ error, needed }: NonNullable<Thrown["data"]>, key: keyof typeof NEW_TOKEN, cause: Error) {
  // Any other text is not repeated: it may come from something else than Slack.
  const word = wordOf(error, /^[a-z][a-z_]{0,60}$/);
  if (word === "missing_scope" && key === "bot_token") {
    const scope = wordOf(needed, /^[a-z:,._]{1,100}$/) ?? "that it needs";
    return refusal(["auth", "endpoint", `add the scope ${scope} to the app and install it again`], word, cause);
  }
  const known = MEANINGS.get(word ?? "");
  const meaning: Meaning | undefined = known === TOKEN ? ["auth", "endpoint", NEW_TOKEN[key]] : known;
  const unknown: Meaning = ["other", "integration", word === undefined ? "check slack_api_url and the proxy" : AGAIN];
  return refusal(meaning ?? unknown, word ?? "something else than Slack does", cause);
}

function wordOf(value: unknown, shape: RegExp): string | undefined {
  return typeof value === "string" ? shape.exec(value)?.[0] : undefined;
}

function refusal([code, scope, next]: Meaning, answered: string, cause: Error, retryAfterSeconds?: number) {
  return new NotifyError(code, `Slack answered ${answered}: ${next}.`, {
    retryable: code !== "bad_request",
    scope,
    retryAfterMs: retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000,
    cause,
  });
}
