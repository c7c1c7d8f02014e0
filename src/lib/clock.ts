/** Milliseconds since the Unix epoch, UTC. Every instant inside lenswatch is one of these. */
export type Instant = number;

/** The time, as an argument: handed in everywhere, so that a test can own it. */
export interface Clock {
  now(): Instant;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * A clock corrected by an offset to another machine's (Redis `TIME`), which never goes backwards.
 * `correct` takes the other clock's reading at this moment.
 */
export function correctedClock(source: Clock): Clock & { correct(other: Instant): void } {
  let offset = 0;
  let latest = Number.NEGATIVE_INFINITY;
  return {
    now() {
      latest = Math.max(latest, source.now() + offset);
      return latest;
    },
    correct(other) {
      offset = other - source.now();
    },
  };
}
