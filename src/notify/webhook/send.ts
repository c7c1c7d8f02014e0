/** Posts a group to a webhook, once. */
import { createHmac } from "node:crypto";
import { systemClock } from "../../lib/clock.ts";
import type { ChannelOptions, Notifier } from "../notifier.ts";
import { createWebEndpoint, type HttpClientSettings } from "../web-endpoint.ts";
import { renderWebhook } from "./render.ts";

interface WebhookOptions extends ChannelOptions {
  readonly url: string;
  /** Signs every message; undefined: messages are not signed. */
  readonly secret: string | undefined;
  /** 0: all. */
  readonly maxAlerts: number;
  readonly http: HttpClientSettings;
}

/** A notifier for one `webhook_configs` entry. Its `url` and `secret` are in no error and no log line. */
export function createWebhookNotifier(options: WebhookOptions): Notifier {
  const { secret, maxAlerts, log, clock = systemClock, ...rest } = options;
  const endpoint = createWebEndpoint({
    ...rest,
    name: "The webhook",
    secrets: secret === undefined ? [] : [secret],
    clock,
  });
  return {
    async send(notification, { signal, plain = false }) {
      const body = JSON.stringify(renderWebhook(notification, { maxAlerts, plain }));
      const signature =
        secret === undefined ? {} : signatureHeaders(`${Math.floor(clock.now() / 1_000)}`, body, secret);
      const headers = { ...signature, "x-lenswatch-message-id": notification.messageId };
      await endpoint.post(body, { signal, headers });
      log.debug({ integration: notification.integrationId }, "the webhook accepted a notification");
    },
    close: endpoint.close,
  };
}

/** `X-Lenswatch-Timestamp`: seconds since the epoch; `X-Lenswatch-Signature`: HMAC-SHA256 of `timestamp.body`. */
function signatureHeaders(at: string, body: string, secret: string) {
  const mac = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  return { "x-lenswatch-timestamp": at, "x-lenswatch-signature": `sha256=${mac}` };
}
