/** Long work as generators that yield every so many rows, run in slices so that the event loop is never blocked. */
import { setImmediate } from "node:timers/promises";

/** Longest slice, ms. */
export const SLICE_MS = 2;

/** Turns of the event loop between two slices, of whatever work: a turn accepts only one of the new connections (libuv). */
const TURNS = 4;
let lastPause: Promise<void> = Promise.resolve();

async function pauseAfter(last: Promise<void>): Promise<void> {
  await last;
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

/** Yields to the event loop when a slice is over. The first one starts now; `elapsed` is a monotonic clock, ms. */
export function createYielder(elapsed = () => performance.now()): () => Promise<void> | undefined {
  let sliceEndsAt = elapsed() + SLICE_MS;
  const pause = async (): Promise<void> => {
    lastPause = pauseAfter(lastPause);
    await lastPause;
    sliceEndsAt = elapsed() + SLICE_MS;
  };
  return () => (elapsed() < sliceEndsAt ? undefined : pause());
}

/** Visits every row; yields every so many. */
export function* eachRow<T>(rows: Iterable<T>, visit: (row: T) => void, rowsPerStep = 256): Generator<void, void> {
  let seen = 0;
  for (const row of rows) {
    visit(row);
    if (++seen % rowsPerStep === 0) yield;
  }
}

/**
 * Runs `steps` to its result; each of its yields may yield to the event loop. Throws the reason of `signal` where it is
 * aborted after a slice.
 */
export async function runYielding<T>(
  steps: Iterator<unknown, T>,
  signal?: AbortSignal,
  maybeYield = createYielder(),
): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const pause = maybeYield();
    if (!pause) continue;
    await pause;
    signal?.throwIfAborted();
  }
}

/** The same as `all.map(map)`; may yield after each. */
export async function mapYielding<From, To>(all: readonly From[], map: (one: From, i: number) => To): Promise<To[]> {
  const maybeYield = createYielder();
  const mapped: To[] = [];
  for (const [i, one] of all.entries()) {
    mapped.push(map(one, i));
    const pause = maybeYield();
    if (pause) await pause;
  }
  return mapped;
}

/** Calls while `work` runs share one more run, which begins after them: so no number of callers adds up to more work. */
export function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = () => {
    next = undefined;
    const result = work();
    running = result.catch(() => {});
    return result;
  };
  return () => {
    next ??= running.then(begin);
    return next;
  };
}

/** Characters of a chunk. */
export const CHUNK = 64 * 1024;

/** Joins pieces of text to chunks of about 64 KiB and may yield after each piece, also an empty one. */
export async function* inChunks(pieces: Iterable<string>, maybeYield = createYielder()): AsyncGenerator<string, void> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length >= CHUNK) {
      yield chunk;
      chunk = "";
    }
    await maybeYield();
  }
  if (chunk !== "") yield chunk;
}

/** Joins pieces of text outside of the heap; yields after each. */
export function* bytesOf(pieces: Iterable<string>): Generator<void, Buffer> {
  const chunks: Buffer[] = [];
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length >= CHUNK) {
      chunks.push(Buffer.from(chunk));
      chunk = "";
    }
    yield;
  }
  return Buffer.concat([...chunks, Buffer.from(chunk)]);
}

/** The rows as one JSON list, a row per piece. */
export function* jsonList(rows: Iterable<unknown>): Generator<string, void> {
  let before = "[";
  for (const row of rows) {
    yield before + JSON.stringify(row);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
