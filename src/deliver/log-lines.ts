/** What delivery writes into the incident log: of each alert a message speaks of, who was told, or why not. Pure. */

import type { LogLine } from "../alerting/decision-log.ts";
import type { GroupDecision } from "../alerting/needs-update.ts";
import type { NotifyErrorCode } from "../alerting/notification.ts";
import type { Suppression, Suppressions } from "../alerting/suppression.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";

interface NotificationLogEntry {
  readonly integration: string;
  readonly claim: Pick<Claimed, "alerts" | "notified">;
  readonly at: Instant;
}

type SendDecision = Extract<GroupDecision, { notify: string }>;

/** After a message was accepted. An alert that is only listed again is no news. */
export function notifiedLines(decision: SendDecision, notified: NotificationLogEntry): LogLine[] {
  const line = lineAt(notified);
  return [
    ...newsOf(decision).map((alert) =>
      decision.notify === "reminder" ? line(alert, "reminded") : line(alert, "notified", decision.notify),
    ),
    ...endsOf(decision).map((alert) =>
      line(alert, alert.isNew ? "notified_late" : "notified_end", alert.endReason ?? "expired"),
    ),
    ...(decision.notify === "started" ? [] : unnotifiedEndLines(decision, notified)),
  ];
}

/** Ends that are settled without being told. */
export function unnotifiedEndLines(decision: GroupDecision, notified: NotificationLogEntry): LogLine[] {
  const sent = new Set(decision.notify === undefined ? [] : decision.resolved.map(({ id }) => id));
  const line = lineAt(notified);
  const { claim } = notified;
  const known = new Map(claim.alerts.map((alert) => [alert.id, alert]));
  return decision.settled.flatMap((id) => {
    const alert = known.get(id) ?? claim.notified.get(id)?.alert;
    if (sent.has(id) || !alert) return [];
    return [line(alert, claim.notified.has(id) ? "send_resolved_off" : "resolved_before_notified")];
  });
}

/** What fires and is held back, and by what. */
export function suppressedLines(
  suppressions: Suppressions | undefined,
  notified: NotificationLogEntry,
): LogLine[] {
  const line = lineAt(notified);
  return notified.claim.alerts.flatMap((alert) => {
    const suppression: Suppression | undefined =
      suppressions?.muted ?? suppressions?.suppressed.get(alert.id);
    return suppression && alert.state === "firing" ? [line(alert, suppression.reason, suppression.by)] : [];
  });
}

/** After a message was not accepted; it is kept and tried again. */
export function failedLines(
  decision: SendDecision,
  notified: NotificationLogEntry,
  code: NotifyErrorCode,
): LogLine[] {
  const line = lineAt(notified);
  return [...newsOf(decision), ...endsOf(decision)].map((alert) => line(alert, "failed", code));
}

function newsOf({ notify, firing }: SendDecision): SendDecision["firing"] {
  return notify === "reminder" ? firing : firing.filter(({ isNew }) => isNew);
}

function endsOf({ resolved }: SendDecision): SendDecision["resolved"] {
  return resolved.filter(({ isAgain }) => !isAgain);
}

function lineAt({ integration, at }: NotificationLogEntry) {
  return ({ subject, ruleId }: Alert, reason: string, detail?: string): LogLine => ({
    subject,
    at,
    ruleId,
    integration,
    reason,
    detail,
  });
}
