/** A decision about a group as what is to be written down of it. Pure. */
import type { GroupDecision } from "../alerting/needs-update.ts";
import type { NotificationLogEntry } from "../alerting/notification-log.ts";
import type { SendDecision } from "../alerting/storm.ts";
import type { Suppressions } from "../alerting/suppression.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed, Settlement } from "../store/groups.ts";
import { notifiedLines, suppressedLines, unnotifiedEndLines } from "./log-lines.ts";

/** A group under our lease, with what holds it back. */
export interface Taken extends Claimed {
  readonly suppressions: Suppressions | undefined;
}

/** What to settle, once the message is accepted where there is one. */
export function settlementOf(
  claim: Taken,
  decision: GroupDecision,
  { integration, now }: { readonly integration: string; readonly now: Instant },
): Settlement {
  const here = { integration, claim, at: now };
  return {
    now,
    sent: decision.notify !== undefined,
    notified: logEntriesOf(claim, decision, now),
    ...partings(claim, decision),
    nextAt: decision.nextAt,
    lines:
      decision.notify === undefined
        ? [...unnotifiedEndLines(decision, here), ...suppressedLines(claim.suppressions, here)]
        : notifiedLines(decision, here),
  };
}

function logEntriesOf(claim: Claimed, decision: GroupDecision, now: Instant): NotificationLogEntry[] {
  if (decision.notify === undefined) return [];
  // When a group was last sent again is known by any of its members.
  const firing = decision.notify === "resend" ? decision.firing.slice(0, 1) : decision.firing;
  return [
    ...firing.map(({ fingerprint: _, isNew: __, standsFor: ___, isAgain: ____, ...alert }) => ({
      alert,
      notifiedAt: now,
      groupId: claim.group,
    })),
    ...endsToSendAgain(claim, decision, now),
  ];
}

/** Ends that are told for the first time and stay. */
function endsToSendAgain(
  claim: Claimed,
  { resolved, settled }: SendDecision,
  now: Instant,
): NotificationLogEntry[] {
  return resolved.flatMap(({ id, isAgain }) => {
    const known = claim.notified.get(id);
    return known && !isAgain && !settled.includes(id) ? [{ ...known, endNotifiedAt: now }] : [];
  });
}

/** Who was told, or is told now, is done with in every group here; who was not may be owed by another group. */
function partings(
  claim: Claimed,
  decision: GroupDecision,
): Pick<Settlement, "over" | "unnotified"> & Partial<Pick<Settlement, "suppressedState">> {
  // The members of a start's summary go on in their own groups, which tell their ends.
  if (decision.notify === "started") return { over: [...claim.lost], unnotified: decision.settled };
  const sent = new Set(decision.notify === undefined ? [] : decision.resolved.map(({ id }) => id));
  const isOver = (id: string) => claim.notified.has(id) || sent.has(id);
  const { suppressedState } = decision;
  const hasSuppressed = suppressedState.by.length + suppressedState.maybeNotified.length > 0;
  return {
    over: [...decision.settled.filter(isOver), ...claim.lost],
    unnotified: decision.settled.filter((id) => !isOver(id)),
    ...(hasSuppressed ? { suppressedState } : {}),
  };
}
