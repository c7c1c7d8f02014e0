/** What machines are told of an alert, as Alertmanager names it: shared by the webhook and by forwarding. */
import type { NotifiedAlert } from "../alerting/notification.ts";
import type { Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { overviewLink, printableUrl, statusLink } from "./link.ts";

/** RFC 3339, UTC, with milliseconds. */
export function timestamp(at: Instant): string {
  return new Date(at).toISOString();
}

/** The alert's annotations; once it is over, `end_reason` says why, since only `recovered` means that it is back. */
export function wireAnnotations({ annotations, state, endReason = "expired" }: NotifiedAlert): Labels {
  return wellFormed(state === "resolved" ? { ...annotations, end_reason: endReason } : annotations);
}

/** A lone surrogate is no UTF-8: what receives it may refuse the whole message. */
export function wellFormed(labels: Labels): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]),
  );
}

/** Where its sender says it comes from, else where to look at it on the status page, where its address is configured. */
export function generatorUrl(alert: NotifiedAlert, externalUrl: string | undefined): string | undefined {
  const source = printableUrl(alert.facts.generatorUrl);
  if (source !== undefined || externalUrl === undefined) return source;
  return (statusLink(externalUrl, alert) ?? overviewLink(externalUrl)).url;
}
