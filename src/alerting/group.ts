/**
 * A group at one integration as it is stored: its settings, its timers, and what its last turn left. Each change is a
 * function of the state before it. Pure.
 */
import type { Instant } from "../lib/clock.ts";
import type { Conversation, EscalationClocks } from "./model.ts";
import type { Destination } from "./route.ts";

/** The stored part of a group beside its members and its due time. */
export interface GroupHead {
  /** From the route: JSON of the labels, and its timers, ms. */
  readonly labels: string;
  readonly waitMs: number;
  readonly intervalMs: number;
  readonly repeatMs: number;
  readonly stormGroups?: number | undefined;
  readonly escalateAfterMs?: number | undefined;
  /** The time of the last message. */
  readonly sentAt?: Instant | undefined;
  /** Due and not served since then. */
  readonly since?: Instant | undefined;
  /** Due since, where that was found during a send. */
  readonly want?: Instant | undefined;
  /** The failures in a row of this group alone. */
  readonly failures?: number | undefined;
  /** The token of a claim that was not ended yet, and when it was made. */
  readonly claimed?: string | undefined;
  readonly began?: Instant | undefined;
  /** Due and suppressed when it was last served: each episode, and whether its cause covered it. */
  readonly suppressed?: readonly (readonly [episode: string, isCovered: boolean])[] | undefined;
  /** Episodes that a message of unknown outcome was about. */
  readonly maybe?: readonly string[] | undefined;
  /** The conversation that this message may have begun. */
  readonly maybeIn?: Conversation | undefined;
  readonly clocks?: EscalationClocks | undefined;
  /** While it is open, and a hash of what its own root shows, and since when. */
  readonly conversation?: Conversation | undefined;
  readonly shown?: string | undefined;
  /** The root may be out of date since then, as was found during a claim. */
  readonly touched?: Instant | undefined;
  /** The time at which it is due otherwise, where it is due sooner for its root alone. */
  readonly later?: Instant | undefined;
}

export interface GroupState {
  readonly head: GroupHead;
  /** Undefined while nothing is due. */
  readonly due: Instant | undefined;
}

/** The group with the settings of its route; a new one where there was none. */
export function configured(before: GroupHead | undefined, to: Omit<Destination, "integration" | "group">): GroupHead {
  return {
    ...before,
    labels: JSON.stringify(to.labels),
    waitMs: to.groupWaitMs,
    intervalMs: to.groupIntervalMs,
    repeatMs: to.repeatIntervalMs,
    stormGroups: to.stormGroups,
    escalateAfterMs: to.escalateAfterMs,
  };
}

/** A group's knowledge of an alert that goes to another: how late it is, what suppressed it, what may have been sent. */
export function carried(from: GroupHead, to: GroupHead, episode: string, now: Instant): GroupHead {
  const { since = now } = from;
  const isMaybe = from.maybe?.includes(episode) === true;
  const clock = from.clocks?.[episode];
  const suppressed = [...(to.suppressed ?? []), ...(from.suppressed?.filter(([id]) => id === episode) ?? [])];
  return {
    ...to,
    ...(since < now && { since: Math.min(since, to.since ?? since) }),
    ...(suppressed.length > 0 && { suppressed }),
    ...(clock && { clocks: { ...to.clocks, [episode]: clock } }),
    ...(isMaybe && mayHaveSent(to, [episode], from.maybeIn)),
  };
}

/** Episodes of a message whose outcome stays unknown, and the conversation that it may have begun. */
export function mayHaveSent(
  head: GroupHead,
  episodes: readonly string[],
  conversation: Conversation | undefined,
): Pick<GroupHead, "maybe" | "maybeIn"> {
  return { maybe: [...new Set([...(head.maybe ?? []), ...episodes])], maybeIn: head.maybeIn ?? conversation };
}

/** Due at that time or sooner: a due time is never pushed back. */
export function dueAt({ head, due }: GroupState, at: Instant): GroupState {
  const { since = at, want = at, later, claimed } = head;
  return {
    head: {
      ...head,
      since: Math.min(since, at),
      want: claimed === undefined ? head.want : Math.min(want, at),
      later: later === undefined ? undefined : Math.min(later, at),
    },
    due: Math.min(due ?? at, at),
  };
}

/** Something to notify of: due after `group_wait`, or `group_interval` after the last message. */
export function withNews(state: GroupState, now: Instant): GroupState {
  return dueAt(state, newsAt(state.head, now));
}

function newsAt({ sentAt, intervalMs, waitMs }: GroupHead, now: Instant): Instant {
  return sentAt === undefined ? now + waitMs : Math.max(now, sentAt + intervalMs);
}

/**
 * A cause of suppression ended: due at once. That of an alert: no sooner than for another change, since what an alert
 * inhibited often ends one sweep after it.
 */
export function released(state: GroupState, now: Instant, isPaced: boolean): GroupState {
  const { sentAt, intervalMs } = state.head;
  return dueAt(state, isPaced && sentAt !== undefined ? Math.max(now, sentAt + intervalMs) : now);
}

/**
 * The group is decided again, with nothing late in it, as its root may not show the present any more. `isAny`: also
 * where no root shows it. Undefined where nothing is to be decided.
 */
export function touched(state: GroupState, at: Instant, isAny = false): GroupState | undefined {
  const { head, due } = state;
  const { since, sentAt, intervalMs, conversation } = head;
  if (head.claimed !== undefined) return { head: { ...head, touched: at }, due };
  // At a pager, what several groups share is acknowledged with the last of them.
  const hasRoot = head.shown !== undefined || conversation?.groups !== undefined;
  // An escalation stops or resumes; one that was sent keeps its `group_interval`.
  const isPaced = sentAt !== undefined && sentAt + intervalMs > at;
  const escalates = head.escalateAfterMs !== undefined && !hasRoot && !isPaced;
  const isDueAnyway = since !== undefined && (since <= at || !hasRoot);
  if (!escalates && (!(hasRoot || isAny) || isDueAnyway)) return undefined;
  if (due !== undefined && due <= at) return state;
  return { head: hasRoot ? { ...head, later: head.later ?? due } : head, due: at };
}

/** Due for its root alone. */
export function isForRoot({ later = 0, since }: GroupHead, now: Instant): boolean {
  return later > now && (since ?? now + 1) > now;
}

/**
 * Due now; or soon and only waiting for `group_wait` (a refused message waits for its backoff); or, where ends are gathered,
 * late already.
 */
export function isRipe({ head, due = Number.POSITIVE_INFINITY }: GroupState, now: Instant, aheadMs: number): boolean {
  if (due <= now) return true;
  const { since, sentAt, intervalMs, failures } = head;
  if (since === undefined || (due > now + aheadMs && since > now)) return false;
  return failures === undefined && (sentAt === undefined || sentAt + intervalMs <= now);
}

export interface Taking {
  readonly token: string;
  readonly now: Instant;
  readonly leaseMs: number;
}

/** The group under a claim. */
export function taken({ head }: GroupState, { token, now, leaseMs }: Taking): GroupState {
  const later = isServedAhead(head, now) ? undefined : head.later;
  return {
    head: {
      ...head,
      want: undefined,
      touched: undefined,
      claimed: token,
      began: now,
      // Served ahead of its time: what resolves from now on does so after it was due.
      since: later === undefined && head.since !== undefined ? Math.min(head.since, now) : head.since,
    },
    due: now + leaseMs,
  };
}

/** True where the news is due by now. */
function isServedAhead({ later, since }: GroupHead, now: Instant): boolean {
  return later !== undefined && (later <= now || (since !== undefined && since <= now));
}

/** The time of the news of a group that was taken for its root alone. */
export function laterNews(head: GroupHead, now: Instant): Instant | undefined {
  return isServedAhead(head, now) ? undefined : head.later;
}

/** The result of a turn for a group: what the decision says, and whether its causes and ends still hold. */
export interface Served {
  readonly now: Instant;
  readonly isSent: boolean;
  readonly nextAt: Instant | undefined;
  /** The time of the news as it was claimed: what is due then stays as it is. */
  readonly newsAt: Instant | undefined;
  readonly rootAt: Instant | undefined;
  readonly clocks: EscalationClocks | undefined;
  readonly suppressed: GroupHead["suppressed"];
  readonly maybe: GroupHead["maybe"];
  /** Since when what is suppressed is late. */
  readonly lateFrom: Instant | undefined;
  /** Undefined: as it is; null: closed. */
  readonly conversation: Conversation | null | undefined;
  readonly shown: string | undefined;
  /** An end is owed, or a cause of suppression is over. */
  readonly isDue: boolean;
  readonly members: number;
}

/** The group after its turn. */
export function served({ head }: GroupState, turn: Served): GroupState {
  const { now, newsAt } = turn;
  const { want, touched: wasTouched, ...kept } = { ...head, claimed: undefined, began: undefined, later: undefined };
  const after = conversed(newsAt === undefined ? withoutNews(kept, turn) : kept, turn);
  const next: GroupHead = {
    ...after,
    sentAt: turn.isSent ? now : after.sentAt,
    clocks: turn.clocks,
    suppressed: turn.suppressed ?? after.suppressed,
    maybe: turn.maybe ?? after.maybe,
  };
  const state = withLateness(scheduled({ head: next, due: undefined }, want, turn), turn);
  const rooted = withRoot(state, turn);
  return wasTouched === undefined ? rooted : (touched(rooted, now) ?? rooted);
}

/** The head without what each message starts again. */
function withoutNews(head: GroupHead, { maybe }: Served): GroupHead {
  const maybeIn = maybe === undefined ? undefined : head.maybeIn;
  return { ...head, since: undefined, failures: undefined, suppressed: undefined, maybe: undefined, maybeIn };
}

function conversed(head: GroupHead, { conversation, shown }: Served): GroupHead {
  return conversation === undefined ? head : { ...head, conversation: conversation ?? undefined, shown };
}

/** Due for what the decision waits for, or sooner for what became due since it was made. */
function scheduled({ head }: GroupState, want: Instant | undefined, turn: Served): GroupState {
  const { now, newsAt, isSent, isDue, nextAt, members } = turn;
  const isKept = members > 0 || head.shown !== undefined;
  const due = isKept ? (newsAt ?? nextAt ?? now + Math.max(60_000, head.intervalMs)) : undefined;
  if (isDue) return dueAt({ head, due }, now);
  if (want === undefined) return { head, due };
  return dueAt({ head, due }, isSent ? Math.max(want, now + head.intervalMs) : want);
}

/** An alert that still fires when its suppression ends is late from then on, or was late before it went stale. */
function withLateness({ head, due }: GroupState, { now, lateFrom }: Served): GroupState {
  if (due === undefined || lateFrom === undefined) return { head, due };
  const isLate = lateFrom <= now || head.since === undefined;
  return { head: isLate ? { ...head, since: lateFrom } : head, due };
}

function withRoot({ head, due }: GroupState, { rootAt }: Served): GroupState {
  if (rootAt === undefined || head.shown === undefined || due === undefined || rootAt >= due) return { head, due };
  return { head: { ...head, later: due }, due: rootAt };
}

/** The group after a claim without a message: due again at `at`. There was something to notify of: it is late from now on. */
export function postponed(
  { head }: GroupState,
  {
    now,
    at,
    isRefused,
    maybe = [],
    maybeIn,
  }: {
    readonly now: Instant;
    readonly at: Instant;
    /** This message was refused. */
    readonly isRefused: boolean;
    /** The episodes of a message whose outcome stays unknown, and the conversation that it may have begun. */
    readonly maybe?: readonly string[] | undefined;
    readonly maybeIn?: Conversation | undefined;
  },
): GroupState {
  const { want: _, touched: __, ...kept } = head;
  return {
    head: {
      ...kept,
      claimed: undefined,
      began: undefined,
      later: undefined,
      since: Math.min(head.since ?? now, now),
      ...(maybe.length > 0 && mayHaveSent(head, maybe, maybeIn)),
      ...(isRefused && { failures: (head.failures ?? 0) + 1 }),
    },
    due: at,
  };
}

const CLAIMED_MOST_MS = 120_000;
const BACKOFF_MOST_MS = 300_000;

/** An instant that is past and lies ahead, after the clock went back from `before` to `now`. */
export function rewoundInstant<At extends Instant | undefined>(at: At, before: Instant, now: Instant): At {
  return at !== undefined && at > now ? (Math.min(now, at - (before - now)) as At) : at;
}

/** The group after the clock went back: what lies further ahead than its own timer moves back with it. */
export function rewound({ head, due }: GroupState, before: Instant, now: Instant): GroupState {
  if (due === undefined) return { head, due };
  const past = <At extends Instant | undefined>(at: At): At => rewoundInstant(at, before, now);
  const { since } = head;
  const moved = due > now + furthest(head, before, now) ? Math.max(now, due - (before - now)) : due;
  const isPast = since !== undefined && since <= before;
  const next = since !== undefined && !isPast && since <= due ? Math.min(since, moved) : since;
  return {
    head: {
      ...head,
      sentAt: past(head.sentAt),
      want: past(head.want),
      began: past(head.began),
      later: past(head.later),
      since: isPast ? past(since) : next,
    },
    due: moved,
  };
}

/** The ms that a group may be due ahead, by its own timers. */
function furthest({ claimed, since, sentAt, intervalMs, waitMs, repeatMs }: GroupHead, before: Instant, now: Instant) {
  if (claimed !== undefined) return CLAIMED_MOST_MS;
  if (since === undefined) return Math.max(60_000, intervalMs, repeatMs);
  if (since <= before) return BACKOFF_MOST_MS;
  const sent = rewoundInstant(sentAt, before, now);
  return sent === undefined ? waitMs : Math.max(0, sent + intervalMs - now);
}

/** True where a claim, dead or not, may have sent something that is not stored. */
export function isUnsure({ claimed, maybe }: GroupHead): boolean {
  return claimed !== undefined || maybe !== undefined;
}
