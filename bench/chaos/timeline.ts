/** What happened to each recording, and how much of it the daemon can have read. Pure. */
import type { Instant } from "../../src/lib/clock.ts";

export interface Span {
  readonly from: Instant;
  readonly to: Instant;
}

/** The part of the simulator's ledger that matters here. */
export interface StatusChange {
  readonly at: Instant;
  readonly recordingId: string;
  readonly status: string;
}

/** The outages of every recording, oldest first; an ongoing one ends at `end`. */
export function outagesOf(ledger: readonly StatusChange[], end: Instant): Map<string, Span[]> {
  const offline = new Map<string, Span[]>();
  const since = new Map<string, Instant>();
  const close = (id: string, to: Instant) => {
    const from = since.get(id);
    if (from === undefined) return;
    since.delete(id);
    const spans = offline.get(id) ?? [];
    spans.push({ from, to });
    offline.set(id, spans);
  };
  for (const { at, recordingId, status } of ledger) {
    if (status !== "offline") close(recordingId, at);
    else if (!since.has(recordingId)) since.set(recordingId, at);
  }
  for (const id of [...since.keys()]) close(id, end);
  return offline;
}

/** The time outside `spans` between two moments, ms. `spans` in order, none touching another. */
export function timeOutside(spans: readonly Span[], from: Instant, to: Instant): number {
  return Math.max(0, to - from - timeInside(spans, from, to));
}

/** The time inside `spans` between two moments, ms. */
export function timeInside(spans: readonly Span[], from: Instant, to: Instant): number {
  return spans.reduce((sum, span) => sum + lengthOf(both(span, { from, to })), 0);
}

function lengthOf({ from, to }: Span): number {
  return Math.max(0, to - from);
}

function both(a: Span, b: Span): Span {
  return { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
}

/** When an answer may not have been evaluated, because of a failure or a kill around it. In order. */
export function unsureTimes(unreachable: readonly Span[], crashes: readonly Instant[]): Span[] {
  const all = [
    ...unreachable.map(({ from, to }) => ({ from: from - IN_FLIGHT_MS, to })),
    ...crashes.map((at) => ({ from: at - IN_FLIGHT_MS, to: at })),
  ].sort((a, b) => a.from - b.from);
  const merged: Span[] = [];
  for (const { from, to } of all) {
    const last = merged.at(-1);
    if (last && from <= last.to) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else merged.push({ from, to });
  }
  return merged;
}

/** Answers about one location that were certainly evaluated; both in order. */
export function countedAnswers(answers: readonly Instant[], unsure: readonly Span[]): Instant[] {
  let next = 0;
  return answers.filter((at) => {
    while ((unsure[next]?.to ?? at) < at) next++;
    const span = unsure[next];
    return span === undefined || at < span.from;
  });
}

/** From an answer of the service to its commit. */
const IN_FLIGHT_MS = 500;

/** Answers that were evaluated; both in order. */
export function confirmed(answers: readonly Instant[], judged: readonly Instant[]): Instant[] {
  let next = 0;
  return answers.filter((at) => {
    while ((judged[next] ?? at) < at - JUDGED_MS) next++;
    return (judged[next] ?? Number.POSITIVE_INFINITY) <= at + JUDGED_MS;
  });
}

/** Longest difference between an answer and its stored time. */
const JUDGED_MS = 1_500;

/** How long a state was certainly read, ms: the gaps between its answers, as far as they count for `for`. */
export function seenMs(answers: readonly Instant[], { from, to }: Span, maxGapMs: number): number {
  let sum = 0;
  let last: Instant | undefined;
  for (const at of answers) {
    if (at < from || at > to) continue;
    if (last !== undefined && at - last <= maxGapMs) sum += at - last;
    last = at;
  }
  return sum;
}
