import fc from "fast-check";
import { expect, test } from "vitest";
import { isStale, watchedSince } from "../../src/alerting/stale.ts";

const I = 10_000;
const T0 = 1_000_000_000_000;

type Step = { readonly waitMs: number; readonly isGood: boolean };

/** Watches at each step, and reads the shard a moment later; gives what is stored then. */
function watch(steps: readonly Step[]) {
  let now = T0;
  let fleet = { goodAt: now, attemptedAt: now, since: watchedSince(undefined, now, I) };
  let shard = { goodAt: now, attemptedAt: now };
  for (const { waitMs, isGood } of steps) {
    now += waitMs;
    fleet = { goodAt: now, attemptedAt: now, since: watchedSince(fleet, now, I) };
    shard = { goodAt: isGood ? now : shard.goodAt, attemptedAt: now };
  }
  return { now, fleet, shard };
}

const step = fc.record({
  waitMs: fc.oneof(fc.integer({ min: I / 2, max: 2 * I }), fc.integer({ min: 4 * I, max: 9_000 * I })),
  isGood: fc.boolean(),
});

test("a shard is stale until it was read after the last pause, and when it failed for 3 intervals", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 0, max: 100 * I }), (steps, pausedMs) => {
      const { now: watchedAt, fleet, shard } = watch(steps);
      const now = watchedAt + pausedMs;
      const lastPause = pausedMs > 3 * I ? steps.length : steps.findLastIndex(({ waitMs }) => waitMs > 3 * I);
      const wasRead = lastPause < 0 || steps.slice(lastPause).some(({ isGood }) => isGood);
      const failing = shard.attemptedAt > shard.goodAt && now - shard.goodAt > 3 * I;
      const since = watchedSince(fleet, now, I);
      expect(isStale(shard.goodAt, shard, { now, since, intervalMs: I })).toBe(!wasRead || failing);
    }),
  );
});

test("a slow answer is not stale, a shard never read is only after a pause, and a clock put back suppresses nothing", () => {
  const shard = { goodAt: T0 - 60 * I, attemptedAt: T0 - 60 * I };
  expect(isStale(shard.goodAt, shard, { now: T0, since: 0, intervalMs: I })).toBe(false);
  expect(isStale(0, undefined, { now: T0, since: 0, intervalMs: I })).toBe(false);
  expect(isStale(0, undefined, { now: T0, since: T0 - I, intervalMs: I })).toBe(true);
  expect(watchedSince({ goodAt: T0, attemptedAt: T0, since: T0 - I }, T0 - 3_600_000, I)).toBe(0);
});
