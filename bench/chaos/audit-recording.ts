/** One recording at one integration: its outages compared with its notices. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Delay, Timing, Verdict, VerdictKind } from "./audit.ts";
import type { Notice } from "./notices.ts";
import { SLOW_ANSWER_MS } from "./plan-faults.ts";
import { activeSpan, isActiveThroughout, type KnownSuppression } from "./suppressions.ts";
import { type Span, seenMs, timeInside, timeOutside } from "./timeline.ts";

export interface RecordingCase {
  readonly integration: string;
  /** The recording's id. */
  readonly subject: string;
  readonly offline: readonly Span[];
  /** Answers about its location that were certainly evaluated, oldest first. */
  readonly answers: readonly Instant[];
  readonly disturbed: readonly Span[];
  /** Silences that match it, and acknowledgements of it. */
  readonly suppressions: readonly KnownSuppression[];
  readonly rule: Timing;
  readonly end: Instant;
}

export interface RecordingAudit {
  readonly mustBeNotified: number;
  /** Outages read for long enough that were rightly not notified. */
  readonly excused: number;
  readonly verdicts: Verdict[];
  readonly delays: Delay[];
}

/** From rendering a message to its acceptance. */
const SENDING_MS = 3_000;
/** Times of the simulator and of the daemon differ by no more. */
const TOLERANCE_MS = 500;
/** An alert begins with the reading that shows its outage, or with what the service says of its beginning. */
const READ_LATE_MS = 4_000;
/** Outages read for this much longer than needed are certain. */
const MARGIN_MS = 2_000;
const GAP_INTERVALS = 3;
/** From the decision to the acceptance of the message, also with a frozen replica. */
const DECIDING_MS = 6_000;
/** An alert that still fires this long after its suppression has to be notified. */
const FREE_MS = 2_000;
/** An alert that ended before it was notified may be suppressed when its notification is due. */
const AFTER_MS = 30_000;

/** Checks the notices of this recording at this integration, in order of acceptance. Repeated ones are no matter here. */
export function auditRecording(notices: readonly Notice[], one: RecordingCase): RecordingAudit {
  const { offline, integration, subject, rule, end } = one;
  const expected = createExpectations(one);
  const verdicts: Verdict[] = [];
  const delays: Delay[] = [];
  /** Outages whose alert was notified, and those that an earlier one's alert lasted over. */
  const begun = new Set<number>();
  const covered = new Set<number>();
  const judge = (kind: VerdictKind, at: Instant, why: string) => verdicts.push({ kind, integration, subject, at, why });
  const delay = (kind: Delay["kind"], flip: Instant | undefined, { at }: Notice) => {
    if (flip === undefined || at < flip) return;
    const undisturbed = !one.disturbed.some(({ from, to }) => from <= at && to >= flip - 1_000);
    delays.push({ ms: at - flip, kind, undisturbed, integration, subject, at });
  };

  for (const episode of Map.groupBy(notices, ({ startsAt }) => startsAt).values()) {
    const [first] = episode;
    if (!first) continue;
    const outage = likeliest(first);
    const span = outage === undefined ? undefined : offline[outage];
    if (outage === undefined || !span) {
      judge("false", first.at, "notified offline while online");
      continue;
    }
    if (begun.has(outage)) judge("doubled", first.at, "an outage notified as two alerts");
    begun.add(outage);
    if (!expected.lastedEnough(span, first.at)) judge("false", first.at, "notified before the rule's `for` was over");
    for (const notice of episode) if (notice.status === "firing") auditFiring(notice, outage, span);
    const resolved = episode.find(({ status }) => status === "resolved");
    if (first.status === "firing") delay("firing", expected.freeFrom(span, first.at), first);
    cover(outage, resolved?.endsAt ?? end);
    if (resolved) auditEnd(resolved, outage, span);
    else if ((offline.at(-1)?.to ?? 0) < end) judge("unresolved", first.at, "notified offline, never resolved");
  }

  /** The likeliest outage of an alert: one not notified yet, preferably one that must be. */
  function likeliest({ startsAt }: Notice): number | undefined {
    const possible = offline.flatMap(({ from, to }, i) => {
      // A reading is dated by its request: a slow answer shows what began after it.
      const isReadable = from <= startsAt + SLOW_ANSWER_MS + TOLERANCE_MS;
      return isReadable && from >= startsAt - READ_LATE_MS && to >= startsAt - READ_LATE_MS ? [i] : [];
    });
    const free = possible.filter((i) => !begun.has(i));
    return free.find((i) => offline[i] && expected.mustBeNotified(offline[i])) ?? free[0] ?? possible[0];
  }

  function auditFiring({ at }: Notice, outage: number, { to }: Span): void {
    const why = expected.suppressedBecause(at);
    if (why !== undefined) judge("false", at, `notified offline ${why}`);
    const sentAt = at - SENDING_MS;
    const isOn = (offline[outage + 1]?.from ?? Number.POSITIVE_INFINITY) < sentAt;
    if (!isOn && expected.isSurelyBack(to, sentAt)) judge("false", at, `notified offline, recovered since ${iso(to)}`);
  }

  function auditEnd(resolved: Notice, outage: number, { from }: Span): void {
    if (timeOutside(offline, from, resolved.at) < rule.keepFiringForMs - TOLERANCE_MS)
      judge("false", resolved.at, "notified recovered while offline");
    let last = outage;
    while (covered.has(last + 1)) last++;
    delay("recovered", offline[last]?.to, resolved);
  }

  function cover(outage: number, until: Instant): void {
    for (let i = outage + 1; (offline[i]?.from ?? until) < until; i++) covered.add(i);
  }

  let mustBeNotified = 0;
  let excused = 0;
  for (const [i, span] of offline.entries()) {
    const must = expected.mustBeNotified(span);
    if (must) mustBeNotified++;
    if (begun.has(i) || covered.has(i)) continue;
    if (must) judge("lost", span.from, `offline for ${span.to - span.from} ms, never notified`);
    else if (expected.wasLong(span)) excused++;
  }
  return { verdicts, delays, mustBeNotified, excused };
}

/** Notifications expected for one recording, and those that a silence or an acknowledgement forbids. */
function createExpectations({ offline, rule, suppressions, answers }: RecordingCase) {
  const seen = (span: Span) => seenMs(answers, span, GAP_INTERVALS * rule.intervalMs);
  const wasLong = (span: Span) => seen(span) >= rule.forMs + MARGIN_MS;
  const spans = suppressions.map((one) => activeSpan(one, offline));
  const isSuppressed = ({ to }: Span) => spans.some((one) => one.from <= to + AFTER_MS && one.to >= to - FREE_MS);
  return {
    wasLong,
    mustBeNotified: (span: Span) => wasLong(span) && !isSuppressed(span),
    lastedEnough: ({ from }: Span, at: Instant) => timeInside(offline, from, at) >= rule.forMs - TOLERANCE_MS,
    isSurelyBack: (from: Instant, to: Instant) => seen({ from, to }) >= rule.keepFiringForMs + MARGIN_MS,

    /** Why a firing alert must not be notified then. */
    suppressedBecause(at: Instant): string | undefined {
      const deciding = { from: at - DECIDING_MS, to: at };
      const suppression = suppressions.find((one) => isActiveThroughout(one, deciding, offline));
      return suppression && (suppression.kind === "silence" ? "while it was silenced" : "while it was acknowledged");
    },

    /** When the beginning of an outage could first be notified. */
    freeFrom({ from }: Span, at: Instant): Instant {
      return Math.max(from, ...spans.filter(({ to }) => to >= from && to <= at).map(({ to }) => to));
    },
  };
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}
