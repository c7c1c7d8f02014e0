/** Whether answers that lack known recordings are believed: as a location list that shrinks too much is not. */
import type { Attempt } from "./evaluate-self.ts";

/** Of some shards: recordings that are known, and those of them that complete answers lack. */
export type Presence = { readonly known: number; readonly absent: number };

/** Up to so many absent recordings are believed in a fleet of any size, unless most of it is absent. */
const FEW = 10;
const MAX_ABSENT_RATIO = 0.2;
const MOST_RATIO = 0.5;

export function isAbsenceBelieved({ known, absent }: Presence): boolean {
  return absent <= MOST_RATIO * known && (absent <= FEW || absent <= MAX_ABSENT_RATIO * known);
}

/** The recordings of shards whose last sweep was good. */
export function presenceOf(shards: readonly Attempt[]): Presence {
  const read = shards.filter(({ goodAt, attemptedAt }) => goodAt >= attemptedAt);
  return {
    known: read.reduce((sum, { known = 0 }) => sum + known, 0),
    absent: read.reduce((sum, { absent = 0 }) => sum + absent, 0),
  };
}
