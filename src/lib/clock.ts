/** Milliseconds since the Unix epoch, UTC. Every instant in lenswatch is one. */
export type Instant = number;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** The time, always an argument, so that a test can set it. */
export type Clock = { now(): Instant };

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** The machine's clock as read once, advanced by the monotonic clock: later changes of the time have no effect. */
export function steadyClock(): Clock {
  const began = Date.now() - performance.now();
  return { now: () => Math.round(began + performance.now()) };
}

/** JSON data, each instant of which that is later than `from` is moved back: all other numbers that we store are smaller. */
export function movedBack<Data>(data: Data, from: Instant, ms: number): Data {
  const moved = (_: string, value: unknown) => (typeof value === "number" && value > from ? value - ms : value);
  return JSON.parse(JSON.stringify(data, moved));
}

/** A larger correction back is followed: timers would stop while the clock stands still. */
const MAX_STANDSTILL_MS = 60_000;

/**
 * A clock corrected to another machine's (Redis `TIME`), in whole ms. It stands still instead of going backwards, for a
 * minute at most. `correct` takes the other clock's current reading; `begin` too, before anything was done at a time of
 * this one: it goes back all the way.
 */
export function correctedClock(source: Clock): Clock & Record<"begin" | "correct", (other: Instant) => void> {
  let offset = 0;
  let latest = Number.NEGATIVE_INFINITY;
  return {
    begin(other) {
      offset = Math.round(other - source.now());
      latest = Number.NEGATIVE_INFINITY;
    },
    now() {
      latest = Math.max(latest, source.now() + offset);
      return latest;
    },
    correct(other) {
      offset = Math.round(other - source.now());
      if (latest - other > MAX_STANDSTILL_MS) latest = Math.round(other);
    },
  };
}
