/** Columns of numbers in JSON: null where there is none; a column ends where all that follow are the same. */
import { type Instant, MINUTE_MS } from "../lib/clock.ts";

export type Column = readonly (number | null)[];

export function toColumn(values: readonly (number | null | undefined)[]): Column {
  const column = values.map((value) => value ?? null);
  return column.slice(0, column.findLastIndex((value, i) => value !== column[i - 1]) + 1);
}

/** The values of a column of this length. */
export function fromColumn(column: Column, length: number): (number | undefined)[] {
  return Array.from({ length }, (_, i) => column[Math.min(i, column.length - 1)] ?? undefined);
}

/** Times of whole minutes: a column of the minutes since the one before. */
export function toTimes(times: readonly Instant[]): Column {
  return toColumn(times.map((at, i) => (at - (times[i - 1] ?? 0)) / MINUTE_MS));
}

export function fromTimes(column: Column, length: number): Instant[] {
  let at = 0;
  return fromColumn(column, length).map((minutes = 0) => {
    at += minutes * MINUTE_MS;
    return at;
  });
}
