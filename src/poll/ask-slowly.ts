/** Requests that no alert waits for. */
import { setTimeout as sleep } from "node:timers/promises";

/** After each request a pause of so many times as long as it took: sweeps go first. */
export const PAUSE_SHARE = 4;
const MAX_PAUSE_MS = 10_000;
/** Shards that are asked for like that, at once: each waits most of the time. */
export const SLOW_AT_ONCE = 4;

/** The answer, after a pause; throws where `signal` was aborted before. */
export async function askSlowly<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const began = performance.now();
  const answer = await ask();
  const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_SHARE * (performance.now() - began));
  if (pauseMs >= 1) await sleep(pauseMs, undefined, { signal }).catch(() => {});
  return answer;
}
