/** Posts a group to a webhook, once: retries and back-off are the caller's. */
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";
import type { Fetch } from "../fetch.ts";
import { createHttpClient, type HttpClientSettings } from "../http-client.ts";
import type { Notifier } from "../notifier.ts";
import { renderWebhook } from "./render.ts";
import { signatureHeaders } from "./sign.ts";

/** A channel to one `webhook_configs` entry. Its `url` and `secret` never leave in an error or a log. */
export function createWebhookNotifier(deps: {
  readonly url: string;
  /** Signs every message; undefined: none is. */
  readonly secret: string | undefined;
  /** 0: all. */
  readonly maxAlerts: number;
  readonly http: HttpClientSettings;
  /** No send takes longer, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly fetch?: Fetch | undefined;
  readonly clock?: Clock | undefined;
}): Notifier {
  const { url, secret, maxAlerts, http, timeoutMs, log, fetch, clock = systemClock } = deps;
  const secrets = secret === undefined ? [] : [secret];
  const client = createHttpClient({ url, http, secrets, who: "the webhook", timeoutMs, fetch, clock });
  return {
    async send(notification, { signal, plain = false }) {
      const body = JSON.stringify(renderWebhook(notification, { maxAlerts, plain }));
      const signed = secret === undefined ? {} : signatureHeaders(body, { secret, now: clock.now() });
      const headers = { ...signed, "x-lenswatch-message-id": notification.messageId };
      await client.post(body, { signal, headers });
      log.debug({ integration: notification.integrationId }, "the webhook accepted a message");
    },
    close: client.close,
  };
}
