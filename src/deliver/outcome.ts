/** The outcome of each claimed group, as it is stored, with its lines for the decision log. Pure. */

import { onlyTheRoot } from "../alerting/conversation.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import type { GroupDecision, NotificationLogEntry, NotifiedEntry, Paging, Suppression } from "../alerting/model.ts";
import { isNew } from "../alerting/needs-update.ts";
import { accepted, decided, endAccepted, isNotified, waitingIn, withWaiting } from "../alerting/notification-log.ts";
import type { Repeats } from "../alerting/repeats.ts";
import type { Integration } from "../alerting/route.ts";
import type { SendDecision } from "../alerting/storm.ts";
import { suppressedPhrase, suppressorName } from "../alerting/suppression-words.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { cut } from "../lib/text.ts";
import type { Claimed, GroupOutcome, Postponement, Settlement } from "../store/groups.ts";
import { hasRoots, keptOf, keptOfFound } from "./converse.ts";
import type { ClaimedGroup, PostedConversation, RecoveredClaim, Share } from "./model.ts";
import { keptOfPages } from "./paging.ts";

/** The time at which a message was accepted, whether it was a summary, and whether it was a quiet end. */
type Accepted = { readonly now: Instant; readonly isQuiet?: boolean } & Pick<NotifiedEntry, "inSummary">;

/** Groups as decided, after the message was accepted where there is one: `posted` is its conversation. */
export function settled(
  integration: Integration,
  shares: readonly { claim: ClaimedGroup; decision: GroupDecision }[],
  now: Instant,
  posted?: PostedConversation,
): GroupOutcome[] {
  const inSummary = shares.length > 1 || undefined;
  return shares.map(({ claim, decision }) => ({
    group: claim.group,
    settle: {
      ...settlementOf(claim, decision, {
        integration: integration.name,
        now,
        inSummary,
        isQuiet: isQuietEnd(integration, decision),
        pages: posted?.paging?.pages,
      }),
      ...(integration.isPager
        ? keptOfPages({ claim, decision }, now, posted)
        : keptOf({ claim, decision }, integration, now, posted)),
      about: hasRoots(integration) ? posted?.id : undefined,
    },
  }));
}

/** Groups as the messages that were found left them; they are decided again as soon as they were to be. */
export function recoveredOutcomes(of: Integration, claims: readonly RecoveredClaim[], now: Instant): GroupOutcome[] {
  const { name: integration, conversation: kind } = of;
  return claims.map((recovered) => {
    const { suppressedBefore, dueSince } = recovered;
    const claim = { ...recovered, suppressions: undefined };
    const waiting = [...suppressedBefore].flatMap(([id, one]) =>
      isNew({ id }, recovered) ? [[id, { ...one, lateFrom: dueSince.get(id) }] as const] : [],
    );
    const suppressedState = { by: [], unnotified: new Map(waiting) };
    const decision: GroupDecision = { ...onlyTheRoot, nextAt: now, suppressedState };
    const kept = keptOfFound(claim, kind, now);
    const about = hasRoots(of) ? claim.conversation?.id : undefined;
    return { group: claim.group, settle: { ...settlementOf(claim, decision, { integration, now }), ...kept, about } };
  });
}

export function postponed(shares: readonly { claim: Claimed }[], postpone: Postponement): GroupOutcome[] {
  return shares.map(({ claim }) => ({ group: claim.group, postpone }));
}

/** Outcomes without the lines that say what earlier ones said. */
export function withoutRepeats(outcomes: readonly GroupOutcome[], { isRepeat }: Repeats): GroupOutcome[] {
  const fresh = <T extends Settlement | Postponement>(one: T): T => {
    return { ...one, lines: one.lines?.filter((line) => !isRepeat(line)) };
  };
  return outcomes.map((outcome) =>
    "settle" in outcome
      ? { ...outcome, settle: fresh(outcome.settle) }
      : { ...outcome, postpone: fresh(outcome.postpone) },
  );
}

/**
 * Groups whose message was refused. A failure of the endpoint counts once, however many groups it
 * was about.
 */
export function refused(
  { name }: Integration,
  shares: readonly { claim: ClaimedGroup; decision: SendDecision }[],
  { now, at, failure }: Required<Pick<Postponement, "now" | "at" | "failure">>,
): GroupOutcome[] {
  return shares.map(({ claim, decision }, i): GroupOutcome => {
    const line = lineIn(name, now);
    const about = [...newlyFiring(decision), ...newlyResolved(decision)];
    const lines = about.map((alert) => line(alert, "failed", failure.code));
    const counts = failure.scope === "message" || i === 0;
    return { group: claim.group, postpone: { now, at, lines, ...(counts ? { failure } : {}) } };
  });
}

export function settlementOf(
  claim: ClaimedGroup,
  decision: GroupDecision,
  { integration, pages, ...message }: { readonly integration: string; readonly pages?: Pages } & Accepted,
): Settlement {
  const { now } = message;
  const line = lineIn(integration, now);
  const { recovered } = claim;
  const { over, unnotified } = membersLeaving(claim, decision);
  const about = [...(recovered?.notified ?? []), ...logEntriesOf(claim, decision, message)];
  return {
    now,
    sent: isNews(decision) || recovered !== undefined,
    ...knownAfter({ claim, decision }, about, pages),
    over: [...(recovered?.over ?? []), ...over],
    unnotified,
    causes: decision.suppressedState.by,
    nextAt: decision.nextAt,
    isForRoot: claim.isForRoot === true,
    endsWait: decision.notify === undefined && decision.why === "waits_for_others" ? true : undefined,
    rootAt: decision.rootAt,
    lines: [
      ...(recovered?.notified ?? []).map(({ alert, notifiedAt, firstNotifiedAt }) =>
        firstNotifiedAt === notifiedAt ? line(alert, "notified", "more") : line(alert, "reminded"),
      ),
      ...(isNews(decision)
        ? notifiedLines(decision, claim, line)
        : [...unnotifiedEndLines(decision, claim, line), ...suppressedLines(claim, line)]),
    ],
  };
}

/** An update only shows what is known. */
function isNews(decision: GroupDecision): decision is SendDecision {
  return decision.notify !== undefined && decision.notify !== "update";
}

/** True of an end that is only a reply in the thread, or an event of a pager: nobody is reminded by it of what still fires. */
export function isQuietEnd({ conversation }: Pick<Integration, "conversation">, { notify }: GroupDecision): boolean {
  return conversation === "edits" && notify === "resolved";
}

/** The entries of what the message was about, and of what else the decision found suppressed or unattended. */
function knownAfter({ claim, decision }: Share, about: readonly NotifiedEntry[], pages: Pages) {
  const notified = new Map<string, NotificationLogEntry>(about.map((entry) => [entry.alert.id, entry]));
  const known = new Map<string, NotificationLogEntry>();
  const leaving = new Set(decision.settled);
  const { unnotified: suppressed } = decision.suppressedState;
  for (const { id } of claim.alerts) {
    if (leaving.has(id)) continue;
    const before = notified.get(id) ?? claim.log.get(id);
    const entry = decided(before, {
      ...withWaiting(claim, before, claim.isForRoot ? waitingIn(claim, before) : suppressed.get(id)),
      clock: claim.suppressions?.clocks?.get(id) ?? before?.clock,
      page: pages?.get(id) ?? before?.page,
    });
    if (entry && entry !== before) (notified.has(id) ? notified : known).set(id, entry);
  }
  return { notified: [...notified.values()].filter(isNotified), known };
}

function logEntriesOf(claim: Claimed, decision: GroupDecision, { now, inSummary, isQuiet }: Accepted): NotifiedEntry[] {
  if (!isNews(decision)) return [];
  // Any member records when its group was last sent again.
  const firing = isQuiet ? [] : decision.notify === "resend" ? decision.firing.slice(0, 1) : decision.firing;
  const message = { at: now, groupId: claim.group, inSummary, isQuestion: decision.notify === "question" };
  return [
    ...firing.map((alert) => accepted(claim.log.get(alert.id), alert, message)),
    ...endsToSendAgain(claim, decision, now),
  ];
}

type Pages = Paging["pages"] | undefined;

/** Ends that are notified for the first time and stay in the group, to be sent again. */
function endsToSendAgain(claim: Claimed, { resolved, settled }: SendDecision, now: Instant): NotifiedEntry[] {
  const leaving = new Set(settled);
  return resolved.flatMap(({ id, isAgain }) => {
    const known = claim.notified.get(id);
    return known && !isAgain && !leaving.has(id) ? [endAccepted(known, now)] : [];
  });
}

/** An episode that was notified leaves every group of the integration; one that was not may be owed by another group. */
function membersLeaving(claim: Claimed, decision: GroupDecision): Pick<Settlement, "over" | "unnotified"> {
  // The members of a cold start's summary stay in their own groups, which send their ends.
  if (decision.notify === "started") return { over: [...claim.lost], unnotified: decision.settled };
  const sent = new Set(isNews(decision) ? decision.resolved.map(({ id }) => id) : []);
  const isOver = (id: string) => claim.notified.has(id) || claim.unsure.has(id) || sent.has(id);
  return {
    over: [...decision.settled.filter(isOver), ...claim.lost],
    unnotified: decision.settled.filter((id) => !isOver(id)),
  };
}

type LineOf = ReturnType<typeof lineIn>;

/** After a message was accepted. An alert that is only listed again gets no line. */
function notifiedLines(decision: SendDecision, claim: Claimed, line: LineOf): LogLine[] {
  return [
    ...newlyFiring(decision).map((alert) =>
      decision.notify === "reminder" || decision.notify === "question"
        ? line(alert, decision.notify === "reminder" ? "reminded" : "asked", alert.suppressedBy?.author)
        : line(alert, "notified", claim.escalateAfterMs ? "escalated" : decision.notify),
    ),
    ...newlyResolved(decision).map((alert) =>
      line(alert, alert.isNew ? "notified_late" : "notified_end", alert.endReason ?? "expired"),
    ),
    ...(decision.notify === "started" ? [] : unnotifiedEndLines(decision, claim, line)),
  ];
}

function unnotifiedEndLines(decision: GroupDecision, claim: Claimed, line: LineOf): LogLine[] {
  const sent = new Set(isNews(decision) ? decision.resolved.map(({ id }) => id) : []);
  const members = new Map(claim.alerts.map((alert) => [alert.id, alert]));
  return decision.settled.flatMap((id) => {
    const alert = members.get(id) ?? claim.notified.get(id)?.alert;
    if (sent.has(id) || !alert) return [];
    return [line(alert, claim.notified.has(id) ? "send_resolved_off" : "resolved_before_notified")];
  });
}

function suppressedLines({ suppressions, alerts, notified, escalateAfterMs }: ClaimedGroup, line: LineOf): LogLine[] {
  return alerts.flatMap((alert) => {
    const suppression = suppressions?.muted ?? suppressions?.suppressed.get(alert.id);
    if (!suppression || alert.state !== "firing") return [];
    const { reason, until } = suppression;
    const by = detailOf(suppression);
    if (escalateAfterMs && reason !== "escalation" && !notified.has(alert.id))
      return [line(alert, "not_escalated", suppressedPhrase(reason, by))];
    return [{ ...line(alert, reason, by), ...(reason === "escalation" && { until }) }];
  });
}

const COMMENT_CHARACTERS = 80;

/** The name of what suppresses an alert, with the comment of a silence; undefined where the reason says all. */
function detailOf(suppression: Suppression): string | undefined {
  const { reason, comment } = suppression;
  const why = reason === "silenced" && comment ? ` (${cut(comment, COMMENT_CHARACTERS)})` : "";
  const name = suppressorName(suppression);
  return name && name + why;
}

function newlyFiring({ notify, firing }: SendDecision): SendDecision["firing"] {
  return notify === "reminder" || notify === "question"
    ? firing
    : firing.filter(({ isNew, isCovered }) => isNew || isCovered);
}

function newlyResolved({ resolved }: SendDecision): SendDecision["resolved"] {
  return resolved.filter(({ isAgain }) => !isAgain);
}

function lineIn(integration: string, at: Instant) {
  return ({ subject, ruleId }: Alert, reason: string, detail?: string): LogLine => {
    return { subject, at, ruleId, integration, reason, detail };
  };
}
