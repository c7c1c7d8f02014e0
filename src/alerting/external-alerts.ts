/**
 * External alerts (`POST /api/v2/alerts`), as Alertmanager accepts them: each fires until its end, which every repetition
 * moves on. Accepting and evaluating are apart: any replica accepts an alert, and only the active configuration decides
 * where it is notified. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import type { Alert, Labels, Subject } from "../health/alert.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { LogLine } from "./decision-log.ts";

/** An alert as it was sent, its defaults filled in. */
export interface SentAlert {
  /** Never empty, nor any value of them. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Instant;
  /** Until then it fires; in the past: it is resolved. */
  readonly endsAt: Instant;
  /** The sender named no end: without a repetition it expires at `endsAt`. */
  readonly isTimeout: boolean;
  /** The sender's link to its origin: an http or https URL. */
  readonly generatorUrl: string | undefined;
}

/** One as stored. */
export interface ExternalAlert extends SentAlert {
  /** The time at which it was last sent. */
  readonly updatedAt: Instant;
  /** The sender resolved it. */
  readonly isResolved: boolean;
  /** The time at which it began to fire; undefined while it is not evaluated. */
  readonly firedAt?: Instant | undefined;
  /** True: something that is notified of it changed since it was evaluated. */
  readonly isNews?: boolean | undefined;
}

/** By fingerprint. */
export type ExternalAlertState = ReadonlyMap<string, ExternalAlert>;

/** The time after which an alert without an end expires: Alertmanager's `resolve_timeout`. */
export const RESOLVE_TIMEOUT_MS = 5 * 60_000;

/** An alert that nobody sends again is over at last, whatever end it named. */
export const LONGEST_MS = 24 * 3_600_000;

/**
 * The time by which a sender's clock may be ahead of ours: an end no further off has come. Firing alerts are sent with a
 * later end (Prometheus: 4 minutes and more).
 */
const CLOCK_AHEAD_MS = 10_000;

/** The number of alerts that may fire at once, and of characters in all their labels and annotations. */
export interface Room {
  readonly most: number;
  readonly characters: number;
}

/** Characters of an alert, and what it takes beside them. */
function sizeOf({ labels, annotations }: SentAlert): number {
  const texts = [...Object.entries(labels), ...Object.entries(annotations)].flat();
  return texts.reduce((sum, text) => sum + text.length, 200);
}

/**
 * The state after alerts were sent at `now`: unknown resolved alerts are ignored, new ones beyond the room refused, and
 * where there is none for other annotations, the known ones stay. An end is a day away at most.
 */
export function acceptAlerts(
  previous: ExternalAlertState,
  sent: Iterable<readonly [fingerprint: string, alert: SentAlert]>,
  { now, most, characters }: Room & { readonly now: Instant },
): { next: ExternalAlertState; refused: number } {
  const next = new Map(previous);
  let refused = 0;
  let left = characters - previous.values().reduce((sum, alert) => sum + sizeOf(alert), 0);
  for (const [fingerprint, { endsAt, ...rest }] of sent) {
    const alert = { ...rest, endsAt: Math.min(endsAt, now + LONGEST_MS) };
    const known = next.get(fingerprint);
    const more = sizeOf(alert) - (known ? sizeOf(known) : 0);
    const fits = more <= 0 || more <= left;
    if (known) next.set(fingerprint, merge(known, fits ? alert : { ...alert, annotations: known.annotations }, now));
    else if (alert.endsAt <= now) continue;
    else if (next.size >= most || !fits) refused++;
    else next.set(fingerprint, { ...alert, updatedAt: now, isResolved: false });
    if (next.has(fingerprint) && fits) left -= more;
  }
  return { next, refused };
}

/**
 * The same alert sent again: the earliest start and the last annotations win, and an end the sender named is not
 * brought forward by one that is only a time-out (Alertmanager's alert/alert.go, `Merge`).
 */
function merge(known: ExternalAlert, sent: SentAlert, now: Instant): ExternalAlert {
  // Overtaken by a later one.
  if (now < known.updatedAt) return known;
  const isResolved = sent.endsAt <= now + CLOCK_AHEAD_MS;
  const startsAgain = known.endsAt <= now && !isResolved;
  const startsAt = startsAgain ? sent.startsAt : Math.min(known.startsAt, sent.startsAt);
  const keepsEnd = known.endsAt > sent.endsAt && (isResolved ? known.isResolved : !known.isTimeout);
  const { labels, firedAt, isNews } = known;
  const { annotations, generatorUrl } = sent;
  return {
    labels,
    annotations,
    generatorUrl,
    startsAt,
    endsAt: keepsEnd ? known.endsAt : sent.endsAt,
    isTimeout: keepsEnd ? known.isTimeout : sent.isTimeout,
    updatedAt: now,
    isResolved,
    firedAt,
    isNews:
      isNews ||
      startsAt !== known.startsAt ||
      generatorUrl !== known.generatorUrl ||
      !isDeepStrictEqual({ ...annotations }, { ...known.annotations }),
  };
}

interface ExternalMoment {
  readonly now: Instant;
  /** Until then nothing expires: repetitions may have been missed. */
  readonly deafUntil: Instant;
}

/** True if an evaluation would change anything. */
export function isUnevaluated(state: ExternalAlertState, moment: ExternalMoment): boolean {
  for (const alert of state.values()) {
    if (alert.firedAt === undefined || alert.isNews || isOver(alert, moment)) return true;
  }
  return false;
}

function isOver({ endsAt, isResolved }: ExternalAlert, { now, deafUntil }: ExternalMoment): boolean {
  return endsAt <= now && (isResolved || deafUntil <= now);
}

/**
 * The transitions due `now`: firing, updated, and resolved as `recovered` where the sender said so, `expired` where it was
 * not sent again. One that is over before its first evaluation fires and resolves at once.
 */
export function evaluateExternal(previous: ExternalAlertState, moment: ExternalMoment) {
  const next = new Map<string, ExternalAlert>();
  const transitions: Transition[] = [];
  const lines: LogLine[] = [];
  for (const [fingerprint, known] of previous) {
    const fired = { ...known, firedAt: known.firedAt ?? moment.now, isNews: false };
    const alert = toAlert(fingerprint, fired, moment.now);
    const note = (reason: string) =>
      lines.push({ subject: alert.subject, at: moment.now, ruleId: alert.ruleId, reason });
    if (known.firedAt === undefined) {
      transitions.push({ kind: "firing", alert });
      note("firing");
    }
    if (isOver(known, moment)) {
      const endReason = known.isResolved ? "recovered" : "expired";
      const endsAt = Math.max(alert.startsAt, Math.min(known.endsAt, moment.now));
      transitions.push({ kind: "resolved", alert: { ...alert, state: "resolved", endsAt, endReason } });
      note(known.isResolved ? "resolved" : "expired");
      continue;
    }
    if (known.firedAt !== undefined && known.isNews) transitions.push({ kind: "updated", alert });
    next.set(fingerprint, known.firedAt === undefined || known.isNews ? fired : known);
  }
  return { next, transitions, lines };
}

/** The alert as all others are stored and notified; before its first evaluation, as if evaluated `now`. */
export function toAlert(fingerprint: string, external: ExternalAlert, now: Instant): Alert {
  const { labels, annotations, startsAt, firedAt = now, generatorUrl } = external;
  const name = cut(stripControls(labels.alertname ?? "").replaceAll("/", "_"), 100);
  const subject: Subject = { kind: "external", id: fingerprint };
  const key = `external/${name}/${fingerprint}`;
  return {
    id: `${key}@${firedAt}`,
    key,
    // No rule of the configuration can be called so.
    ruleId: `external/${name}`,
    subject,
    labels,
    annotations,
    state: "firing",
    startsAt: Math.min(startsAt, firedAt),
    firedAt,
    updatedAt: now,
    facts: { timezone: "UTC", ...(generatorUrl === undefined ? {} : { generatorUrl }) },
  };
}
