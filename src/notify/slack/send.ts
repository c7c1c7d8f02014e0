/** Posts to an incoming webhook, once (docs.slack.dev: "Sending messages using incoming webhooks"). */
import {
  type FetchFunction,
  IncomingWebhook,
  IncomingWebhookRequestError,
  type IncomingWebhookSendArguments,
} from "@slack/webhook";
import type { ChannelOptions, Notifier } from "../notifier.ts";
import { codeOfStatus, createWebEndpoint, type Verdict } from "../web-endpoint.ts";
import { payloadOf, renderSlack } from "./render.ts";

/** A notifier for one incoming webhook. `apiUrl` is a secret: no error and no log line has it. */
export function createSlackNotifier(options: ChannelOptions & { readonly apiUrl: string }): Notifier {
  const { apiUrl: url, log, ...rest } = options;
  const check = "api_url, the network, DNS and HTTPS_PROXY";
  const endpoint = createWebEndpoint({ ...rest, url, name: "Slack", check, verdict: slackVerdict, hints: HINTS });
  async function post(payload: IncomingWebhookSendArguments, signal: AbortSignal): Promise<void> {
    // The package's default fetch has no signal, proxy or limit of an answer; its error has no `Retry-After`.
    const fetch: FetchFunction = async (_, init) => new Response(await endpoint.post(String(init?.body), { signal }));
    await new IncomingWebhook(url, { fetch }).send(payload).catch(throwCause);
  }
  return {
    post: (document, { signal }) => post(payloadOf(document), signal),
    async send(notification, { signal, plain = false }) {
      await post(renderSlack(notification, { plain }), signal);
      log.debug({ integration: notification.integrationId }, "Slack accepted a notification");
    },
    close: endpoint.close,
  };
}

/** The package wraps what `fetch` throws. */
function throwCause(thrown: unknown): never {
  throw thrown instanceof IncomingWebhookRequestError ? thrown.original : thrown;
}

/** Slack accepts with 200 and the body `ok`; its other answers are one word, such as `invalid_blocks`. */
function slackVerdict(status: number, text: string): Verdict | undefined {
  // Any other text is not repeated: it may come from something else than Slack.
  const [word] = /^[a-z][a-z_]{0,60}$/.exec(text.trim()) ?? [];
  if (status === 200 && word === "ok") return undefined;
  const isAuth = status < 500 && status >= 400 && (word === "invalid_token" || word === "invalid_auth");
  const code = isAuth ? "auth" : codeOfStatus(status);
  return { code, answered: word === undefined ? `${status}` : `${status} ${word}` };
}

const HINTS = {
  auth: "check api_url and the permissions of the Slack app",
  not_found: "the webhook or its channel does not exist any more, create a new api_url",
  bad_request: "it does not accept this message",
  other: "this is not a Slack webhook, check api_url and the proxy",
};
