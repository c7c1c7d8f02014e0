/** Since when this process runs: a pause of it (a stopped process, a suspended machine) makes what it knows old. */
import type { Clock, Instant } from "./clock.ts";

/** Work that keeps the process busy for less is no pause. */
const PAUSE_MS = 10_000;
const NOTED_EVERY_MS = 1_000;

/** Gives `since()`, and `stop()`. */
export function noteRunning(clock: Clock): { since(): Instant; stop(): void } {
  let [began, notedAt] = [clock.now(), clock.now()];
  function since(): Instant {
    const now = clock.now();
    if (now - notedAt > PAUSE_MS) began = now;
    // After the clock was put back.
    began = Math.min(began, now);
    notedAt = now;
    return began;
  }
  const timer = setInterval(since, NOTED_EVERY_MS).unref();
  return { since, stop: () => clearInterval(timer) };
}
