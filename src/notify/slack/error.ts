/** Slack's errors (docs.slack.dev, chat.postMessage, chat.update, conversations.history) as those of a channel. */
import { ErrorCode } from "@slack/web-api";
import type { NotifyErrorCode } from "../../alerting/notification.ts";
import type { Redactor } from "../../lib/redact.ts";
import { NotifyError, type NotifyErrorScope } from "../notifier.ts";
import { codeOfStatus } from "../web-endpoint.ts";

type Meaning = readonly [code: NotifyErrorCode, scope: NotifyErrorScope, next: string];

const AGAIN = "the message is sent again";
const TOKEN: Meaning = ["auth", "endpoint", ""];
const CHANNEL: Meaning = [
  "not_found",
  "integration",
  "check `channel`, and invite the app to a private one: /invite @lenswatch",
];
const WORKSPACE: Meaning = ["auth", "integration", "a setting of the workspace keeps the app out of this channel"];
const MALFORMED: Meaning = ["bad_request", "message", "it does not accept this message"];
const GONE: Meaning = ["conversation_gone", "message", "the message was deleted, a new one is posted"];
const PASSING: Meaning = ["server_error", "endpoint", AGAIN];

const MEANINGS: Readonly<Record<string, Meaning>> = {
  not_authed: TOKEN,
  invalid_auth: TOKEN,
  token_revoked: TOKEN,
  token_expired: TOKEN,
  account_inactive: TOKEN,
  not_allowed_token_type: TOKEN,
  org_login_required: TOKEN,
  team_access_not_granted: TOKEN,
  access_denied: TOKEN,
  no_permission: TOKEN,
  channel_not_found: CHANNEL,
  not_in_channel: ["not_found", "integration", "invite the app in that channel: /invite @lenswatch"],
  is_archived: ["not_found", "integration", "unarchive the channel, or set another `channel`"],
  restricted_action: WORKSPACE,
  restricted_action_read_only_channel: WORKSPACE,
  restricted_action_thread_only_channel: WORKSPACE,
  restricted_action_non_threadable_channel: WORKSPACE,
  restricted_action_thread_locked: WORKSPACE,
  ekm_access_denied: WORKSPACE,
  msg_too_long: MALFORMED,
  msg_blocks_too_long: MALFORMED,
  no_text: MALFORMED,
  invalid_blocks: MALFORMED,
  invalid_blocks_format: MALFORMED,
  invalid_attachments: MALFORMED,
  attachment_payload_limit_exceeded: MALFORMED,
  too_many_attachments: MALFORMED,
  invalid_arguments: MALFORMED,
  invalid_metadata_format: MALFORMED,
  invalid_metadata_schema: MALFORMED,
  metadata_too_large: MALFORMED,
  message_not_found: GONE,
  thread_not_found: GONE,
  cannot_reply_to_message: GONE,
  cant_update_message: GONE,
  edit_window_closed: GONE,
  update_failed: PASSING,
  ratelimited: ["rate_limited", "integration", AGAIN],
  rate_limited: ["rate_limited", "integration", AGAIN],
  message_limit_exceeded: ["rate_limited", "integration", AGAIN],
  internal_error: PASSING,
  fatal_error: PASSING,
  service_unavailable: PASSING,
  request_timeout: PASSING,
  team_added_to_org: PASSING,
};

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
  if (code === ErrorCode.RateLimitedError)
    return refusal(["rate_limited", "integration", AGAIN], "429", cause, retryAfter);
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
  const known = word === "missing_scope" ? TOKEN : MEANINGS[word ?? ""];
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
