/** Posts to a Teams workflow ("When a Teams webhook request is received"), once. */
import type { ChannelOptions, Notifier } from "../notifier.ts";
import { codeOfStatus, createWebEndpoint, type HttpClientSettings, type Verdict } from "../web-endpoint.ts";
import { renderTeams } from "./render.ts";

/** A notifier for one `msteamsv2_configs` entry. `webhookUrl` is a secret: no error and no log line has it. */
export function createTeamsNotifier(
  options: ChannelOptions & { readonly webhookUrl: string; readonly http: HttpClientSettings },
): Notifier {
  const { webhookUrl: url, log, ...rest } = options;
  const check = "webhook_url, the network, DNS and HTTPS_PROXY";
  const endpoint = createWebEndpoint({ ...rest, url, name: "Teams", check, verdict: verdictOf, hints: HINTS });
  return {
    async send(notification, { signal, plain = false }) {
      await endpoint.post(JSON.stringify(renderTeams(notification, { plain })), { signal });
      log.debug({ integration: notification.integrationId }, "Teams accepted a notification");
      return undefined;
    },
    close: endpoint.close,
  };
}

/** A workflow answers 202 before it posts; a connector of the old kind answers 200 whatever came of it. */
function verdictOf(status: number, text: string): Verdict | undefined {
  if (status < 200 || status >= 300) return { code: codeOfStatus(status), answered: String(status) };
  if (!text.startsWith("Webhook message delivery failed")) return undefined;
  const code = text.includes("429") ? "rate_limited" : text.includes("413") ? "bad_request" : "server_error";
  return { code, answered: `${status}, the message was not delivered` };
}

const HINTS = {
  auth: "create the workflow's webhook_url again, anyone may trigger it has to be set",
  not_found: "the workflow does not exist any more, create a new webhook_url",
  bad_request: "it does not accept this message",
  other: "this is not a Teams workflow, check webhook_url and the proxy",
};
