/** A value that was read is used for a while; where reading failed, the next call reads again. */
import type { Instant } from "./clock.ts";

export function keptFor<T>(ms: number, read: (now: Instant) => Promise<T>): (now: Instant) => Promise<T> {
  let kept: { readonly at: Instant; readonly value: Promise<T> } | undefined;
  return (now) => {
    if (kept && now - kept.at < ms && now >= kept.at) return kept.value;
    const value = read(now);
    kept = { at: now, value };
    value.catch(() => {
      kept = undefined;
    });
    return value;
  };
}
