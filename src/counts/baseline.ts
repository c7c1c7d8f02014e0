/**
 * Usual visits in each local hour of the week, learned from a series' own past.
 *
 * Assumed: a week resembles the eight before it, up to one factor for all of it (trend, season), which the last three
 * weeks give. Odd days (holidays, promotions, a failure that nobody noticed) are few on each weekday and do not count;
 * of the rest the most extreme values of each hour do not. An hour without data is not an hour without visits.
 */
import { DAY_MS, HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { type LocalHour, localDay } from "../lib/local-hours.ts";
import { type Dispersion, type ExpectedHour, learnDispersion } from "./dispersion.ts";
import type { CountSeries } from "./series.ts";

export type HourAt = (at: Instant) => LocalHour;

export interface Baseline extends Dispersion {
  /** Usual count of each hour of the week, 0 Monday 00:00 to 167 Sunday 23:00; undefined where too thin. */
  readonly usual: readonly (number | undefined)[];
  /** The second worst day of the past: most visits that it seemed to lack within some hours. */
  readonly lull: number;
  /** The same as `lull`, of days on which people were there as usual; days in a row are one. */
  readonly ownLull: number;
  /** Usual count of the busiest day of the week. */
  readonly ofDay: number;
}

interface LearnedBaseline extends Baseline {
  /** Local days on which about as many were counted as is usual. */
  readonly usualDays: ReadonlySet<number>;
}

export interface PastOptions {
  /** In the series' time zone. */
  readonly hourAt: HourAt;
  /** Hours that overlap one and lack visits do not count. */
  readonly outages: readonly Interval[];
  /** True where the location is configured to be closed at that time. */
  readonly isClosed?: ((at: Instant) => boolean) | undefined;
  /** Local days on which something else shows that people were there as usual; undefined: there is nothing else. */
  readonly busyDays?: ReadonlySet<number> | undefined;
}

interface Cell {
  readonly at: Instant;
  readonly slot: number;
  readonly day: number;
  readonly counted: number;
}

/** Fewer weeks are too thin. */
const MIN_WEEKS = 4;
const PAST_MS = 57 * DAY_MS;
/** The days that give the factor for all of it. */
const RECENT_MS = 22 * DAY_MS;
const LEVEL = { least: 0.5, most: 2 } as const;
/** A day is odd below half of what is usual and above double, beyond twice the noise of chance. */
const ODD = { below: 0.5, above: 2, noise: 2 } as const;
/** Counted less than this share of what is usual: hardly anything. */
export const HARDLY = 0.2;
/** Counted more than so many times what is usual: far too many. */
export const FAR_MORE = 3;
const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6];

/** Learns from the hours that were over before `now`; undefined where the history is too thin. Costly: once an hour. */
export function learnBaseline(
  series: Pick<CountSeries, "hours">,
  now: Instant,
  past: PastOptions,
): LearnedBaseline | undefined {
  const all = cellsOf(series, now, past);
  const rough = usualOf(all, 0.25);
  const cells = all.filter((cell) => !isExplained(cell, rough, past.outages));
  const normal = withoutOddDays(cells, rough);
  const shape = usualOf(normal, 0.125);
  if (!shape.some((mean) => mean !== undefined)) return undefined;
  const recent = normal.filter(({ at }) => at >= now - RECENT_MS);
  const level = ratioOf(recent.length > 0 ? recent : normal, shape);
  const usual = withHoles(shape.map((mean) => mean && mean * Math.min(LEVEL.most, Math.max(LEVEL.least, level))));
  const days = daysOf(normal, usual);
  const known = daysOf(cells, usual);
  return {
    usual,
    ...learnDispersion(days),
    lull: known.map(mostLacking).sort((a, b) => b - a)[1] ?? 0,
    ownLull: secondEpisode(known.map((hours) => lullOf(hours, past.busyDays))),
    ofDay: Math.max(...byWeekday(usual).map(sumOf)),
    usualDays: usualDaysOf(known, usual),
  };
}

/** Usual visits of a whole day by weekday, Monday first; undefined where no hour of it is known, or nobody ever comes. */
export function usualOfDays({ usual, ofDay }: Pick<Baseline, "usual" | "ofDay">): (number | undefined)[] {
  return byWeekday(usual).map((hours) => {
    return ofDay === 0 || hours.every((visits) => visits === undefined) ? undefined : Math.round(sumOf(hours));
  });
}

function byWeekday(usual: Baseline["usual"]): Baseline["usual"][] {
  return WEEKDAYS.map((day) => usual.slice(day * 24, day * 24 + 24));
}

/** The baseline of several series added up, where all of them are known. */
export function addBaselines(baselines: readonly (Baseline | undefined)[]): Baseline | undefined {
  const [first, ...rest] = baselines;
  return rest.reduce((sum, next) => {
    if (!sum || !next) return undefined;
    const usual = sum.usual.map((mean, slot) => {
      const other = next.usual[slot];
      return mean === undefined || other === undefined ? undefined : mean + other;
    });
    const largest = (of: "day" | "hour" | "visit") => Math.max(sum[of], next[of]);
    const dispersion = { day: largest("day"), hour: largest("hour"), visit: largest("visit") };
    const [lull, ownLull, ofDay] = [sum.lull + next.lull, sum.ownLull + next.ownLull, sum.ofDay + next.ofDay];
    return { usual, ...dispersion, lull, ownLull, ofDay };
  }, first);
}

function cellsOf({ hours }: Pick<CountSeries, "hours">, now: Instant, { hourAt, isClosed }: PastOptions): Cell[] {
  const cells: Cell[] = [];
  for (const [at, count] of hours) {
    if (count === null || !(count >= 0) || at + HOUR_MS > now || at < now - PAST_MS || isClosed?.(at)) continue;
    const { ofWeek, slot } = hourAt(at);
    cells.push({ at, slot: ofWeek, day: localDay(slot), counted: count });
  }
  return cells.sort((a, b) => a.at - b.at);
}

function isExplained({ at, slot, counted }: Cell, rough: Baseline["usual"], outages: readonly Interval[]): boolean {
  return counted < (rough[slot] ?? 0) / 2 && outages.some(({ from, to }) => from < at + HOUR_MS && to > at);
}

/** The mean of each hour of the week, without this share of its values at either end and one at least. */
function usualOf(cells: readonly Cell[], trimmed: number): (number | undefined)[] {
  const slots: number[][] = Array.from({ length: 168 }, () => []);
  for (const { slot, counted } of cells) slots[slot]?.push(counted);
  return slots.map((values) => (values.length < MIN_WEEKS ? undefined : middleOf(values, trimmed)));
}

function middleOf(values: number[], trimmed: number): number {
  const drop = Math.max(1, Math.floor(values.length * trimmed));
  const middle = values.sort((a, b) => a - b).slice(drop, values.length - drop);
  return middle.reduce((total, value) => total + value, 0) / middle.length;
}

/** Days far from what is usual are left out, unless too few would be left of their weekday. */
function withoutOddDays(cells: readonly Cell[], rough: Baseline["usual"]): readonly Cell[] {
  const odd = new Set<number>();
  const normal = new Map<number, number>();
  for (const [day, own] of Map.groupBy(cells, (cell) => cell.day)) {
    const counted = own.reduce((total, cell) => total + cell.counted, 0);
    const expected = own.reduce((total, cell) => total + (rough[cell.slot] ?? 0), 0);
    const noise = ODD.noise * Math.sqrt(expected + 1);
    const weekday = weekdayOf(own[0]);
    if (counted < ODD.below * expected - noise || counted > ODD.above * expected + noise) odd.add(day);
    else normal.set(weekday, (normal.get(weekday) ?? 0) + 1);
  }
  return cells.filter((cell) => !odd.has(cell.day) || (normal.get(weekdayOf(cell)) ?? 0) < MIN_WEEKS);
}

/** Kept for each location: an array of nothing but numbers takes a third of the memory. */
function withHoles(values: readonly (number | undefined)[]): number[] {
  const numbers: number[] = [];
  for (const [slot, value] of values.entries()) if (value !== undefined) numbers[slot] = value;
  numbers.length = values.length;
  // Without the room it has to grow.
  return numbers.slice();
}

function weekdayOf(cell: Cell | undefined): number {
  return Math.floor((cell?.slot ?? 0) / 24);
}

function ratioOf(cells: readonly Cell[], shape: Baseline["usual"]): number {
  let expected = 0;
  let counted = 0;
  for (const cell of cells) {
    const mean = shape[cell.slot];
    if (mean === undefined) continue;
    expected += mean;
    counted += cell.counted;
  }
  return expected > 0 ? counted / expected : 1;
}

interface KnownHour extends ExpectedHour {
  readonly day: number;
  readonly slot: number;
}

function daysOf(cells: readonly Cell[], usual: Baseline["usual"]): KnownHour[][] {
  return [...Map.groupBy(cells, ({ day }) => day).values()].map((own) =>
    own.flatMap(({ slot, day, counted }) => {
      const expected = usual[slot];
      return expected === undefined ? [] : [{ day, slot, expected, counted }];
    }),
  );
}

/** Hours without data count as none. */
function usualDaysOf(days: readonly (readonly KnownHour[])[], usual: Baseline["usual"]): ReadonlySet<number> {
  const busy = days.filter((hours) => {
    const first = Math.floor((hours[0]?.slot ?? 0) / 24) * 24;
    const counted = hours.reduce((total, hour) => total + hour.counted, 0);
    return counted >= ODD.below * sumOf(usual.slice(first, first + 24));
  });
  return new Set(busy.flatMap(([hour]) => (hour ? [hour.day] : [])));
}

function sumOf(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}

/** The most visits that hours in a row lacked. One odd day is no habit. */
function mostLacking(hours: readonly ExpectedHour[]): number {
  let [running, most] = [0, 0];
  for (const { expected, counted } of hours) {
    running = Math.max(0, running + expected - counted / HARDLY);
    most = Math.max(most, running);
  }
  return most;
}

interface Lull {
  readonly lacked: number;
  /** Usual visits of that day. */
  readonly ofDay: number;
}

function lullOf(hours: readonly KnownHour[], busyDays: PastOptions["busyDays"]): Lull {
  const ofDay = hours.reduce((total, { expected }) => total + expected, 0);
  return { lacked: !busyDays || busyDays.has(hours[0]?.day ?? 0) ? mostLacking(hours) : 0, ofDay };
}

/** The most without the days in a row around the worst that lacked half of their visits, and one at either end of them. */
function secondEpisode(lulls: readonly Lull[]): number {
  const most = Math.max(0, ...lulls.map(({ lacked }) => lacked));
  const worst = lulls.findIndex(({ lacked }) => lacked === most);
  const isPart = (lull: Lull | undefined) => lull !== undefined && lull.lacked * 2 >= lull.ofDay;
  let [from, to] = [worst - 1, worst + 1];
  while (isPart(lulls[from])) from--;
  while (isPart(lulls[to])) to++;
  return Math.max(0, ...lulls.flatMap(({ lacked }, day) => (day < from || day > to ? [lacked] : [])));
}
