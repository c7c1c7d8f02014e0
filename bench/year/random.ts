/** Seeded choices of a year: each part of it has its own sequence, so that a change of one leaves the others. */
import { seededRandom } from "../../test/support/random.ts";
import type { Range } from "./mix.ts";

export type YearRandom = ReturnType<typeof createYearRandom>;

export function createYearRandom(seed: number, part: string) {
  const mixed = [...part].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed * 2_654_435_761);
  const next = seededRandom(mixed);
  return {
    /** From `from` up to, not including, `to`. */
    between: ({ from, to }: Range) => from + next() * (to - from),
    whole: ({ from, to }: Range) => from + Math.floor(next() * (to - from + 1)),
    /** As likely in each octave: short ones are more frequent. */
    length({ from, to }: Range): number {
      const least = Math.max(1, from);
      return Math.round(least * (to / least) ** next());
    },
    chance: (share: number) => next() < share,
    pick: <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T,
    /** Instants of a Poisson process with so many events in a span, in order. */
    *moments(span: Range, expected: number): Generator<number> {
      if (expected <= 0 || span.to <= span.from) return;
      const meanGap = (span.to - span.from) / expected;
      for (let at = span.from; ; ) {
        at += meanGap * Math.log(1 / (1 - next()));
        if (at >= span.to) return;
        yield Math.round(at);
      }
    },
  };
}
