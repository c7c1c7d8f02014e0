/**
 * The knowledge that an integration has of one episode: (entry, event, now) → entry. Only turns of that integration write
 * its log: a reload moves an episode to another group, and its entry stays. Pure.
 */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Conversation, NotificationLogEntry, NotifiedAlert, NotifiedEntry, Waiting } from "./model.ts";

type Entry = NotificationLogEntry | undefined;
type Escalated = { readonly escalateAfterMs?: number | undefined };

/** A message, as the entries of what it names as firing have it. */
export interface LoggedMessage extends Pick<NotifiedEntry, "groupId" | "inSummary" | "isQuestion"> {
  readonly at: Instant;
}

/** True if the end of the episode is owed: it was, or may have been, notified. */
export function isNotified(entry: Entry): entry is NotifiedEntry {
  return entry !== undefined && "alert" in entry;
}

/** The wait of an episode in a group that is escalated to the integration after so long, or is its own. */
export function waitingIn({ escalateAfterMs }: Escalated, entry: Entry): Waiting | undefined {
  return escalateAfterMs === undefined ? entry?.waiting : entry?.escalating;
}

/** The same from now on. */
export function withWaiting({ escalateAfterMs }: Escalated, entry: Entry, waiting: Waiting | undefined) {
  const { waiting: own, escalating } = entry ?? {};
  return escalateAfterMs === undefined ? { waiting, escalating } : { waiting: own, escalating: waiting };
}

/** The time at which the integration was first notified of the episode. */
export function firstNotifiedAtOf({ notifiedAt, firstNotifiedAt = notifiedAt }: NotifiedEntry): Instant {
  return firstNotifiedAt;
}

/** A message that names it as firing was accepted. An end that it has by now is owed. */
export function accepted(
  known: Entry,
  named: Alert & Partial<Omit<NotifiedAlert, keyof Alert>>,
  { at, groupId, inSummary, isQuestion }: LoggedMessage,
): NotifiedEntry {
  const { fingerprint: _, isNew: __, isAgain: ___, isCovered: ____, suppressedBy: _____, ...rest } = named;
  const { standsFor: ______, page: _______, endsAt: ________, endReason: _________, ...alert } = rest;
  const before = isNotified(known) && !known.unsure ? known : undefined;
  return {
    alert: { ...alert, state: "firing" },
    notifiedAt: at,
    firstNotifiedAt: before ? firstNotifiedAtOf(before) : at,
    inSummary: before ? before.inSummary : inSummary,
    groupId,
    isQuestion: (isQuestion && (before?.isQuestion ?? !before)) || undefined,
    page: before?.page,
    clock: known?.clock,
  };
}

/** The outcome of a message about it stays unknown; `conversation`: of the message, which may have begun it where it has no handle. */
export function maybeAccepted(
  known: Entry,
  alert: Alert,
  message: LoggedMessage,
  conversation: Conversation | undefined,
): NotifiedEntry {
  if (isNotified(known) && !known.unsure) return known;
  const unsure = isNotified(known) ? (known.unsure ?? []) : [];
  const before = unsure.filter(({ id }) => id !== conversation?.id);
  const begun = conversation && conversation.handle === undefined ? [conversation] : [];
  const { waiting, escalating } = known ?? {};
  return { ...accepted(known, alert, message), waiting, escalating, unsure: [...before, ...begun] };
}

/** A message with its end was accepted for the first time, and is sent again for a while. */
export const endAccepted = (known: NotifiedEntry, at: Instant): NotifiedEntry => ({ ...known, endNotifiedAt: at });

/** Its group was decided. The same entry where nothing changed. */
export function decided(known: Entry, found: NotificationLogEntry): Entry {
  const textOf = ({ waiting, escalating, clock, page }: NotificationLogEntry = {}) =>
    JSON.stringify([waiting, escalating, clock, page]);
  return textOf(found) === textOf(known) ? known : { ...known, ...found };
}
