/** Silences and acknowledgements, active at least and at most when: a client knows only the time of the answer. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Episode } from "./notices.ts";
import type { Span } from "./timeline.ts";

export interface KnownSuppression {
  readonly kind: "silence" | "ack";
  readonly recordingIds: readonly string[];
  /** When it was first requested, and when it was certainly active. */
  readonly maybeFrom: Instant;
  readonly surelyFrom: Instant;
  /** Of a silence: certainly active until, possibly active until. An acknowledgement ends with its alert too. */
  readonly surelyUntil: Instant;
  readonly maybeUntil: Instant;
}

/** A press of a button, and when the root of its conversation showed it. */
export interface Press {
  readonly action: "acknowledge" | "silence";
  readonly pressedAt: Instant;
  readonly shownAt: Instant;
}

const NEVER = Number.POSITIVE_INFINITY;

/** What a press suppresses at least and at most; `there`: the recordings of its location, `alerts`: its conversation's. */
export function pressedSuppressions(
  { action, pressedAt: maybeFrom, shownAt }: Press,
  there: readonly string[],
  alerts: readonly Episode[],
): KnownSuppression[] {
  const times = { maybeFrom, surelyUntil: NEVER, maybeUntil: NEVER };
  if (action === "silence") return [{ kind: "silence", recordingIds: there, surelyFrom: shownAt, ...times }];
  const firing = alerts.filter(({ startsAt, endsAt = NEVER }) => startsAt < maybeFrom && endsAt > maybeFrom);
  const known = new Set(firing.map(({ recordingId }) => recordingId));
  return [
    { kind: "ack", recordingIds: [...known], surelyFrom: shownAt, ...times },
    { kind: "ack", recordingIds: there.filter((id) => !known.has(id)), surelyFrom: NEVER, ...times },
  ];
}

/** Each acknowledgement by recording: a later one that was withdrawn took the earlier with it. */
export function withdrawnTogether(all: readonly KnownSuppression[]): KnownSuppression[] {
  return all.flatMap((one) => {
    if (one.kind !== "ack") return [one];
    return one.recordingIds.map((id) => {
      const own = all.filter(({ kind, recordingIds }) => kind === "ack" && recordingIds.includes(id));
      const ends = own.flatMap(({ surelyUntil }) => (surelyUntil >= one.maybeFrom ? [surelyUntil] : []));
      return { ...one, recordingIds: [id], surelyUntil: Math.min(one.surelyUntil, ...ends) };
    });
  });
}

/** An acknowledged alert ends at most this long after its outage. */
const ENDED_MS = 10_000;

/** When it was possibly active. */
export function activeSpan({ kind, maybeFrom, maybeUntil }: KnownSuppression, offline: readonly Span[]): Span {
  return {
    from: maybeFrom,
    to:
      kind === "silence"
        ? maybeUntil
        : Math.min(maybeUntil, (outageAt(offline, maybeFrom)?.to ?? maybeFrom) + ENDED_MS),
  };
}

/** Whether it was certainly active throughout. */
export function isActiveThroughout(
  suppressions: KnownSuppression,
  { from, to }: Span,
  offline: readonly Span[],
): boolean {
  const { kind, surelyUntil, maybeFrom } = suppressions;
  const until = kind === "silence" ? surelyUntil : Math.min(surelyUntil, outageAt(offline, maybeFrom)?.to ?? 0);
  return suppressions.surelyFrom <= from && until >= to;
}

function outageAt(offline: readonly Span[], at: Instant): Span | undefined {
  return offline.find((span) => span.from <= at && span.to >= at);
}
