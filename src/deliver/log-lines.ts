/** What delivery writes into the decision log: for each alert of a message, that it was notified, or why not. Pure. */

import type { LogLine } from "../alerting/decision-log.ts";
import type { GroupDecision } from "../alerting/needs-update.ts";
import type { NotifyErrorCode } from "../alerting/notification.ts";
import type { SendDecision } from "../alerting/storm.ts";
import type { Suppressions } from "../alerting/suppression.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";

interface LineContext {
  readonly integration: string;
  readonly claim: Pick<Claimed, "alerts" | "notified">;
  readonly at: Instant;
}

/** After a message was accepted. An alert that is only listed again gets no line. */
export function notifiedLines(decision: SendDecision, context: LineContext): LogLine[] {
  const line = lineIn(context);
  return [
    ...newlyFiring(decision).map((alert) =>
      decision.notify === "reminder" ? line(alert, "reminded") : line(alert, "notified", decision.notify),
    ),
    ...newlyResolved(decision).map((alert) =>
      line(alert, alert.isNew ? "notified_late" : "notified_end", alert.endReason ?? "expired"),
    ),
    ...(decision.notify === "started" ? [] : unnotifiedEndLines(decision, context)),
  ];
}

/** Ends that are settled without a message. */
export function unnotifiedEndLines(decision: GroupDecision, context: LineContext): LogLine[] {
  const sent = new Set(decision.notify === undefined ? [] : decision.resolved.map(({ id }) => id));
  const line = lineIn(context);
  const { claim } = context;
  const members = new Map(claim.alerts.map((alert) => [alert.id, alert]));
  return decision.settled.flatMap((id) => {
    const alert = members.get(id) ?? claim.notified.get(id)?.alert;
    if (sent.has(id) || !alert) return [];
    return [line(alert, claim.notified.has(id) ? "send_resolved_off" : "resolved_before_notified")];
  });
}

/** Firing alerts that are suppressed, and by what. */
export function suppressedLines(suppressions: Suppressions | undefined, context: LineContext): LogLine[] {
  const line = lineIn(context);
  return context.claim.alerts.flatMap((alert) => {
    const suppression = suppressions?.muted ?? suppressions?.suppressed.get(alert.id);
    return suppression && alert.state === "firing" ? [line(alert, suppression.reason, suppression.by)] : [];
  });
}

/** After a message was refused; it is retried. */
export function failedLines(decision: SendDecision, context: LineContext, code: NotifyErrorCode): LogLine[] {
  const line = lineIn(context);
  return [...newlyFiring(decision), ...newlyResolved(decision)].map((alert) => line(alert, "failed", code));
}

function newlyFiring({ notify, firing }: SendDecision): SendDecision["firing"] {
  return notify === "reminder" ? firing : firing.filter(({ isNew }) => isNew);
}

function newlyResolved({ resolved }: SendDecision): SendDecision["resolved"] {
  return resolved.filter(({ isAgain }) => !isAgain);
}

function lineIn({ integration, at }: LineContext) {
  return ({ subject, ruleId }: Alert, reason: string, detail?: string): LogLine => ({
    subject,
    at,
    ruleId,
    integration,
    reason,
    detail,
  });
}
