/**
 * Long work in the one thread there is: written as a generator that yields every so many rows, run in slices
 * with the event loop let through in between.
 */
import { setImmediate } from "node:timers/promises";

/** How long a slice may be before the event loop is let through, ms. */
export const SLICE_MS = 2;

export interface Yielder {
  /** Lets the event loop through once the present slice is over; resolves at once before that. */
  maybeYield(): Promise<void> | undefined;
}

/** A breather whose first slice begins now. `elapsed` is a monotonic clock, ms. */
export function createYielder(elapsed: () => number = () => performance.now()): Yielder {
  let sliceEndsAt = elapsed() + SLICE_MS;
  const pause = async (): Promise<void> => {
    await setImmediate();
    sliceEndsAt = elapsed() + SLICE_MS;
  };
  return { maybeYield: () => (elapsed() < sliceEndsAt ? undefined : pause()) };
}

/** Runs `steps` to its result, breathing at each of its yields. */
export async function runYielding<T>(
  steps: Iterator<unknown, T>,
  yielder: Yielder = createYielder(),
): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await yielder.maybeYield();
  }
}

/** Characters gathered before a chunk is handed on. */
export const CHUNK = 64 * 1024;

/** Joins pieces of text to chunks of about 64 KiB, breathing between pieces; an empty piece only breathes. */
export async function* inChunks(
  pieces: Iterable<string>,
  yielder: Yielder = createYielder(),
): AsyncGenerator<string, void> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length >= CHUNK) {
      yield chunk;
      chunk = "";
    }
    await yielder.maybeYield();
  }
  if (chunk !== "") yield chunk;
}
