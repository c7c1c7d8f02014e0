/**
 * Is there something to send to one integration about one group, and why: Alertmanager's needsUpdate, with the resolve
 * contract: what was notified as firing is notified as resolved, exactly once, and nothing else is. Suppressed alerts
 * are neither notified as firing nor reminded of; only mute times suppress an end, until they are over.
 */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { fingerprint } from "./fingerprint.ts";
import {
  type GroupDecision,
  type GroupView,
  type NotifiedAlert,
  type NotifiedEntry,
  type NotifyReason,
  type SkipReason,
  type SuppressedState,
  type Suppression,
  suppressionReasons,
  type Waiting,
} from "./model.ts";

/** The most that an end may be late, ms: what fired and resolved while nothing could be sent for longer is dropped. */
export const LATE_MOST_MS = 7 * 86_400_000;

/** Nothing of a group is suppressed. */
export const nothingSuppressed: SuppressedState = { by: [], unnotified: new Map() };

/** Pure; the caller sends, and only then stores what was notified and what is settled. */
export function needsUpdate(view: GroupView): GroupDecision {
  const active = view.alerts.filter((alert) => alert.state === "firing").sort(byStart);
  const [firing, suppressed] = partition(active, (alert) => suppressionOf(alert, view) === undefined);
  const ends = sortEnds(view);
  const resolved = view.sendResolved ? ends.owed : [];
  const newsAt = newsDueAt(view, firing, ends.owed);
  const isDue = newsAt === undefined || newsAt <= (view.dueBy ?? view.now) || isReminderDue(view, firing);
  const notify = isDue ? notifyReason(view, firing, resolved) : undefined;
  const waitsUntil = notify === "resolved" ? endsWaitUntil(view, resolved) : undefined;
  const isNow = isDue && waitsUntil === undefined;
  const settled = [...(isNow ? ends.owed : []), ...ends.dropped].map(({ id }) => id);
  const unsent = [...ends.waiting, ...(isNow ? [] : [...ends.owed, ...firing])];
  const asked = notify && isNow ? [] : suppressed.filter((alert) => isAsked(alert, view));
  const suppressedState = suppressedStateOf(suppressed, unsent, view);
  const isSuppressed = suppressedState.by.length > 0 || ends.waiting.length > 0;
  const suppressionRecheckAt = isSuppressed ? recheckAt(suppressedState.by, view) : undefined;
  if (notify && isNow) {
    const isListed = firing.length > 0 && notify !== "resolved";
    // Whether an end reminds of what still fires depends on the channel: looked at when the last reminder says so.
    const remindAt = isListed ? view.now + view.repeatIntervalMs : reminderAt(view, firing);
    const all = [...firing, ...resolved].map((alert) => toNotifiedAlert(alert, view));
    const alerts = withLocationChange(all, view);
    return {
      notify,
      firing: alerts.slice(0, firing.length),
      resolved: alerts.slice(firing.length),
      settled,
      nextAt: earliest([remindAt, suppressionRecheckAt]),
      suppressedState,
    };
  }
  const notYet = isDue ? waitsUntil : newsAt;
  const nextAt = earliest([notYet, reminderAt(view, firing), suppressionRecheckAt]);
  if (asked.length > 0) {
    const questionOf = (alert: Alert) => ({
      ...toNotifiedAlert(alert, view),
      isNew: false,
      suppressedBy: suppressionOf(alert, view),
    });
    const questions = asked.map(questionOf);
    return { notify: "question", firing: questions, resolved: [], settled, nextAt, suppressedState };
  }
  if (waitsUntil !== undefined) return { notify: undefined, why: "waits_for_others", settled, nextAt, suppressedState };
  const why = suppressionReason(suppressed, ends, view) ?? (isDue ? skipReason(active, ends) : "nothing_new");
  return { notify: undefined, why, settled, nextAt, suppressedState };
}

/** When the first news is due: of what fires and was never notified, and of ends that are owed. Undefined: there is none. */
function newsDueAt(view: GroupView, firing: readonly Alert[], ends: readonly Alert[]): Instant | undefined {
  const { notified, unsure, now } = view;
  const news = firing.filter((alert) => isNew(alert, view));
  // An end that is owed because it is late was due before.
  const later = ends.filter(({ id }) => notified.has(id) || unsure.has(id));
  const isLate = later.length < ends.length;
  return earliest([...[...news, ...later].map(({ id }) => view.dueSince.get(id) ?? now), isLate ? now : undefined]);
}

/** Ends wait for others of their summary, to be sent with theirs, for a `group_interval` at most. Undefined: no longer. */
function endsWaitUntil(view: GroupView, ends: readonly Alert[]): Instant | undefined {
  const { suppressions, dueSince, now } = view;
  const since = earliest(ends.map(({ id }) => dueSince.get(id)));
  if (!suppressions?.othersFire || since === undefined) return undefined;
  const until = since + suppressions.recheckEveryMs;
  return until > now ? until : undefined;
}

/**
 * The alerts of the last message to an integration that left the configuration: what was, or may have been, notified there and
 * still fires ends as `not_sent_here`, never as recovered; the rest is left out.
 */
export function alertsAtRetirement(
  { alerts, notified, unsure }: Pick<GroupView, "alerts" | "notified" | "unsure">,
  now: Instant,
): Alert[] {
  const end = { updatedAt: now, endsAt: now, endReason: "not_sent_here" } as const;
  return alerts
    .filter(({ id, state }) => state === "resolved" || notified.has(id) || unsure.has(id))
    .map((alert) => (alert.state === "resolved" ? alert : { ...alert, ...end, state: "resolved" as const }));
}

/**
 * The suppression of an alert in `keep_firing_for`: no reminder says that it still fires, and none begins because another
 * suppression ended. What was never suppressed is sent: it fired while its group waited. `isKnown`: notified or suppressed before.
 */
export function clearingOf({ id, state, facts }: Alert, isKnown: boolean): Suppression | undefined {
  return isKnown && state === "firing" && facts.clearing ? { reason: "clearing", by: id } : undefined;
}

/**
 * True of an alert that somebody suppressed until then, or said to be done by then: once, as the message that asks is the
 * last that notified of it.
 */
function isAsked(alert: Alert, view: GroupView): boolean {
  const { askAt = Number.POSITIVE_INFINITY } = suppressionOf(alert, view) ?? {};
  const notifiedAt = view.notified.get(alert.id)?.notifiedAt ?? Number.NEGATIVE_INFINITY;
  return view.asks === true && !alert.facts.clearing && askAt <= view.now && notifiedAt < askAt;
}

/** True of an alert whose beginning was not notified. */
export function isNew({ id }: Pick<Alert, "id">, { notified }: Pick<GroupView, "notified">): boolean {
  return notified.get(id)?.isQuestion ?? !notified.has(id);
}

function suppressionOf({ id }: Alert, { suppressions }: GroupView): Suppression | undefined {
  return suppressions?.muted ?? suppressions?.suppressed.get(id);
}

interface Ends {
  /** Notified as firing, or late without any fault of the alert's. */
  readonly owed: Alert[];
  /** Resolved before they were due. */
  readonly dropped: Alert[];
  /** Owed, and suppressed by a mute time. */
  readonly waiting: Alert[];
}

function sortEnds(view: GroupView): Ends {
  const { notified, unsure, suppressions, now } = view;
  const members = new Set(view.alerts.map(({ id }) => id));
  const resolved = view.alerts.filter(({ state }) => state === "resolved");
  const [owed, dropped] = partition(resolved, (alert) => isOwed(alert, view));
  const end = { state: "resolved", updatedAt: now, endsAt: now, endReason: "expired" } as const;
  for (const [id, { alert }] of [...notified, ...unsure]) if (!members.has(id)) owed.push({ ...alert, ...end });
  owed.sort(byStart);
  return suppressions?.muted ? { owed: [], dropped, waiting: owed } : { owed, dropped, waiting: [] };
}

/**
 * The state changed at `updatedAt`; `endsAt` is when the problem itself was over, `keep_firing_for` earlier. An outage
 * that was suppressed is owed only when it outlasted its suppression: then it was due before its end.
 */
function isOwed(alert: Alert, view: GroupView): boolean {
  const { notified, unsure, suppressions, now } = view;
  const since = view.dueSince.get(alert.id);
  if (notified.has(alert.id) || unsure.has(alert.id)) return true;
  if (since === undefined || now - since > LATE_MOST_MS || suppressionOf(alert, view)) return false;
  const before = suppressions?.suppressedBefore.get(alert.id);
  const { updatedAt, endsAt = updatedAt } = alert;
  const over = before?.isCovered ? endsAt : Math.max(endsAt, updatedAt);
  return before === undefined ? over >= since : over > since;
}

/** `unsent`: what is to be sent later. */
function suppressedStateOf(suppressed: readonly Alert[], unsent: readonly Alert[], view: GroupView): SuppressedState {
  const by = new Map<string, Suppression>();
  for (const alert of suppressed) {
    const suppression = suppressionOf(alert, view);
    const { reason, by: who, until, askAt } = suppression ?? {};
    if (suppression) by.set(`${reason} ${who} ${until} ${askAt}`, suppression);
  }
  const unnotified = suppressed.filter((alert) => isNew(alert, view));
  const late = unsent.flatMap(({ id }) => {
    const before = view.suppressions?.suppressedBefore.get(id);
    return before ? [[id, { ...before, lateFrom: view.dueSince.get(id) ?? before.lateFrom }] as const] : [];
  });
  return {
    by: [...by.values()],
    unnotified: new Map([...late, ...unnotified.map((alert) => [alert.id, waitingOf(alert, view)] as const)]),
  };
}

/**
 * True if an outage that ends with what suppresses it, or before, leaves nothing to notify of: that was somebody's
 * decision, or an alert whose message covers the outage and whose end is its end. Not where it was only not known.
 */
function isCovered(alert: Alert, view: GroupView): boolean {
  const { reason, coversNothing } = suppressionOf(alert, view) ?? {};
  if (reason === "clearing") return view.suppressions?.suppressedBefore.get(alert.id)?.isCovered ?? true;
  return reason !== "stale" && !coversNothing;
}

function waitingOf(alert: Alert, view: GroupView): Waiting {
  const from = lateFrom(alert, view);
  return { isCovered: isCovered(alert, view), ...(from !== undefined && { lateFrom: from }) };
}

/**
 * An alert that was late before its shard went unread stays late. So is one that would be sent now if its problem were not
 * over already, where nothing covers that, or where it was over only after its suppression.
 */
function lateFrom(alert: Alert, view: GroupView): Instant | undefined {
  const suppression = suppressionOf(alert, view);
  const since = view.dueSince.get(alert.id);
  if (suppression?.reason === "stale") return since;
  if (suppression?.reason !== "clearing") return suppression?.until;
  if (!isCovered(alert, view)) return since ?? view.now;
  return since !== undefined && alert.updatedAt > since ? since : undefined;
}

/** Every `recheckEveryMs`, and when a suppression ends by the clock, or is to be asked about. */
function recheckAt(by: readonly Suppression[], { now, suppressions }: GroupView): Instant | undefined {
  if (!suppressions) return undefined;
  const times = [suppressions.muted, ...by].flatMap((one) => [one?.until, one?.askAt]);
  return earliest([now + suppressions.recheckEveryMs, ...times.filter((at) => at !== undefined && at > now)]);
}

function notifyReason(view: GroupView, firing: readonly Alert[], resolved: readonly Alert[]): NotifyReason | undefined {
  if (firing.some((alert) => isNew(alert, view))) return view.notified.size === 0 ? "first" : "more";
  if (resolved.length > 0) return "resolved";
  return isReminderDue(view, firing) ? "reminder" : undefined;
}

function isReminderDue(view: GroupView, firing: readonly Alert[]): boolean {
  const dueAt = reminderAt(view, firing);
  return dueAt !== undefined && view.now >= dueAt;
}

/** Counted from the last message that named what fires. */
function reminderAt(view: GroupView, firing: readonly Alert[]): Instant | undefined {
  if (hasUnattended(view, firing)) return view.now;
  const times = firing.flatMap(({ id }) => view.notified.get(id)?.notifiedAt ?? []);
  const last = times.length > 0 ? Math.max(...times) : undefined;
  return last === undefined ? undefined : last + view.repeatIntervalMs;
}

/** True if a pager took an alert for acknowledged, and it is not any more. */
export function hasUnattended({ notified }: Pick<GroupView, "notified">, firing: readonly Alert[]): boolean {
  return firing.some(({ id }) => notified.get(id)?.page?.isAcknowledged);
}

function suppressionReason(suppressed: readonly Alert[], ends: Ends, view: GroupView): SkipReason | undefined {
  if (ends.waiting.length > 0) return "muted";
  const wouldNotify = suppressed.filter(({ id }) => {
    const notifiedAt = view.notified.get(id)?.notifiedAt;
    return notifiedAt === undefined || view.now >= notifiedAt + view.repeatIntervalMs;
  });
  const reasons = wouldNotify.map((alert) => suppressionOf(alert, view)?.reason);
  return suppressionReasons.find((reason) => reasons.includes(reason));
}

function skipReason(firing: readonly Alert[], { owed, dropped }: Ends): SkipReason {
  if (owed.length > 0) return "send_resolved_off";
  if (dropped.length > 0) return "resolved_before_notified";
  return firing.length > 0 ? "nothing_new" : "empty";
}

/**
 * The alerts of a message, with what changed since the location's alert was last notified: recordings that it counted
 * then are `isCovered`, and the alert itself has how many of them are still offline and how many recovered.
 */
function withLocationChange(
  alerts: readonly NotifiedAlert[],
  { alerts: members, notified }: GroupView,
): NotifiedAlert[] {
  const ended = new Map(alerts.filter(isEnded).map((alert) => [alert.subject.id, notified.get(alert.id)?.notifiedAt]));
  if (ended.size === 0) return [...alerts];
  const here = Map.groupBy(members, ({ labels, subject }) => labels.location_id ?? subject.id);
  return alerts.map((alert) => {
    if (isEnded(alert)) return withChange(alert, here.get(alert.subject.id) ?? [], notified.get(alert.id));
    const countedAt = isOutage(alert) ? ended.get(alert.labels.location_id ?? "") : undefined;
    return alert.startsAt <= (countedAt ?? 0) ? { ...alert, isNew: false, isCovered: true } : alert;
  });
}

function isEnded({ facts, state, endReason, isNew }: NotifiedAlert): boolean {
  return facts.problem === "location_offline" && state === "resolved" && endReason === "recovered" && !isNew;
}

function isOutage({ facts, subject }: Alert): boolean {
  return facts.problem === "offline" && subject.kind === "recording";
}

/** The count of its last evaluation, and what its recordings did since. None recovered where it is offline again. */
function withChange(location: NotifiedAlert, here: readonly Alert[], entry?: NotifiedEntry): NotifiedAlert {
  const of = entry?.alert.facts.offline;
  if (!entry || of === undefined) return location;
  const firing = here.filter(({ state, facts }) => state === "firing" && !facts.clearing);
  if (firing.some(({ facts }) => facts.problem === "location_offline"))
    return { ...location, change: { recovered: 0, of } };
  const countOf = (some: readonly Alert[]) => new Set(some.filter(isOutage).map(({ subject }) => subject.id)).size;
  const back = here.filter(({ state, updatedAt }) => state === "resolved" && updatedAt > location.updatedAt);
  const begunAfter = (at: Instant) => countOf(firing.filter(({ startsAt }) => startsAt > at));
  const counted = (location.facts.offline ?? 0) - countOf(back) + begunAfter(location.updatedAt);
  const offline = Math.max(countOf(firing), counted);
  const recovered = Math.max(0, of + begunAfter(entry.notifiedAt) - offline);
  return { ...location, facts: { ...location.facts, offline }, change: { recovered, of } };
}

/** An alert as a message has it. */
export function toNotifiedAlert(
  alert: Alert,
  { notified, suppressions }: Pick<GroupView, "notified" | "suppressions">,
): NotifiedAlert {
  const standsFor = alert.state === "firing" ? suppressions?.standsFor.get(alert.id) : undefined;
  const entry = notified.get(alert.id);
  const { page } = entry ?? {};
  const known = {
    fingerprint: fingerprint(alert.labels),
    isNew: alert.state === "firing" ? isNew(alert, { notified }) : !entry,
  };
  return { ...alert, ...known, ...(standsFor && { standsFor }), ...(page && { page }) };
}

/** The members that fit, and the others. */
export function partition<T>(all: readonly T[], fits: (one: T) => boolean): [T[], T[]] {
  const found = Map.groupBy(all, fits);
  return [found.get(true) ?? [], found.get(false) ?? []];
}

/** The first of those that are known. */
export function earliest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  return instants.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

/** Longest first. */
export function byStart(a: Alert, b: Alert): number {
  return a.startsAt - b.startsAt || a.firedAt - b.firedAt || (a.id < b.id ? -1 : 1);
}
