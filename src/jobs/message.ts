/** A decision about a group as the message to send. Pure. */
import { createHash } from "node:crypto";
import type { GroupDecision } from "../alerting/decide.ts";
import type { Notification, NotifyReason } from "../alerting/notification.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";

type Saying = Extract<GroupDecision, { say: NotifyReason }>;

/** The message, with an id that stays the same while it is tried again and nothing new happened. */
export function toNotification(
  integration: Integration,
  claim: Pick<Claimed, "group" | "labels" | "told">,
  decision: Omit<Saying, "nextAt" | "kept">,
  now: Instant,
  externalUrl: string | undefined,
): Notification {
  let lastToldAt = 0;
  for (const { toldAt } of claim.told.values()) lastToldAt = Math.max(lastToldAt, toldAt);
  const facts = [
    integration.id,
    claim.group,
    decision.say,
    lastToldAt,
    ...decision.firing.map((alert) => `+${alert.id}`).sort(),
    ...decision.resolved.map((alert) => `-${alert.id}`).sort(),
  ];
  return {
    reason: decision.say,
    receiver: integration.receiver,
    integrationId: integration.id,
    group: { id: claim.group, labels: claim.labels },
    firing: decision.firing,
    resolved: decision.resolved,
    now,
    externalUrl,
    messageId: createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 32),
  };
}

/** Seconds since the oldest flip this message tells of; undefined where it tells of none. */
export function latencySeconds(decision: Saying, now: Instant): number | undefined {
  let oldest: Instant | undefined;
  for (const { isNew, firedAt } of decision.firing) if (isNew) oldest = Math.min(oldest ?? firedAt, firedAt);
  for (const { updatedAt } of decision.resolved) oldest = Math.min(oldest ?? updatedAt, updatedAt);
  return oldest === undefined ? undefined : (now - oldest) / 1000;
}
