/** The units of delivery a configuration asks for, and where an alert is to be told. Pure. */
import type { Integration, Route } from "../alerting/route.ts";
import { groupOf, routesFor } from "../alerting/routing.ts";
import type { AlertmanagerConfig, Config, WebhookConfig } from "../config/config.ts";
import type { Alert } from "../health/alert.ts";
import type { Destination } from "../store/destination.ts";

/** Slack allows one message a second per webhook (docs.slack.dev, rate limits). */
const SLACK_PACE_MS = 1_000;
/** Mail servers slow down or turn away who sends many messages at once. */
const EMAIL_PACE_MS = 200;

/** An integration and what it takes to build its channel. */
export type IntegrationPlan =
  | { readonly integration: Integration; readonly type: "slack"; readonly apiUrl: string }
  | {
      readonly integration: Integration;
      readonly type: "email";
      readonly to: readonly string[];
      readonly recipient: string;
    }
  | { readonly integration: Integration; readonly type: "webhook"; readonly webhook: WebhookConfig }
  | {
      readonly integration: Integration;
      readonly type: "alertmanager";
      readonly alertmanager: AlertmanagerConfig;
    };

/** All integrations of a configuration; `endpoints` gives printable names of a URL and of the mail server. */
export function planIntegrations(
  config: Pick<Config, "receivers">,
  endpoints: { webhook(url: string): string; smtp: string },
): IntegrationPlan[] {
  return config.receivers.flatMap(({ name, slack, email, webhook, alertmanager }): IntegrationPlan[] => [
    ...slack.map(({ apiUrl, sendResolved }, i): IntegrationPlan => {
      const id = `${name}/slack/${i}`;
      const endpoint = endpoints.webhook(apiUrl);
      return {
        type: "slack",
        apiUrl,
        integration: { id, receiver: name, type: "slack", sendResolved, endpoint, paceMs: SLACK_PACE_MS },
      };
    }),
    ...email.flatMap(({ to, sendResolved }, i) =>
      to.map((recipient): IntegrationPlan => {
        const id = `${name}/email/${i}/${recipient}`;
        const endpoint = endpoints.smtp;
        return {
          type: "email",
          to,
          recipient,
          integration: { id, receiver: name, type: "email", sendResolved, endpoint, paceMs: EMAIL_PACE_MS },
        };
      }),
    ),
    ...webhook.map((one, i): IntegrationPlan => {
      const integration = {
        id: `${name}/webhook/${i}`,
        receiver: name,
        type: "webhook",
        sendResolved: one.sendResolved,
        endpoint: endpoints.webhook(one.url),
        paceMs: 0,
        everyGroup: true,
      } as const;
      return { type: "webhook", webhook: one, integration };
    }),
    ...alertmanager.map((one, i): IntegrationPlan => {
      const integration = {
        id: `${name}/alertmanager/${i}`,
        receiver: name,
        type: "alertmanager",
        sendResolved: true,
        endpoint: endpoints.webhook(one.url),
        paceMs: 0,
        resendMs: one.resendMs,
      } as const;
      return { type: "alertmanager", alertmanager: one, integration };
    }),
  ]);
}

/**
 * Every group an alert belongs to. An alert about an integration that fails is never sent through that one.
 * Two routes that lead to the same group of the same integration count once, the first with its timers.
 */
export function destinationsOf(
  alert: Pick<Alert, "labels" | "subject">,
  route: Route,
  integrations: readonly Integration[],
): Destination[] {
  const destinations = new Map<string, Destination>();
  for (const matched of routesFor(route, alert.labels)) {
    const group = groupOf(matched, alert.labels);
    for (const integration of integrations) {
      const { id, receiver } = integration;
      const failing = alert.subject.kind === "integration" && alert.subject.id === id;
      if (receiver !== matched.receiver || failing) continue;
      const key = `${id}\n${group.id}`;
      if (!destinations.has(key)) destinations.set(key, toDestination(integration, group, matched));
    }
  }
  return [...destinations.values()];
}

function toDestination(
  { id, everyGroup, resendMs }: Integration,
  group: { id: string; labels: Destination["labels"] },
  route: Route,
): Destination {
  const place = { integration: id, group: group.id, labels: group.labels };
  if (resendMs !== undefined) return { ...place, ...AT_ONCE, repeatIntervalMs: resendMs };
  return {
    ...place,
    groupWaitMs: route.groupWaitMs,
    groupIntervalMs: route.groupIntervalMs,
    repeatIntervalMs: route.repeatIntervalMs,
    stormGroups: everyGroup ? undefined : route.stormGroups,
  };
}

/** To whoever groups and waits by itself everything goes as it comes, in as few messages as there are. */
const AT_ONCE = { groupWaitMs: 0, groupIntervalMs: 1_000, stormGroups: 1 } as const;
