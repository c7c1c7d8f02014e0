/** An alert in Alertmanager's fields, for webhooks and for forwarding. */
import type { NotifiedAlert } from "../alerting/model.ts";
import type { Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { overviewLink, printableUrl, statusLink } from "./link.ts";

/** RFC 3339, UTC, with milliseconds. */
export function timestamp(at: Instant): string {
  return new Date(at).toISOString();
}

/** The alert's annotations; with `end_reason` once it is resolved, since only `recovered` means that it is back. */
export function wireAnnotations({ annotations, state, endReason = "expired" }: NotifiedAlert): Labels {
  return wellFormed(state === "resolved" ? { ...annotations, end_reason: endReason } : annotations);
}

/** Without lone surrogates, for which a receiver may refuse the whole message. */
export function wellFormed(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]));
}

/** The generator URL of its sender, else its page here; undefined without a configured `external_url`. */
export function generatorUrl(alert: NotifiedAlert, externalUrl: string | undefined): string | undefined {
  const source = printableUrl(alert.facts.generatorUrl);
  if (source !== undefined || externalUrl === undefined) return source;
  return (statusLink(externalUrl, alert) ?? overviewLink(externalUrl)).url;
}
