/** Acknowledgements: somebody takes charge of an alert; one per episode, at its longest until the alert resolves. */
import type { Instant } from "../lib/clock.ts";
import { cut } from "../lib/text.ts";
import type { Episode } from "./incident.ts";
import type { NotifiedAlert, Suppression } from "./model.ts";

export interface AckNote {
  readonly at: Instant;
  readonly author: string;
  readonly text: string;
}

/** An acknowledgement as it is stored. */
export interface StoredAcknowledgement {
  readonly at: Instant;
  readonly author: string;
  /** May be empty. */
  readonly comment: string;
  /** Exclusive; undefined: until the alert resolves. */
  readonly until?: Instant;
  /** The time at which the author expects to be done, or somebody to be there. */
  readonly eta?: Instant;
  /** Notes of several people, oldest first. */
  readonly notes?: readonly AckNote[];
  /** The last change, and what it changed, itself without what it had changed; undefined once that was undone. */
  readonly last?: { readonly at: Instant; readonly before?: Omit<StoredAcknowledgement, "last"> };
}

const UNDO_MS = 15 * 60_000;

/** True for 15 minutes after a change by a person. */
export function isUndoable(last: { readonly at: Instant } | undefined, now: Instant): boolean {
  return last !== undefined && now < last.at + UNDO_MS;
}

/** The time of the last change among several acknowledgements: of all that one press made. Undefined where none can be undone. */
export function lastChangeOf(all: Iterable<StoredAcknowledgement | undefined>): Instant | undefined {
  const times = [...all].flatMap((one) => one?.last?.at ?? []);
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b));
}

/** Result of a change; `before` is the acknowledgement that was in force, `after` the one that is now. */
export type AckOutcome =
  | {
      readonly outcome: "done";
      /** The number of firing alerts with the fingerprint, all of them changed. */
      readonly alerts: number;
      readonly before: StoredAcknowledgement | undefined;
      readonly after: StoredAcknowledgement | undefined;
    }
  | { readonly outcome: "not_firing" | "not_acknowledged" | "too_many_notes" | "too_late" };

/** True if it keeps reminders from being sent: not once it ran out. */
export function isInForce({ until }: Pick<StoredAcknowledgement, "until">, now: Instant): boolean {
  return until === undefined || now < until;
}

/** The suppression that it is, as a message shows it; undefined once it ran out. */
export function suppressionBy(ack: StoredAcknowledgement | undefined, now: Instant): Suppression | undefined {
  if (!ack || !isInForce(ack, now)) return undefined;
  const { author, at: since, until, eta, comment } = ack;
  return { reason: "acknowledged", by: author, since, until, eta, askAt: eta, author, comment };
}

/** The latest of those of episodes that fire, by their ids. */
export function latestOf(
  episodes: readonly Pick<Episode, "id" | "endsAt">[],
  acknowledgements: ReadonlyMap<string, StoredAcknowledgement>,
): StoredAcknowledgement | undefined {
  const all = episodes.flatMap(({ id, endsAt }) => (endsAt === undefined ? (acknowledgements.get(id) ?? []) : []));
  return all.sort((a, b) => b.at - a.at)[0];
}

/** True if somebody has acknowledged it, whatever else suppresses it. */
export function isAcknowledged({ suppressedBy: by }: Pick<NotifiedAlert, "suppressedBy">): boolean {
  return by?.reason === "acknowledged" || by?.acknowledged !== undefined;
}

export const MOST_NOTES = 20;
export const NOTE_CHARACTERS = 500;

/** An acknowledgement as somebody asks for it. */
export interface AckRequest {
  readonly author: string;
  readonly comment: string;
  /** Its duration, ms; undefined: until the alert resolves. */
  readonly forMs?: number | undefined;
  readonly eta?: Instant | undefined;
  /** True: an alert that somebody has acknowledged already stays as it is. */
  readonly isFirst?: boolean;
}

/**
 * The acknowledgement that follows `before`, which is given itself where nothing changes. The latest person is in
 * charge; the notes stay, and so does what the earlier one said, as a note.
 */
export function acknowledgementAfter(
  before: StoredAcknowledgement | undefined,
  { author, comment, forMs, eta, isFirst }: AckRequest,
  now: Instant,
): StoredAcknowledgement {
  const until = forMs === undefined ? undefined : now + forMs;
  if (before && isInForce(before, now) && (isFirst || isSame(before, { author, comment, until, eta }))) return before;
  const notes = [...(before?.notes ?? [])];
  if (before && before.comment !== "" && before.comment !== comment)
    notes.push({ at: before.at, author: before.author, text: cut(before.comment, NOTE_CHARACTERS) });
  return {
    at: now,
    author,
    comment,
    ...(until === undefined ? {} : { until }),
    ...(eta === undefined ? {} : { eta }),
    ...(notes.length > 0 ? { notes: notes.slice(-MOST_NOTES) } : {}),
  };
}

function isSame(before: StoredAcknowledgement, { author, comment, until, eta }: Record<string, unknown>): boolean {
  return before.author === author && before.comment === comment && before.until === until && before.eta === eta;
}

/** The acknowledgement as a change writes it, with what it was before. */
export function changedAckFrom(
  before: StoredAcknowledgement | undefined,
  after: StoredAcknowledgement,
  now: Instant,
): StoredAcknowledgement {
  if (!before) return { ...after, last: { at: now } };
  const { last: _, ...earlier } = before;
  return { ...after, last: { at: now, before: earlier } };
}

/** The state before the last change, where that was made at `at`; before the first one, an acknowledgement that is over. */
export function undoneAck(
  stored: StoredAcknowledgement | undefined,
  now: Instant,
  at: Instant | undefined,
): StoredAcknowledgement | "not_acknowledged" | "too_late" {
  if (!stored) return "not_acknowledged";
  const { last, ...ack } = stored;
  if (last?.at !== at || !isUndoable(last, now)) return "too_late";
  return last?.before ?? { ...ack, until: now };
}

/** With one note more; undefined where it has too many. */
export function withNote(before: StoredAcknowledgement, note: AckNote): StoredAcknowledgement | undefined {
  const notes = before.notes ?? [];
  if (notes.length >= MOST_NOTES) return undefined;
  return { ...before, notes: [...notes, { ...note, text: cut(note.text, NOTE_CHARACTERS) }] };
}
