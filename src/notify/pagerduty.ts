/**
 * A notification as events of PagerDuty's Events API v2 (developer.pagerduty.com, "Send an alert event"). Events of one
 * `dedup_key` are about one incident. Another `trigger` of an open incident is a line in its log: while it is
 * acknowledged, it notifies nobody.
 */

import { type Document, plainText, type Row } from "../alerting/document.ts";
import type { Notification, NotifiedAlert, PageChange } from "../alerting/model.ts";
import { severityRank } from "../alerting/tone.ts";
import { cut } from "../lib/text.ts";
import { overviewLink } from "./link.ts";
import { messageOf } from "./message.ts";
import { clean, locationName, plainName } from "./name.ts";
import type { ChannelOptions, Notifier } from "./notifier.ts";
import { createWebEndpoint, type HttpClientSettings, httpVerdict, type Verdict } from "./web-endpoint.ts";
import { timestamp } from "./wire-alert.ts";

const SUMMARY_LENGTH = 1_024;
/** An event has at most 512 KB. */
const DETAILS_LENGTH = 100_000;
const MOST_ENTRIES = 100;
const MOST_LINKS = 10;

/** By their rank. */
const SEVERITIES = ["critical", "error", "warning", "info"] as const;

/** The events without their routing key, in their order. `plain`: without details. */
export function renderPagerDuty(notification: Notification, options: { sendResolved: boolean; plain?: boolean }) {
  const changes = notification.conversation?.paging?.changes ?? unpaged(notification);
  const wanted = changes.filter(({ action }) => action !== "resolve" || options.sendResolved);
  return wanted.map(({ action: event_action, key: dedup_key, firing, resolved }) => {
    const about = { ...notification, firing, resolved };
    return { event_action, dedup_key, ...(event_action === "trigger" ? triggerOf(about, options) : {}) };
  });
}

/** A message that is part of no conversation, such as a test. */
function unpaged({ group, firing, resolved }: Notification): PageChange[] {
  return firing.length === 0 ? [] : [{ action: "trigger", key: group.id.slice(0, 255), firing, resolved }];
}

function triggerOf(notification: Notification, { plain = false }: { plain?: boolean }) {
  const { firing, now, externalUrl } = notification;
  const message = messageOf(notification, MOST_ENTRIES);
  const [oldest] = firing;
  const links = message.sections.flatMap(({ rows }) => rows.flatMap((row) => row.links));
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

function worstOf(firing: readonly NotifiedAlert[]): (typeof SEVERITIES)[number] {
  const found = new Set(firing.map(({ labels }) => SEVERITIES[severityRank(labels)] ?? "error"));
  return SEVERITIES.find((severity) => found.has(severity)) ?? "error";
}

/** A field that has the same value for everything that fires. */
function shared(field: string, firing: readonly NotifiedAlert[], read: (alert: NotifiedAlert) => string) {
  const [value, ...others] = new Set(firing.map(read));
  return value && others.length === 0 ? { [field]: value } : {};
}

function detailsOf(message: Document, { firing, receiver }: Notification) {
  const bare = (row: Row) => ({ ...row, links: [] });
  const sections = message.sections.map((section) => ({ ...section, rows: section.rows.map(bare) }));
  const text = plainText({ ...message, sections, actions: [] });
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
      const { id, handle } = notification.conversation ?? {};
      // Sent again after a failure, none of them changes anything more.
      for (const event of renderPagerDuty(notification, { sendResolved, plain })) {
        await endpoint.post(JSON.stringify({ routing_key: routingKey, ...event }), { signal });
        const facts = { integration: notification.integrationId, action: event.event_action };
        log.debug(facts, "PagerDuty accepted an event");
      }
      return { handle: handle ?? id };
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
