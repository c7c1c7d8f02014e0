/** Seeded random choices. */
import { seededRandom } from "../../test/support/random.ts";

export interface Random {
  /** An integer, both ends included. */
  between(from: number, to: number): number;
  /** From 0. */
  whole(below: number): number;
  pick<const T>(from: readonly [T, ...T[]]): T;
  chance(share: number): boolean;
}

/** The same sequence for the same seed. */
export function createRandom(seed: number): Random {
  const random = seededRandom(seed);
  const whole = (below: number) => Math.min(below - 1, Math.floor(random() * below));
  return {
    between: (from, to) => Math.round(from + random() * (to - from)),
    whole,
    pick: (from) => from[whole(from.length)] ?? from[0],
    chance: (share) => random() < share,
  };
}
