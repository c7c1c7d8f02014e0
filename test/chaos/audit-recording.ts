/** One recording at one integration: its dark times held against what was told of it. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Delay, Timing, Verdict, VerdictKind } from "./audit.ts";
import { beganBetween, messagesOf, outagesBegun, outagesOver, SENDING_MS, TOLERANCE_MS } from "./match.ts";
import type { Telling } from "./tellings.ts";
import { type Span, seenMs, timeOutside } from "./truth.ts";

export interface RecordingCase {
  readonly integration: string;
  readonly subject: string;
  readonly dark: readonly Span[];
  /** Answers about its place that must have counted, oldest first. */
  readonly answers: readonly Instant[];
  readonly disturbed: readonly Span[];
  readonly rule: Timing;
  readonly end: Instant;
}

export interface RecordingAudit {
  readonly outages: number;
  readonly mustBeTold: number;
  readonly verdicts: Verdict[];
  readonly delays: Delay[];
}

/** Answers surely seen for this much longer than needed leave no doubt. */
const MARGIN_MS = 2_000;
const GAP_INTERVALS = 3;
const NO_TIME: Span = { from: 0, to: 0 };

/** A dark time that was told as such and whose end is awaited. */
interface Open {
  readonly outage: number;
  readonly telling: Telling;
}

/** `tellings` of this recording at this integration, in order of acceptance. */
export function auditRecording(tellings: readonly Telling[], one: RecordingCase): RecordingAudit {
  const desk = createDesk(one);
  for (const lines of messagesOf(tellings)) for (const line of lines) desk.hear(line);
  desk.finish();
  const { dark } = one;
  return {
    ...desk.result,
    outages: dark.length,
    mustBeTold: dark.filter((span) => mustBeTold(span, one)).length,
  };
}

function mustBeTold(span: Span, { answers, rule }: RecordingCase): boolean {
  return seenMs(answers, span, GAP_INTERVALS * rule.intervalMs) >= rule.forMs + MARGIN_MS;
}

function createDesk(one: RecordingCase) {
  const { dark, integration, subject, rule, answers } = one;
  const verdicts: Verdict[] = [];
  const delays: Delay[] = [];
  /** By dark time: what was told of its beginning, of its end, and which were told with an earlier one. */
  const begun = new Map<number, Telling>();
  const ended = new Map<number, Telling>();
  const covered = new Set<number>();
  const open: Open[] = [];

  const judge = (kind: VerdictKind, { at, message }: Telling, why: string, first?: Telling) => {
    verdicts.push({ kind, integration, subject, at, why, message, ...(first ? { firstAt: first.at } : {}) });
  };

  /** Of those a line may speak of: one that is still to be told, before all one that has to be. */
  function likeliest(possible: readonly number[]): number | undefined {
    const untold = possible.filter((i) => !begun.has(i));
    return untold.find((i) => mustBeTold(dark[i] ?? NO_TIME, one)) ?? untold[0] ?? possible[0];
  }

  function firing(telling: Telling): void {
    const possible = outagesBegun(dark, telling);
    const outage = likeliest(possible);
    if (outage === undefined) {
      judge("false", telling, "told offline though it was online");
      return;
    }
    const first = begun.get(outage);
    if (first) judge("doubled", telling, "told offline twice", ended.get(outage) ?? first);
    else delay("firing", dark[outage]?.from, telling);
    checkStale(outage, telling);
    if (!first || ended.has(outage)) open.push({ outage, telling });
    ended.delete(outage);
    begun.set(outage, telling);
  }

  /** Told as offline long after it was seen to be back. */
  function checkStale(outage: number, telling: Telling): void {
    const back = { from: dark[outage]?.to ?? telling.at, to: telling.at - SENDING_MS };
    const next = dark[outage + 1];
    if (next && next.from < back.to) return;
    if (seenMs(answers, back, GAP_INTERVALS * rule.intervalMs) >= rule.keepFiringForMs + MARGIN_MS)
      judge("false", telling, `told offline though it was back since ${iso(back.from)}`);
  }

  function still(telling: Telling): void {
    const current = open.at(-1);
    if (!current) judge("false", telling, "told as still offline, never told as new");
    else checkStale(current.outage, telling);
  }

  function recovered(telling: Telling): void {
    const [current] = open;
    if (!current) {
      const last = [...ended.values()].at(-1);
      if (last) judge("doubled", telling, "told recovered twice", last);
      else judge("false", telling, "told recovered though never told offline");
      return;
    }
    open.shift();
    cover(current.outage, beganBetween(current.telling).to + telling.lastedMs + 1_000 + TOLERANCE_MS);
    if (!wasBack(current.outage, telling)) judge("false", telling, "told recovered while it was dark");
    close(current.outage, telling);
  }

  function late(telling: Telling): void {
    const possible = outagesOver(dark, telling);
    const awaited = possible.find((i) => open.some(({ outage }) => outage === i));
    const outage = awaited ?? likeliest(possible.filter((i) => !covered.has(i))) ?? possible[0];
    if (outage === undefined) {
      judge("false", telling, "told of an outage there was not");
      return;
    }
    if (!wasBack(outage, telling)) judge("false", telling, "told to be back while it was dark");
    const first = ended.get(outage) ?? begun.get(outage);
    if (first) judge("doubled", telling, "told late, and before", first);
    const known = open.findIndex((one) => one.outage === outage);
    if (known >= 0) open.splice(known, 1);
    begun.set(outage, first ?? telling);
    cover(outage, (dark[outage]?.from ?? 0) + telling.lastedMs + SENDING_MS);
    close(outage, telling);
  }

  function wasBack(outage: number, { at }: Telling): boolean {
    return timeOutside(dark, dark[outage]?.from ?? at, at) >= rule.keepFiringForMs - TOLERANCE_MS;
  }

  /** The same alert may have lasted over a moment online that nobody saw. */
  function cover(outage: number, until: Instant): void {
    for (let i = outage + 1; i < dark.length && (dark[i]?.from ?? until) < until; i++) covered.add(i);
  }

  function close(outage: number, telling: Telling): void {
    let last = outage;
    while (covered.has(last + 1)) last++;
    ended.delete(outage);
    ended.set(outage, telling);
    delay("recovered", dark[last]?.to, telling);
  }

  function delay(says: Delay["says"], flip: Instant | undefined, { at }: Telling): void {
    if (flip === undefined || at < flip) return;
    const undisturbed = !one.disturbed.some(({ from, to }) => from <= at && to >= flip - 1_000);
    delays.push({ ms: at - flip, says, undisturbed });
  }

  return {
    result: { verdicts, delays },
    hear(telling: Telling): void {
      if (telling.says === "firing") firing(telling);
      else if (telling.says === "still") still(telling);
      else if (telling.says === "recovered") recovered(telling);
      else if (telling.says === "late") late(telling);
      else judge("false", telling, "told over for another reason than that it is back");
    },
    finish(): void {
      for (const [i, span] of dark.entries()) {
        if (begun.has(i) || covered.has(i) || !mustBeTold(span, one)) continue;
        verdicts.push({
          kind: "lost",
          integration,
          subject,
          at: span.from,
          why: `dark for ${span.to - span.from} ms, never told`,
        });
      }
      for (const { telling } of open) judge("unresolved", telling, "told offline, never told back");
    },
  };
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}
