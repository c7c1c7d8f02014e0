/** Makes the timers and the monotonic clock of Node those of a virtual time. `setImmediate` stays as it is. */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { VirtualTime, VirtualTimer } from "./virtual-time.ts";

/** A timer as Node gives them: `unref` and `clearTimeout` work, nothing else is used. */
class Handle {
  readonly #time: VirtualTime;
  readonly #again: number | undefined;
  #timer: VirtualTimer | undefined;

  constructor(time: VirtualTime, ms: number, run: () => void, repeats: boolean) {
    this.#time = time;
    this.#again = repeats ? ms : undefined;
    this.#set(ms, run);
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  cancel(): void {
    if (this.#timer) this.#time.cancel(this.#timer);
    this.#timer = undefined;
  }

  #set(ms: number, run: () => void): void {
    this.#timer = this.#time.after(ms, () => {
      this.#timer = undefined;
      if (this.#again !== undefined) this.#set(this.#again, run);
      run();
    });
  }
}

interface Options {
  /** Intervals are this long at least, ms: what looks for lost work once a second need not do so in a model. */
  readonly leastIntervalMs: number;
}

/** Gives the function that puts Node's timers back. Connections must have been opened before. */
export function installVirtualTimers(time: VirtualTime, { leastIntervalMs }: Options): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    clearTimeout: globalThis.clearTimeout,
    clearInterval: globalThis.clearInterval,
  };
  const realSleep = timersPromises.setTimeout;
  const realElapsed = performance.now;
  const { scryptSync } = crypto;
  type Callback = (...args: unknown[]) => void;
  const set =
    (repeats: boolean) =>
    (run: Callback, ms = 0, ...args: unknown[]) =>
      new Handle(time, repeats ? Math.max(ms, leastIntervalMs) : ms, () => run(...args), repeats);
  const clear = (clearReal: (timer: never) => void) => (timer: unknown) => {
    if (timer instanceof Handle) timer.cancel();
    else clearReal(timer as never);
  };
  Object.assign(globalThis, {
    setTimeout: set(false),
    setInterval: set(true),
    clearTimeout: clear(real.clearTimeout),
    clearInterval: clear(real.clearInterval),
  });
  Object.assign(timersPromises, { setTimeout: sleepIn(time) });
  Object.assign(performance, { now: () => time.now() });
  Object.assign(crypto, { scryptSync: quickHash });
  syncBuiltinESMExports();
  return () => {
    Object.assign(globalThis, real);
    Object.assign(timersPromises, { setTimeout: realSleep });
    Object.assign(performance, { now: realElapsed });
    Object.assign(crypto, { scryptSync });
    syncBuiltinESMExports();
  };
}

function sleepIn(time: VirtualTime) {
  return <T>(ms = 0, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T | undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    if (signal?.aborted) return Promise.reject(signal.reason);
    const timer = time.after(ms, () => resolve(value));
    signal?.addEventListener("abort", () => {
      time.cancel(timer);
      reject(signal.reason);
    });
    return promise;
  };
}

/** A configuration's hash is deliberately slow: a tenth of a second at each of a run's starts and reloads. */
function quickHash(text: string, salt: string, length: number): Buffer {
  return crypto.createHash("sha512").update(salt).update(text).digest().subarray(0, length);
}
