/**
 * Alerts that somebody else judges and sends here (`POST /api/v2/alerts`), as Alertmanager takes them: each fires until
 * its end, which every repetition moves on. Sending is one thing and judging another, so that any replica may take an
 * alert while only the configuration in force decides what becomes of it. Everything here is pure.
 */
import type { Alert, EndReason, Labels } from "../health/alert.ts";
import type { Subject, Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { LogLine } from "./decision-log.ts";

/** An alert as it was sent, its defaults filled in. */
export interface SentAlert {
  /** Never empty, nor any value of them. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Instant;
  /** Until then it fires; in the past: the sender says that it is over. */
  readonly endsAt: Instant;
  /** The sender named no end: `endsAt` is how long it is believed without being repeated. */
  readonly isTimeout: boolean;
  /** Where the sender says it comes from: an http or https URL. */
  readonly generatorUrl: string | undefined;
}

/** What is remembered of one. */
export interface ExternalAlert extends SentAlert {
  /** When it was last sent. */
  readonly updatedAt: Instant;
  /** The sender has said that it is over. */
  readonly isResolved: boolean;
  /** When it was found to fire; undefined while nobody has judged it. */
  readonly firedAt?: Instant | undefined;
  /** What people are told of it changed since it was judged. */
  readonly isNews?: boolean | undefined;
}

/** By fingerprint. */
export type ExternalAlertState = ReadonlyMap<string, ExternalAlert>;

/** How long an alert without an end is believed: Alertmanager's `resolve_timeout`. */
export const RESOLVE_TIMEOUT_MS = 5 * 60_000;

/**
 * So far a sender's clock may be ahead of ours: an end that is no further off has come. Of what fires nobody says that it
 * ends so soon (Prometheus: 4 minutes and more from then).
 */
const CLOCK_AHEAD_MS = 10_000;

export interface Taken {
  readonly next: ExternalAlertState;
  /** How many there was no room for. */
  readonly refused: number;
}

/**
 * What was sent at `now`, in its order, on top of what is known. What is not known and over is passed over; new ones
 * beyond `most` alerts are refused.
 */
export function acceptAlerts(
  previous: ExternalAlertState,
  sent: Iterable<readonly [fingerprint: string, alert: SentAlert]>,
  { now, most }: { readonly now: Instant; readonly most: number },
): Taken {
  const next = new Map(previous);
  let refused = 0;
  for (const [fingerprint, alert] of sent) {
    const known = next.get(fingerprint);
    if (known) next.set(fingerprint, merge(known, alert, now));
    else if (alert.endsAt <= now) continue;
    else if (next.size >= most) refused++;
    else next.set(fingerprint, { ...alert, updatedAt: now, isResolved: false });
  }
  return { next, refused };
}

/**
 * The same alert sent again: the earliest start and the last annotations win, and an end the sender named is not
 * brought forward by one that is only a time-out (Alertmanager's alert/alert.go, `Merge`).
 */
function merge(known: ExternalAlert, sent: SentAlert, now: Instant): ExternalAlert {
  // One that was long on its way tells nothing new.
  if (now < known.updatedAt) return known;
  const isResolved = sent.endsAt <= now + CLOCK_AHEAD_MS;
  const isBegunAnew = known.endsAt <= now && !isResolved;
  const startsAt = isBegunAnew ? sent.startsAt : Math.min(known.startsAt, sent.startsAt);
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
    isNews: isNews || !isSameAlert(known, { annotations, generatorUrl, startsAt }),
  };
}

type Said = Pick<ExternalAlert, "annotations" | "generatorUrl" | "startsAt">;

function isSameAlert(a: Said, b: Said): boolean {
  const names = Object.keys(a.annotations);
  return (
    a.startsAt === b.startsAt &&
    a.generatorUrl === b.generatorUrl &&
    names.length === Object.keys(b.annotations).length &&
    names.every((name) => Object.hasOwn(b.annotations, name) && a.annotations[name] === b.annotations[name])
  );
}

export interface ExternalEvaluation {
  readonly next: ExternalAlertState;
  readonly transitions: readonly Transition[];
  readonly lines: readonly LogLine[];
}

export interface ExternalMoment {
  readonly now: Instant;
  /** Before this nobody was there to be told otherwise: until then nothing expires. */
  readonly deafUntil: Instant;
}

/** Whether judging would change anything. */
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
 * What begins to fire, what changed, and what is over: `recovered` where the sender said so, `expired` where nobody
 * sent it again. One that is over before it was judged has begun all the same.
 */
export function evaluateExternal(previous: ExternalAlertState, moment: ExternalMoment): ExternalEvaluation {
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
      const end = ended(alert, fired, moment.now);
      transitions.push({ kind: "resolved", alert: end });
      note(end.endReason === "recovered" ? "resolved" : "expired");
      continue;
    }
    if (known.firedAt !== undefined && known.isNews) transitions.push({ kind: "updated", alert });
    next.set(fingerprint, known.firedAt === undefined || known.isNews ? fired : known);
  }
  return { next, transitions, lines };
}

function ended(alert: Alert, { endsAt, isResolved }: ExternalAlert, now: Instant): Alert {
  const endReason: EndReason = isResolved ? "recovered" : "expired";
  return { ...alert, state: "resolved", endsAt: Math.max(alert.startsAt, Math.min(endsAt, now)), endReason };
}

/** As all alerts are remembered and told. One that nobody judged yet is as it would be if it were judged `now`. */
export function toAlert(fingerprint: string, externalAlerts: ExternalAlert, now: Instant): Alert {
  const { labels, annotations, startsAt, firedAt = now, generatorUrl } = externalAlerts;
  const name = cut(stripControls(labels.alertname ?? "").replaceAll("/", "_"), 100);
  const subject: Subject = { kind: "external", id: fingerprint };
  const key = `outside/${name}/${fingerprint}`;
  return {
    id: `${key}@${firedAt}`,
    key,
    // No rule of the configuration can be called so.
    ruleId: `outside/${name}`,
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
