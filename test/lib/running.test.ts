import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { noteRunning } from "../../src/lib/running.ts";

const SECOND = 1_000;
beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

test("a process runs since it started, or since a pause in which no timer ran; a clock put back moves it back", () => {
  const clock = { now: () => Date.now() };
  const started = clock.now();
  const running = noteRunning(clock);
  vi.advanceTimersByTime(3_600 * SECOND);
  expect(running.since()).toBe(started);
  vi.setSystemTime(clock.now() + 9 * SECOND);
  expect(running.since()).toBe(started);
  vi.setSystemTime(clock.now() + 11 * SECOND);
  const resumed = clock.now();
  expect(running.since()).toBe(resumed);
  vi.advanceTimersByTime(60 * SECOND);
  expect(running.since()).toBe(resumed);
  vi.setSystemTime(started);
  expect(running.since()).toBe(started);
  running.stop();
  expect(vi.getTimerCount()).toBe(0);
});
