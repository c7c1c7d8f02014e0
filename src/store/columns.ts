/**
 * Columns of whole numbers in JSON: each value is the difference from the one before, null where there is none, and a
 * column ends where all that follow are the same.
 */
import { type Instant, MINUTE_MS } from "../lib/clock.ts";

export type Column = readonly (number | null)[];

export function toColumn(values: readonly (number | null | undefined)[]): Column {
  let last = 0;
  const steps = values.map((value) => {
    if (value === undefined || value === null) return null;
    const step = value - last;
    last = value;
    return step;
  });
  return steps.slice(0, steps.findLastIndex((step) => step !== 0) + 1);
}

/** The values of a column of this length. */
export function fromColumn(column: Column, length: number): (number | undefined)[] {
  const values: (number | undefined)[] = [];
  let last = 0;
  for (let i = 0; i < length; i++) {
    const step = column[i];
    last += step ?? 0;
    values.push(step === null ? undefined : last);
  }
  return values;
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
