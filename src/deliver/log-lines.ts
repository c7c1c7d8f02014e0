/** What delivery writes into the incident log: of each alert a message speaks of, who was told, or why not. Pure. */

import type { LogLine } from "../alerting/decision-log.ts";
import type { GroupDecision } from "../alerting/needs-update.ts";
import type { NotifyErrorCode } from "../alerting/notification.ts";
import type { Hold, Holds } from "../alerting/suppression.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";

interface Told {
  readonly integration: string;
  readonly claim: Pick<Claimed, "alerts" | "told">;
  readonly at: Instant;
}

type Saying = Extract<GroupDecision, { say: string }>;

/** After a message was accepted. An alert that is only listed again is no news. */
export function toldLines(decision: Saying, told: Told): LogLine[] {
  const line = lineAt(told);
  return [
    ...newsOf(decision).map((alert) =>
      decision.say === "reminder" ? line(alert, "reminded") : line(alert, "told", decision.say),
    ),
    ...endsOf(decision).map((alert) =>
      line(alert, alert.isNew ? "told_late" : "told_end", alert.endReason ?? "expired"),
    ),
    ...(decision.say === "started" ? [] : untoldEndLines(decision, told)),
  ];
}

/** Ends that are settled without being told. */
export function untoldEndLines(decision: GroupDecision, told: Told): LogLine[] {
  const said = new Set(decision.say === undefined ? [] : decision.resolved.map(({ id }) => id));
  const line = lineAt(told);
  const { claim } = told;
  const known = new Map(claim.alerts.map((alert) => [alert.id, alert]));
  return decision.settled.flatMap((id) => {
    const alert = known.get(id) ?? claim.told.get(id)?.alert;
    if (said.has(id) || !alert) return [];
    return [line(alert, claim.told.has(id) ? "send_resolved_off" : "resolved_before_told")];
  });
}

/** What fires and is held back, and by what. */
export function heldLines(holds: Holds | undefined, told: Told): LogLine[] {
  const line = lineAt(told);
  return told.claim.alerts.flatMap((alert) => {
    const hold: Hold | undefined = holds?.muted ?? holds?.held.get(alert.id);
    return hold && alert.state === "firing" ? [line(alert, hold.reason, hold.by)] : [];
  });
}

/** After a message was not accepted; it is kept and tried again. */
export function failedLines(decision: Saying, told: Told, code: NotifyErrorCode): LogLine[] {
  const line = lineAt(told);
  return [...newsOf(decision), ...endsOf(decision)].map((alert) => line(alert, "failed", code));
}

function newsOf({ say, firing }: Saying): Saying["firing"] {
  return say === "reminder" ? firing : firing.filter(({ isNew }) => isNew);
}

function endsOf({ resolved }: Saying): Saying["resolved"] {
  return resolved.filter(({ isAgain }) => !isAgain);
}

function lineAt({ integration, at }: Told) {
  return ({ subject, ruleId }: Alert, reason: string, detail?: string): LogLine => ({
    subject,
    at,
    ruleId,
    integration,
    reason,
    detail,
  });
}
