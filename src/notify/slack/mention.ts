/** Whom news mentions, by the severity of what is new. */
import type { Notification } from "../../alerting/notification.ts";
import type { SlackAppSettings } from "../../config/slack-schema.ts";

/** Markup, each once; empty for a notification that mentions nobody. A reminder is about everything that fires. */
export function mentionsOf({ reason, firing }: Notification, mention: SlackAppSettings["mention"]): string {
  const alerts = reason === "reminder" ? firing : firing.filter(({ isNew }) => isNew);
  const severities = new Set(alerts.map(({ labels }) => labels.severity));
  const whom = mention.filter(({ severity }) => severities.has(severity)).map(({ who }) => who);
  return [...new Set(whom)].join(" ");
}
