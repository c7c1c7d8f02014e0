/** Milliseconds since the Unix epoch, UTC. Every instant inside lenswatch is one of these. */
export type Instant = number;

/** The time, as an argument: handed in everywhere, so that a test can own it. */
export interface Clock {
  now(): Instant;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** The machine's clock as it is now, moved on by one that nobody sets: a step of the time changes nothing here. */
export function steadyClock(): Clock {
  const began = Date.now() - performance.now();
  return { now: () => Math.round(began + performance.now()) };
}

/** A correction back by more than this is followed: standing still for so long would silence everything. */
const STANDSTILL_MOST_MS = 60_000;

/**
 * A clock corrected by an offset to another machine's (Redis `TIME`), in whole ms. It stands still rather than go
 * backwards, but for a minute at most. `correct` takes the other clock's reading at this moment.
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
      offset = Math.round(other - source.now());
      if (latest - other > STANDSTILL_MOST_MS) latest = Math.round(other);
    },
  };
}
