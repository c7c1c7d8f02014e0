/** Chance as a function of whole numbers: the same numbers give the same draw, in any order of asking. */
import { fraction, hexId, keyOf, mix } from "../fleet.ts";

/** The next fraction, 0 up to but not 1. */
export type Chance = () => number;

/** Fractions in order, made of whole numbers (mulberry32). */
export function chanceOf(a: number, b: number, c: number): Chance {
  let state = mix(a, b, c);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number that stands for a text. */
export function keyOfText(seed: number, text: string): number {
  return keyOf(hexId(seed, text));
}

export function within([low, high]: readonly [number, number], share: number): number {
  return low + (high - low) * share;
}

/** Which of the weights a fraction falls to. */
export function pick(weights: readonly number[], share: number): number {
  let left = share * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
}

/** A draw from the Poisson distribution. */
export function poisson(mean: number, next: Chance): number {
  if (mean <= 0) return 0;
  if (mean > 40) return Math.max(0, Math.round(mean + Math.sqrt(mean) * gaussian(next(), next())));
  const limit = Math.exp(-mean);
  let drawn = 0;
  for (let product = next(); product > limit; product *= next()) drawn += 1;
  return drawn;
}

/** A draw from the standard normal distribution, made of two fractions. */
export function gaussian(one: number, other: number): number {
  return Math.sqrt(-2 * Math.log(1 - one)) * Math.cos(2 * Math.PI * other);
}

/** Between -1 and 1; changes without a jump as `at` moves, and is another value after 1 of it. */
export function wave(key: number, at: number, kind: number): number {
  const from = Math.floor(at);
  const share = (1 - Math.cos(Math.PI * (at - from))) / 2;
  return 2 * within([fraction(key, from, kind), fraction(key, from + 1, kind)], share) - 1;
}

/**
 * A spell lasts some days and comes so many times a year, at times of its own: where day `n` lies in one, a fraction that
 * says how large it is.
 */
export function spell(
  key: number,
  n: number,
  kind: number,
  { perYear, days }: { perYear: number; days: readonly [number, number] },
): number | undefined {
  if (perYear <= 0) return undefined;
  const every = Math.max(days[1], 365 / perYear);
  for (const turn of [Math.floor(n / every), Math.floor(n / every) - 1]) {
    const from = Math.floor((turn + fraction(key, turn, kind)) * every);
    const until = from + Math.round(within(days, fraction(key, turn, kind + 1)));
    if (n >= from && n < until) return fraction(key, turn, kind + 2);
  }
  return undefined;
}
