/**
 * A notification as an event of PagerDuty's Events API v2 (developer.pagerduty.com, "Send an alert event"). All events
 * of a conversation have the same `dedup_key` and so are one incident, which ends with it.
 */
import type { Notification, NotifiedAlert } from "../alerting/notification.ts";
import { own } from "../lib/own.ts";
import { cut } from "../lib/text.ts";
import { overviewLink } from "./link.ts";
import { messageOf, restOf } from "./message.ts";
import { clean, locationName, plainName } from "./name.ts";
import type { ChannelOptions, Notifier } from "./notifier.ts";
import { createWebEndpoint, type HttpClientSettings, httpVerdict, type Verdict } from "./web-endpoint.ts";
import { timestamp } from "./wire-alert.ts";

const SUMMARY_LENGTH = 1_024;
/** An event has at most 512 KB. */
const DETAILS_LENGTH = 100_000;
const MOST_ENTRIES = 100;
const MOST_LINKS = 10;
const LINE_LENGTH = 1_000;

type Severity = "critical" | "error" | "warning" | "info";

const SEVERITIES: Readonly<Record<string, Severity>> = {
  critical: "critical",
  page: "critical",
  emergency: "critical",
  error: "error",
  warning: "warning",
  warn: "warning",
  info: "info",
  none: "info",
};
const WORST_FIRST: readonly Severity[] = ["critical", "error", "warning", "info"];

/** The event without its routing key; undefined where there is nothing to tell PagerDuty. `plain`: without details. */
export function renderPagerDuty(notification: Notification, options: { sendResolved: boolean; plain?: boolean }) {
  const event_action = actionOf(notification, options);
  if (event_action === undefined) return undefined;
  const { conversation, group } = notification;
  const dedup_key = conversation?.handle ?? conversation?.id ?? group.id.slice(0, 255);
  return { event_action, dedup_key, ...(event_action === "trigger" ? triggerOf(notification, options) : {}) };
}

/** News and reminders trigger the incident again. It stays as it is while only some of its alerts end or are silenced. */
function actionOf(notification: Notification, { sendResolved }: { sendResolved: boolean }) {
  const { reason, firing, standing, conversation } = notification;
  const isQuiet = reason === "resolved" || reason === "update" || firing.length === 0;
  if (!isQuiet || reason === "test") return "trigger";
  if (conversation?.isOver ?? firing.length + standing.length === 0) return sendResolved ? "resolve" : undefined;
  const isHandled = standing.every(({ suppressedBy }) => suppressedBy?.reason === "acknowledged");
  return reason === "update" && firing.length === 0 && isHandled ? "acknowledge" : undefined;
}

function triggerOf(notification: Notification, { plain = false }: { plain?: boolean }) {
  const { firing, now, externalUrl } = notification;
  const message = messageOf(notification, MOST_ENTRIES);
  const [oldest] = firing;
  const links = [...message.sections.flatMap(({ entries }) => entries.flatMap((entry) => entry.links))];
  return {
    client: "lenswatch",
    ...(externalUrl !== undefined && { client_url: overviewLink(externalUrl).url }),
    ...(links.length > 0 && {
      links: links.slice(0, MOST_LINKS).map(({ url, label }) => ({ href: url, text: label })),
    }),
    payload: {
      summary: cut(message.title, SUMMARY_LENGTH),
      source: (oldest && (locationName(oldest) || plainName(oldest))) || "lenswatch",
      severity: worstOf(firing),
      timestamp: timestamp(oldest?.startsAt ?? now),
      ...shared("component", firing, (alert) => plainName(alert)),
      ...shared("group", firing, ({ labels }) => clean(labels.organisation)),
      ...shared("class", firing, ({ labels }) => clean(labels.alertname)),
      ...(plain ? {} : { custom_details: detailsOf(message, notification) }),
    },
  };
}

function worstOf(firing: readonly NotifiedAlert[]): Severity {
  const found = new Set(firing.map(({ labels }) => own(SEVERITIES, labels.severity?.toLowerCase() ?? "") ?? "error"));
  return WORST_FIRST.find((severity) => found.has(severity)) ?? "error";
}

/** A field that has the same value for everything that fires. */
function shared(field: string, firing: readonly NotifiedAlert[], read: (alert: NotifiedAlert) => string) {
  const [value, ...others] = new Set(firing.map(read));
  return value && others.length === 0 ? { [field]: value } : {};
}

function detailsOf({ lead, sections, common }: ReturnType<typeof messageOf>, { firing, receiver }: Notification) {
  const lines = sections.flatMap((section) => [
    ...(section.heading === undefined ? [] : [`${section.heading}:`]),
    ...section.entries.flatMap(({ name, facts, notes }) => [name === "" ? facts : `${name}: ${facts}`, ...notes]),
    ...(section.entries.length < section.total ? [restOf(section, section.entries.length)] : []),
  ]);
  const text = [...lead, ...lines, ...common].map((line) => cut(line, LINE_LENGTH)).join("\n");
  return { firing: firing.length, receiver: clean(receiver), alerts: cut(text, DETAILS_LENGTH) };
}

interface PagerDutyOptions extends ChannelOptions {
  readonly routingKey: string;
  readonly url: string;
  readonly sendResolved: boolean;
  readonly http: HttpClientSettings;
}

/** A notifier for one `pagerduty_configs` entry. Its routing key is in no error and no log line. */
export function createPagerDutyNotifier({ routingKey, sendResolved, log, ...rest }: PagerDutyOptions): Notifier {
  const secrets = [routingKey];
  const endpoint = createWebEndpoint({ ...rest, name: "PagerDuty", secrets, verdict: verdictOf, hints: HINTS });
  return {
    async send(notification, { signal, plain = false }) {
      const event = renderPagerDuty(notification, { sendResolved, plain });
      if (event === undefined) return undefined;
      await endpoint.post(JSON.stringify({ routing_key: routingKey, ...event }), { signal });
      log.debug({ integration: notification.integrationId, action: event.event_action }, "PagerDuty accepted an event");
      return { handle: event.dedup_key };
    },
    close: endpoint.close,
  };
}

/** A wrong routing key is a 400 that names it. */
function verdictOf(status: number, text: string): Verdict | undefined {
  if (status === 400 && text.includes("routing_key")) return { code: "auth", answered: "400" };
  return httpVerdict(status);
}

const HINTS = {
  auth: "check routing_key, it is the integration key of a service with Events API v2",
  not_found: "check the path of its url",
  bad_request: "it does not accept this event",
  other: "check its url, redirects are not followed",
};
