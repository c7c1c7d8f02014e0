/** The message for a decision about a group, or about many in a storm. Pure. */
import { createHash } from "node:crypto";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { tracesOf } from "../alerting/conversation.ts";
import type { Notification } from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import type { joinDecisions } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";

type Words = ReturnType<typeof joinDecisions> & Partial<Pick<Notification, "standing" | "causes">>;
type ShareFacts = Pick<Claimed, "group" | "labels" | "notified" | "nextAt" | "escalateAfterMs">;
type Shares = readonly { readonly claim: ShareFacts }[];

/** The message id stays the same while the message is retried and nothing new happened. */
export function toNotification(
  integration: Integration,
  shares: Shares,
  words: Words,
  { conversation, ...shown }: Pick<Notification, "now" | "externalUrl" | "timezone" | "conversation">,
): Notification {
  let lastNotifiedAt = 0;
  for (const { claim } of shares)
    for (const { notifiedAt } of claim.notified.values()) lastNotifiedAt = Math.max(lastNotifiedAt, notifiedAt);
  const group = groupOf(shares, words);
  const facts = [
    integration.id,
    group.id,
    words.notify,
    words.notify === "started" ? shares[0]?.claim.nextAt : lastNotifiedAt,
    ...words.firing.map((alert) => `+${alert.id}`).sort(),
    ...words.resolved.map((alert) => `-${alert.id}`).sort(),
  ];
  return {
    reason: words.notify,
    receiver: integration.receiver,
    integrationId: integration.id,
    group,
    ...(shares.length > 1 ? { groups: shares.length } : {}),
    ...(words.start ? { start: words.start } : {}),
    ...(words.notify === "first" && { escalatedAfterMs: onlyOf(shares.map(({ claim }) => claim.escalateAfterMs)) }),
    firing: words.firing,
    resolved: words.resolved,
    standing: words.standing ?? [],
    ...(words.causes?.length && { causes: words.causes }),
    ...(conversation && { conversation }),
    ...shown,
    messageId: createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 32),
    trace: tracesOf(words.firing, words.resolved),
  };
}

function onlyOf<T>(all: readonly T[]): T | undefined {
  return new Set(all).size === 1 ? all[0] : undefined;
}

/** A storm and its end are one thread, named by the day on which its first alert began. */
function groupOf(shares: Shares, { notify, firing, resolved }: Words): Notification["group"] {
  if (notify === "started") return { id: coldStartGroup, labels: {} };
  const [only] = shares;
  if (only && shares.length === 1) return { id: only.claim.group, labels: only.claim.labels };
  let began = Number.POSITIVE_INFINITY;
  for (const { startsAt } of [...firing, ...resolved]) began = Math.min(began, startsAt);
  return { id: `storm/${new Date(began).toISOString().slice(0, 10)}`, labels: {} };
}

/** Seconds since the oldest change that this message is the first to notify of; undefined without any. */
export function latencySeconds(words: Words, now: Instant): number | undefined {
  let oldest: Instant | undefined;
  for (const { isNew, firedAt } of words.firing) if (isNew) oldest = Math.min(oldest ?? firedAt, firedAt);
  for (const { isAgain, updatedAt } of words.resolved) if (!isAgain) oldest = Math.min(oldest ?? updatedAt, updatedAt);
  return oldest === undefined ? undefined : (now - oldest) / 1000;
}
