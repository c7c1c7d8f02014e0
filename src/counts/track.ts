/**
 * Usual and counted visits, piece by piece, newest first: today between readings, before that whole hours.
 * Assumed: what is served is behind by 10 to 20 minutes, and of one reading by about as much as of the next, or else the
 * witnesses' is too. So a piece between two readings is as long as the time between them, and lies 15 minutes before.
 * Visits spread evenly over an hour; but the first hour of a day may open, and the last may close, in the midst of it. Of
 * one that is not over, only the last (or first) third is sure to be open; of one that is, all visits are known to have
 * come, and before it closed.
 */
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { localDay } from "../lib/local-hours.ts";
import type { Baseline, PastOptions } from "./baseline.ts";
import type { CountSeries } from "./series.ts";

/** The delay with which counts are served, ms. */
export const LATE = { mean: 900_000, most: 1_200_000 } as const;
const QUARTER_MS = 900_000;

/** A series, or several added up. */
interface CountSource extends Pick<CountSeries, "readings"> {
  readonly hours: Pick<CountSeries["hours"], "get">;
}

/** Counts, what is usual for them, and what explains that they fall. */
export interface Counted {
  readonly source: CountSource;
  readonly baseline: Baseline | undefined;
  readonly past: PastOptions;
  readonly now: Instant;
  /** Newest first; time without data has no piece. */
  readonly pieces: Iterable<Piece>;
}

export interface Piece extends Interval {
  readonly expected: number;
  readonly counted: number;
  /** The local day and hour in which it ends. */
  readonly at: { readonly day: number; readonly hour: number };
  /** Nothing was recorded, and that explains why less was counted. */
  readonly isExplained: boolean;
}

/** No further back, ms. */
const REACH_MS = 240 * HOUR_MS;

export function track(given: Omit<Counted, "pieces">): Counted {
  return { ...given, pieces: remember(piecesOf(given)) };
}

/** Computed as far as it is read, and once. */
function remember<T>(rest: Generator<T, void>): Iterable<T> {
  const known: IteratorResult<T, void>[] = [];
  // By hand: read for each rule and witness, twice as fast as a generator.
  return {
    [Symbol.iterator](): Iterator<T, void> {
      let i = 0;
      return {
        next() {
          known[i] ??= rest.next();
          return known[i++] as IteratorResult<T, void>;
        },
      };
    },
  };
}

function* piecesOf({ source, baseline, past, now }: Omit<Counted, "pieces">): Generator<Piece, void> {
  if (!baseline) return;
  const usual = usualAt(baseline, past, now - LATE.mean);
  const { readings } = source;
  let next = readings.findLastIndex(({ at, count }) => at <= now && count !== null);
  const newest = readings[next];
  if (newest) yield* piecesBetween(readings, next, usual, past);
  let hour = newest ? newest.since - HOUR_MS : past.hourAt(now).startsAt;
  for (; hour + HOUR_MS > now - REACH_MS; hour -= HOUR_MS) {
    const end = hour + HOUR_MS;
    const counted = source.hours.get(hour);
    if (typeof counted === "number") {
      const piece = pieceOf({ from: hour, to: Math.min(end, now - LATE.most) }, counted, usual, past);
      if (piece) yield piece;
      continue;
    }
    // An hour that was not read, or not yet, may be in the readings of its day.
    next = readings.findLastIndex(({ at, since, count }) => since <= hour && at - LATE.most > hour && count !== null);
    const last = readings[next];
    if (!last || last.since === newest?.since) continue;
    for (const piece of piecesBetween(readings, next, usual, past)) if (piece.to <= end) yield piece;
    hour = last.since;
  }
}

/** Between the readings since the same instant, from the last of them back. What is served later corrects what was before. */
function* piecesBetween(readings: CountSource["readings"], last: number, usual: UsualAt, past: PastOptions) {
  const since = readings[last]?.since ?? 0;
  let least = Number.POSITIVE_INFINITY;
  let to: Instant | undefined;
  for (let i = last; i >= 0; i--) {
    const reading = readings[i];
    if (!reading || reading.since < since) break;
    if (reading.count === null || reading.since > since) continue;
    const until = Math.max(since, reading.at - LATE.mean);
    const counted = Math.max(0, Math.min(least, reading.count));
    if (to !== undefined) {
      const piece = pieceOf({ from: Math.min(until, to), to }, least - counted, usual, past);
      if (piece) yield piece;
    }
    to = Math.min(until, to ?? until);
    least = counted;
  }
  const first = pieceOf({ from: since, to: Math.max(since, to ?? since) }, least, usual, past);
  if (first) yield first;
}

/** Usual since then, whether there is data or not. */
export function usualSince({ baseline, past, now }: Counted, from: Instant): number {
  const to = now - LATE.mean;
  if (!baseline) return 0;
  return from < to ? sumOver({ from, to }, usualAt(baseline, past, to), past, 0) : 0;
}

/** Usual and counted in whole pieces of a span; explained ones are left out. */
export interface Sum {
  readonly expected: number;
  readonly counted: number;
}

export function countedSince({ pieces }: Counted, since: Instant): Sum & { readonly pieces: number } {
  const sum = { expected: 0, counted: 0, pieces: 0 };
  for (const piece of pieces) {
    if (piece.from < since) break;
    if (piece.isExplained) continue;
    sum.expected += piece.expected;
    sum.counted += piece.counted;
    sum.pieces++;
  }
  return sum;
}

/** Pieces that have been read together. */
export function addSources(sources: readonly CountSource[]): CountSource {
  const counts = sources.map(({ readings }) => new Map(readings.map(({ at, count }) => [at, count])));
  return {
    hours: { get: (hour) => addCounts(sources.map(({ hours }) => hours.get(hour))) },
    readings: (sources[0]?.readings ?? []).flatMap(({ at, since }) => {
      const count = addCounts(counts.map((own) => own.get(at)));
      return count === undefined ? [] : [{ at, since, count }];
    }),
  };
}

/** One that is not known makes the sum unknown. */
function addCounts(counts: readonly (number | null | undefined)[]): number | null | undefined {
  let sum = 0;
  for (const count of counts) {
    if (typeof count !== "number") return count;
    sum += count;
  }
  return sum;
}

interface Usual {
  readonly mean: number | undefined;
  readonly day: number;
  readonly hour: number;
  /** Its visits are early, the last hour before it closes, or late, the first; `over`: early, and all of them have come. */
  readonly edge: "early" | "late" | "over" | undefined;
}

type UsualAt = (at: Instant) => Usual;

/** Before or after an hour with less than this share of its visits it may be closed. */
const EDGE = 0.25;

const OVER = { early: "over", late: undefined } as const;

/** Most instants that are asked for one after the other are in the same hour. */
function usualAt({ usual }: Baseline, past: PastOptions, served: Instant): UsualAt {
  const { hourAt, isClosed } = past;
  let quarter = Number.NaN;
  let known: Usual = { mean: undefined, day: 0, hour: 0, edge: undefined };
  return (at) => {
    const own = Math.floor(at / QUARTER_MS);
    if (own === quarter) return known;
    quarter = own;
    const { ofWeek, slot, startsAt } = hourAt(at);
    const mean = isClosed?.(at) ? 0 : usual[ofWeek];
    const isLess = (other: number) => (usual[(ofWeek + other) % 168] ?? 0) < (mean ?? 0) * EDGE;
    const edge = isLess(1) ? "early" : isLess(167) ? "late" : undefined;
    const isOver = edge !== undefined && startsAt + HOUR_MS <= served;
    known = { mean, day: localDay(slot), hour: slot, edge: isOver ? OVER[edge] : edge };
    return known;
  };
}

/** Undefined where it is not known what is usual. */
function pieceOf({ from, to }: Interval, counted: number, usual: UsualAt, past: PastOptions): Piece | undefined {
  const at = usual(Math.max(from, to - 1));
  const expected = expectedOver({ from, to }, at, usual, past);
  if (expected === undefined) return undefined;
  const isOut = past.outages.length > 0 && past.outages.some((outage) => outage.from < to && outage.to > from);
  return { from, to, expected, counted, at, isExplained: isOut && counted < expected / 2 };
}

function expectedOver({ from, to }: Interval, last: Usual, usual: UsualAt, past: PastOptions): number | undefined {
  if (to <= from) return 0;
  const isOneHour = to - from <= HOUR_MS && usual(from).hour === last.hour;
  if (isOneHour && (last.edge === undefined || to - from === HOUR_MS))
    return last.mean === undefined ? undefined : (last.mean * (to - from)) / HOUR_MS;
  return sumOver({ from, to }, usual, past, undefined);
}

/** `unknown`: of hours of which it is not known what is usual; undefined: then neither is the sum. */
function sumOver<T extends number | undefined>({ from, to }: Interval, usual: UsualAt, past: PastOptions, unknown: T) {
  let expected = 0;
  for (let at = from; at < to; ) {
    const start = past.hourAt(at).startsAt;
    const end = Math.min(to, start + HOUR_MS);
    const { mean = unknown, edge } = usual(at);
    if (mean === undefined) return unknown;
    const isWhole = end - at === HOUR_MS;
    expected += isWhole ? mean : mean * (partUntil(end - start, edge) - partUntil(at - start, edge));
    at = end;
  }
  return expected;
}

/** The share of an hour's visits that are certain until so many ms of it. */
function partUntil(ms: number, edge: Usual["edge"]): number {
  const part = ms / HOUR_MS;
  if (edge === "over") return Math.min(1, part * 3);
  if (edge === "early") return Math.min(part, 1 / 3);
  return edge === "late" ? Math.max(0, part - 2 / 3) : part;
}
