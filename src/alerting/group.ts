/**
 * A group at one integration as it is stored: its settings, its timers, and what its last turn left. The index of due
 * groups may be early and is never late; here is when a group is to be decided, and since when its news is due. Pure.
 */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Conversation, NotificationLogEntry } from "./model.ts";
import { isNotified, waitingIn } from "./notification-log.ts";
import type { Destination } from "./route.ts";

/** The settings of a group, from its route: JSON of the labels, and timers, ms. */
export interface GroupSettings {
  readonly labels: string;
  readonly waitMs: number;
  readonly intervalMs: number;
  readonly repeatMs: number;
  readonly stormGroups?: number | undefined;
  readonly escalateAfterMs?: number | undefined;
}

/** The stored part of a group beside its members. */
export interface GroupHead extends GroupSettings {
  /** The time of the last message. */
  readonly sentAt?: Instant | undefined;
  /** The time of the next decision where nothing changes before: a reminder, or a look at what is suppressed. */
  readonly nextAt?: Instant | undefined;
  /** A cause of suppression is over: what it suppressed is due from then on. */
  readonly releasedAt?: Instant | undefined;
  /** The failures in a row of this group alone, and the time before which its message is not sent again. */
  readonly failures?: number | undefined;
  readonly retryAt?: Instant | undefined;
  /** Ends wait until `nextAt` for those of other groups. */
  readonly endsWait?: true | undefined;
  /** The token of a claim that was not ended yet, and when it was made. */
  readonly claimed?: string | undefined;
  readonly began?: Instant | undefined;
  /** While it is open, and a hash of what its own root shows, and since when. */
  readonly conversation?: Conversation | undefined;
  readonly shown?: string | undefined;
}

/** Clocks of replicas differ by less: what lies further ahead was stamped before the clock went back. */
const SKEW_MS = 5_000;

export function settingsOf(to: Omit<Destination, "integration" | "group">): GroupSettings {
  return {
    labels: JSON.stringify(to.labels),
    waitMs: to.groupWaitMs,
    intervalMs: to.groupIntervalMs,
    repeatMs: to.repeatIntervalMs,
    stormGroups: to.stormGroups,
    escalateAfterMs: to.escalateAfterMs,
  };
}

/** The time at which what changed then is notified of: after `group_wait`, or `group_interval` after the last message. */
export function newsAt({ sentAt, intervalMs, waitMs }: GroupHead, changedAt: Instant): Instant {
  return sentAt === undefined ? changedAt + waitMs : Math.max(changedAt, sentAt + intervalMs);
}

/** An episode in a group: since when, and what the integration knows of it. */
export interface Member {
  readonly alert: Alert;
  readonly since: Instant;
  readonly entry: NotificationLogEntry | undefined;
}

/**
 * Since when the news of an alert is due, or when it will be: its end, where that is owed, its firing otherwise.
 * Undefined for one that was suppressed, where that does not say since when it is late.
 */
export function dueSince(head: GroupHead, { alert, since, entry }: Member, now: Instant): Instant | undefined {
  const hasEnd = alert.state === "resolved" && isNotified(entry);
  const waiting = hasEnd ? undefined : waitingIn(head, entry);
  // A suppression may end before it was to.
  const latest = alert.state === "firing" ? now : Number.POSITIVE_INFINITY;
  if (waiting?.lateFrom !== undefined) return Math.min(waiting.lateFrom, head.releasedAt ?? latest, latest);
  if (waiting) return head.releasedAt;
  // What was over before its escalation was to come is not late there.
  const stepMs = alert.state === "resolved" ? (head.escalateAfterMs ?? 0) : 0;
  const changedAt = hasEnd ? alert.updatedAt : since + stepMs;
  const isAhead = changedAt > now + SKEW_MS && (hasEnd || alert.state === "firing");
  return isAhead ? now : newsAt(head, changedAt);
}

/** The time at which the group is to be decided; `indexed`: as the index has it, which may be early. */
export function dueAt({ sentAt, intervalMs, nextAt, releasedAt, retryAt }: GroupHead, indexed: Instant, now: Instant) {
  if (retryAt !== undefined && retryAt > now) return retryAt;
  const paced = sentAt === undefined ? indexed : Math.max(indexed, sentAt + intervalMs);
  return Math.min(paced, nextAt ?? paced, releasedAt ?? paced);
}

/**
 * A cause of suppression ended, or may have: what it suppressed is due at once. That of an alert: no sooner than another change, since
 * what an alert inhibited often ends one sweep after it.
 */
export function released(head: GroupHead, now: Instant, isPaced: boolean): GroupHead {
  const { sentAt, intervalMs, releasedAt } = head;
  const at = isPaced && sentAt !== undefined ? Math.max(now, sentAt + intervalMs) : now;
  return { ...head, releasedAt: Math.min(releasedAt ?? at, at) };
}

/** Due now; or soon, with news, and only waiting for `group_wait`; or, where ends are gathered, with ends that wait. */
export function isRipe(
  head: GroupHead,
  due: Instant,
  { now, aheadMs, gathersEnds }: { readonly now: Instant; readonly aheadMs: number; readonly gathersEnds: boolean },
): boolean {
  if (due <= now) return true;
  const { nextAt = Number.POSITIVE_INFINITY, sentAt, intervalMs, failures, endsWait } = head;
  if (failures !== undefined) return false;
  const isNews = due <= now + aheadMs && due < nextAt;
  return (isNews || (gathersEnds && endsWait === true)) && (sentAt === undefined || sentAt + intervalMs <= now);
}

/** The result of a turn for a group. */
export interface Served extends Pick<GroupHead, "nextAt" | "endsWait" | "shown"> {
  readonly now: Instant;
  readonly isSent: boolean;
  /** Only its root was looked at: what is due stays as it is. */
  readonly isForRoot: boolean;
  /** Undefined: as it is; null: closed. */
  readonly conversation: Conversation | null | undefined;
  /** The group was written since it was claimed. */
  readonly isOvertaken: boolean;
  readonly members: number;
}

/** A group without members that shows nothing is forgotten, once its `group_interval` is over. */
export const isKept = (members: number, { shown }: GroupHead): boolean => members > 0 || shown !== undefined;

const unclaimed = (head: GroupHead): GroupHead => ({ ...head, claimed: undefined, began: undefined });

/** The group after its turn. */
export function served(head: GroupHead, turn: Served): GroupHead {
  const { now, isSent, isForRoot, isOvertaken, conversation, shown, members } = turn;
  const kept = unclaimed(head);
  const talked = conversation === undefined ? kept : { ...kept, conversation: conversation ?? undefined, shown };
  if (isForRoot) return talked;
  const nextAt = turn.nextAt ?? (isKept(members, talked) ? now + Math.max(60_000, head.intervalMs) : undefined);
  return {
    ...talked,
    nextAt,
    sentAt: isSent ? now : head.sentAt,
    failures: undefined,
    retryAt: undefined,
    releasedAt: isOvertaken ? head.releasedAt : undefined,
    endsWait: turn.endsWait,
  };
}

/** The group after a claim without a message; `isRefused`: this one was, and is tried again at `at`. */
export function postponed(
  head: GroupHead,
  { at, isRefused }: { readonly at: Instant; readonly isRefused: boolean },
): GroupHead {
  return { ...unclaimed(head), ...(isRefused && { failures: (head.failures ?? 0) + 1, retryAt: at }) };
}
