/** A group as Alertmanager's webhook payload, version 4 (its docs/configuration.md, "webhook_config"). */

import { createHmac } from "node:crypto";
import type { Notification, NotifiedAlert } from "../alerting/model.ts";
import type { Labels } from "../health/alert.ts";
import { systemClock } from "../lib/clock.ts";
import { own } from "../lib/own.ts";
import type { ChannelOptions, Notifier } from "./notifier.ts";
import { createWebEndpoint, type HttpClientSettings } from "./web-endpoint.ts";
import { generatorUrl, timestamp, wellFormed, wireAnnotations } from "./wire-alert.ts";

export type WebhookPayload = ReturnType<typeof renderWebhook>;

/** Go's, of what has not ended. */
const ZERO_TIME = "0001-01-01T00:00:00Z";

/** Firing alerts come first; `maxAlerts` 0 is all. `plain` leaves out annotations, which may be too long. */
export function renderWebhook(
  notification: Notification,
  { maxAlerts, plain = false }: { readonly maxAlerts: number; readonly plain?: boolean },
) {
  const { receiver, group, firing, resolved, externalUrl } = notification;
  const all = [...firing, ...resolved];
  const alerts = (maxAlerts === 0 ? all : all.slice(0, maxAlerts)).map((alert) => toAlert(alert, externalUrl, plain));
  const groupLabels = wellFormed(group.labels);
  return {
    receiver,
    status: firing.length > 0 ? "firing" : "resolved",
    alerts,
    groupLabels,
    /** The labels that all alerts of the message share. */
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    /** The status page; empty where none is configured. */
    externalURL: externalUrl ?? "",
    version: "4",
    /** The same for every message about the group. */
    groupKey: `${group.id}:${JSON.stringify(groupLabels)}`,
    /** The number of alerts that `max_alerts` left out. */
    truncatedAlerts: all.length - alerts.length,
  };
}

function toAlert(alert: NotifiedAlert, externalUrl: string | undefined, plain: boolean) {
  const { state, labels, startsAt, endsAt, updatedAt, fingerprint } = alert;
  return {
    status: state,
    labels: wellFormed(labels),
    annotations: plain ? {} : wireAnnotations(alert),
    startsAt: timestamp(startsAt),
    endsAt: state === "firing" ? ZERO_TIME : timestamp(endsAt ?? updatedAt),
    generatorURL: generatorUrl(alert, externalUrl) ?? "",
    fingerprint,
  };
}

function common([first, ...others]: readonly Labels[]): Labels {
  const shared = Object.entries(first ?? {}).filter(([name, value]) =>
    others.every((labels) => own(labels, name) === value),
  );
  return Object.fromEntries(shared);
}

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
