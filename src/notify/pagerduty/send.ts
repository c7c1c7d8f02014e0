/** Sends events to PagerDuty, each once. */
import type { ChannelOptions, Notifier } from "../notifier.ts";
import { codeOfStatus, createWebEndpoint, type HttpClientSettings, type Verdict } from "../web-endpoint.ts";
import { renderPagerDuty } from "./render.ts";

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
  if (status >= 200 && status < 300) return undefined;
  const isKey = status === 400 && text.includes("routing_key");
  return { code: isKey ? "auth" : codeOfStatus(status), answered: String(status) };
}

const HINTS = {
  auth: "check routing_key, it is the integration key of a service with Events API v2",
  not_found: "check the path of its url",
  bad_request: "it does not accept this event",
  other: "check its url, redirects are not followed",
};
