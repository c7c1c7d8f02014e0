/** A group as Alertmanager's webhook payload, version 4 (its docs/configuration.md, "webhook_config"). */
import type { Notification, NotifiedAlert } from "../../alerting/notification.ts";
import type { Labels } from "../../health/alert.ts";
import { generatorUrl, timestamp, wellFormed, wireAnnotations } from "../wire-alert.ts";

export interface WebhookPayload {
  readonly receiver: string;
  readonly status: "firing" | "resolved";
  readonly alerts: readonly WebhookAlert[];
  readonly groupLabels: Labels;
  /** Those that all alerts of the message share. */
  readonly commonLabels: Labels;
  readonly commonAnnotations: Labels;
  /** The status page; empty where none is configured. */
  readonly externalURL: string;
  readonly version: "4";
  /** The same for every message about the group. */
  readonly groupKey: string;
  /** How many `max_alerts` left out. */
  readonly truncatedAlerts: number;
}

interface WebhookAlert {
  readonly status: "firing" | "resolved";
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: string;
  /** Go's zero time while it fires. */
  readonly endsAt: string;
  readonly generatorURL: string;
  readonly fingerprint: string;
}

const ZERO_TIME = "0001-01-01T00:00:00Z";

/** Firing alerts come first; `maxAlerts` 0 is all. `plain` leaves out annotations, which may be too long. */
export function renderWebhook(
  notification: Notification,
  { maxAlerts, plain = false }: { readonly maxAlerts: number; readonly plain?: boolean },
): WebhookPayload {
  const { receiver, group, firing, resolved, externalUrl } = notification;
  const all = [...firing, ...resolved];
  const alerts = (maxAlerts === 0 ? all : all.slice(0, maxAlerts)).map((alert) => toAlert(alert, externalUrl, plain));
  const groupLabels = wellFormed(group.labels);
  return {
    receiver,
    status: firing.length > 0 ? "firing" : "resolved",
    alerts,
    groupLabels,
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    externalURL: externalUrl ?? "",
    version: "4",
    groupKey: `${group.id}:${JSON.stringify(groupLabels)}`,
    truncatedAlerts: all.length - alerts.length,
  };
}

function toAlert(alert: NotifiedAlert, externalUrl: string | undefined, plain: boolean): WebhookAlert {
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
    others.every((labels) => Object.hasOwn(labels, name) && labels[name] === value),
  );
  return Object.fromEntries(shared);
}
