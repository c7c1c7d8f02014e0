import { setTimeout as sleep } from "node:timers/promises";

/** Polls, every few milliseconds at first, then ten times a second, until `holds` is true; throws with `what` after `timeoutMs`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 150_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 10; !(await holds()); pauseMs = Math.min(pauseMs * 1.2, 100)) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(pauseMs);
  }
}
