import { setTimeout as sleep } from "node:timers/promises";

/** Polls every few milliseconds until `holds` is true; throws with `what` after `timeoutMs`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 150_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(15);
  }
}
