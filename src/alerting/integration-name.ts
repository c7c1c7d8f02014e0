/** Integrations by the names that people read; the configured names are for logs and the API. */
import type { Alert } from "../health/alert.ts";
import { own } from "../lib/own.ts";

const CHANNELS: Readonly<Record<string, string>> = {
  slack: "Slack",
  email: "e-mail",
  webhook: "webhook",
  pagerduty: "PagerDuty",
  msteamsv2: "Teams",
  alertmanager: "Alertmanager",
};

/** `Slack (ops)` of `ops/slack/0`, `Slack 2 (ops)` of its second, `amy@example.com (ops)` of `ops/email/0/amy@example.com`. */
export function integrationName(name: string): string {
  const [, receiver, type, position, recipient] = /^(.+?)\/([a-z0-9]+)\/(\d+)(?:\/(.+))?$/s.exec(name) ?? [];
  if (receiver === undefined || type === undefined) return name;
  const channel = recipient ?? own(CHANNELS, type) ?? type;
  return `${channel}${position === "0" || recipient ? "" : ` ${Number(position) + 1}`} (${receiver})`;
}

/** The same of the subject of an alert: its id may be older than the name of its receiver. */
export function failingIntegration({ subject, labels }: Pick<Alert, "subject" | "labels">): string {
  const at = subject.id.indexOf(`/${labels.integration}/`);
  return integrationName(at < 0 ? subject.id : `${labels.receiver}${subject.id.slice(at)}`);
}
