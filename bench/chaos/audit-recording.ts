/** One recording at one integration: its outages compared with its notices. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Delay, Verdict, VerdictKind } from "./audit.ts";
import { createExpectations, type Excuse, type RecordingCase } from "./expectations.ts";
import { beganBetween, messagesOf, outagesBegun, outagesOver, SENDING_MS, TOLERANCE_MS } from "./match.ts";
import type { Notice } from "./messages.ts";
import type { Span } from "./timeline.ts";

export interface RecordingAudit {
  readonly outages: number;
  readonly mustBeNotified: number;
  readonly excused: readonly Excuse[];
  readonly verdicts: Verdict[];
  readonly delays: Delay[];
}

const NO_TIME: Span = { from: 0, to: 0 };

/** A notified outage that awaits its resolved notice. */
interface Open {
  readonly outage: number;
  readonly notice: Notice;
}

/** Checks the notices of this recording at this integration, in order of acceptance, without those of flapping. */
export function auditRecording(notices: readonly Notice[], one: RecordingCase): RecordingAudit {
  const desk = createRecordingAudit(one);
  for (const lines of messagesOf(notices)) for (const line of lines) desk.audit(line);
  return { ...desk.finish(), outages: one.offline.length };
}

function createRecordingAudit(one: RecordingCase) {
  const { offline, integration, subject } = one;
  const expectations = createExpectations(one);
  const verdicts: Verdict[] = [];
  const delays: Delay[] = [];
  /** By outage: the notice of its start, of its end, and outages covered by the notice of an earlier one. */
  const begun = new Map<number, Notice>();
  const ended = new Map<number, Notice>();
  const covered = new Set<number>();
  const open: Open[] = [];

  const judge = (kind: VerdictKind, { at, message }: Notice, why: string, first?: Notice) => {
    verdicts.push({ kind, integration, subject, at, why, message, ...(first ? { firstAt: first.at } : {}) });
  };
  const span = (outage: number) => offline[outage] ?? NO_TIME;

  /** The likeliest outage of a notice: one not notified yet, preferably one that must be. */
  function likeliest(possible: readonly number[]): number | undefined {
    const unnotified = possible.filter((i) => !begun.has(i));
    return unnotified.find((i) => expectations.mustBeNotified(span(i))) ?? unnotified[0] ?? possible[0];
  }

  function checkSuppressed(notice: Notice): void {
    const why = expectations.suppressedBecause(notice);
    if (why !== undefined) judge("false", notice, `notified offline ${why}`);
  }

  function firing(notice: Notice): void {
    const outage = likeliest(outagesBegun(offline, notice));
    if (outage === undefined) {
      judge("false", notice, "notified offline while online");
      return;
    }
    if (!expectations.lastedEnough(span(outage), notice.at))
      judge("false", notice, "notified offline before the rule's `for` was over");
    checkSuppressed(notice);
    const first = begun.get(outage);
    if (first) judge("doubled", notice, "notified offline twice", ended.get(outage) ?? first);
    else delay("firing", expectations.freeFrom(span(outage), notice.at), notice);
    checkStale(outage, notice);
    if (!first || ended.has(outage)) open.push({ outage, notice });
    ended.delete(outage);
    begun.set(outage, notice);
  }

  /** Finds offline notices long after the recovery was read; flapping recordings get no recovery notice. */
  function checkStale(outage: number, notice: Notice): void {
    const from = span(outage).to;
    const to = notice.at - SENDING_MS;
    const next = offline[outage + 1];
    if ((next && next.from < to) || expectations.excuse(span(outage)) === "flapping") return;
    if (expectations.isSurelyBack(from, to)) judge("false", notice, `notified offline, recovered since ${iso(from)}`);
  }

  function still(notice: Notice): void {
    const current = open.at(-1);
    if (!current) {
      judge("false", notice, "reminder without a first notification");
      return;
    }
    checkSuppressed(notice);
    checkStale(current.outage, notice);
  }

  function recovered(notice: Notice): void {
    const [current] = open;
    if (!current) {
      const last = [...ended.values()].at(-1);
      if (last) judge("doubled", notice, "notified recovered twice", last);
      else judge("false", notice, "notified recovered without a first notification");
      return;
    }
    open.shift();
    cover(current.outage, beganBetween(current.notice).to + notice.lastedMs + 1_000 + TOLERANCE_MS);
    if (!expectations.wasBack(span(current.outage).from, notice.at))
      judge("false", notice, "notified recovered while offline or outside its schedule");
    if (expectations.isFlapping(notice)) judge("false", notice, "notified recovered while flapping");
    close(current.outage, notice);
  }

  function late(notice: Notice): void {
    const possible = outagesOver(offline, notice);
    const awaited = possible.find((i) => open.some(({ outage }) => outage === i));
    const outage = awaited ?? likeliest(possible.filter((i) => !covered.has(i))) ?? possible[0];
    if (outage === undefined) {
      judge("false", notice, "late notification without an outage");
      return;
    }
    if (!expectations.lastedEnough(span(outage), notice.at))
      judge("false", notice, "late notification of an outage shorter than the rule's `for`");
    if (!expectations.wasBack(span(outage).from, notice.at))
      judge("false", notice, "late notification while offline or outside its schedule");
    const first = ended.get(outage) ?? begun.get(outage);
    if (first) judge("doubled", notice, "late notification of an outage notified before", first);
    const known = open.findIndex((one) => one.outage === outage);
    if (known >= 0) open.splice(known, 1);
    begun.set(outage, first ?? notice);
    cover(outage, span(outage).from + notice.lastedMs + SENDING_MS);
    close(outage, notice);
  }

  /** An alert may last over an online moment that was not read. */
  function cover(outage: number, until: Instant): void {
    for (let i = outage + 1; i < offline.length && span(i).from < until; i++) covered.add(i);
  }

  function close(outage: number, notice: Notice): void {
    let last = outage;
    while (covered.has(last + 1)) last++;
    ended.delete(outage);
    ended.set(outage, notice);
    delay("recovered", expectations.excuse(span(outage)) === "flapping" ? undefined : offline[last]?.to, notice);
  }

  function delay(kind: Delay["kind"], flip: Instant | undefined, { at, integration: to }: Notice): void {
    if (flip === undefined || at < flip) return;
    const undisturbed = !one.disturbed.some(({ from, to: until }) => from <= at && until >= flip - 1_000);
    delays.push({ ms: at - flip, kind, undisturbed, integration: to, subject, at });
  }

  function audit({ kind, ...rest }: Notice): void {
    const notice = { kind, ...rest };
    if (kind === "firing") firing(notice);
    else if (kind === "still") still(notice);
    else if (kind === "recovered") recovered(notice);
    else if (kind === "late") late(notice);
    else judge("false", notice, "resolved for another reason than recovery");
  }

  return {
    audit: audit,
    finish(): Omit<RecordingAudit, "outages"> {
      const excused: Excuse[] = [];
      let mustBeNotified = 0;
      for (const [i, { from, to }] of offline.entries()) {
        const must = expectations.mustBeNotified({ from, to });
        if (must) mustBeNotified++;
        if (begun.has(i) || covered.has(i)) continue;
        const why = `offline for ${to - from} ms, never notified`;
        if (must) verdicts.push({ kind: "lost", integration, subject, at: from, why });
        else if (expectations.wasLong({ from, to }))
          excused.push(expectations.excuse({ from, to }) ?? "outside_schedule");
      }
      for (const { notice, outage } of open)
        if (expectations.mustEnd(outage)) judge("unresolved", notice, "notified offline, never resolved");
      return { verdicts, delays, mustBeNotified, excused };
    },
  };
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}
