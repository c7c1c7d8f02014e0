/** Time that passes only when the model lets it: timers in order, each run to its end before the next begins. */
import type { Clock, Instant } from "../../src/lib/clock.ts";

export interface VirtualTimer {
  readonly at: Instant;
  readonly run: () => void;
  /** Of two at one instant the one set first runs first. */
  readonly order: number;
}

export class VirtualTime implements Clock {
  #now: Instant;
  #order = 0;
  #finishing = false;
  readonly #heap: VirtualTimer[] = [];
  readonly #cancelled = new Set<VirtualTimer>();
  readonly #quiet: () => Promise<void>;

  /** `quiet` resolves once everything begun so far has ended or waits for a timer. */
  constructor(start: Instant, quiet: () => Promise<void>) {
    this.#now = start;
    this.#quiet = quiet;
  }

  now(): Instant {
    return this.#now;
  }

  /** Calls `run` after `ms`, never before the caller has ended. */
  after(ms: number, run: () => void): VirtualTimer {
    const wait = Number.isFinite(ms) ? Math.max(0, ms) : 0;
    const timer = { at: this.#now + Math.ceil(wait), run, order: this.#order++ };
    this.#push(timer);
    return timer;
  }

  cancel(timer: VirtualTimer): void {
    this.#cancelled.add(timer);
  }

  /** When the next timer is set for. */
  async next(): Promise<Instant | undefined> {
    await this.#quiet();
    return this.#first()?.at;
  }

  /** Runs every timer up to `end`, then it is `end`. */
  async runUntil(end: Instant): Promise<void> {
    for (;;) {
      await this.#quiet();
      const timer = this.#first();
      if (!timer || timer.at > end) break;
      this.#pop();
      this.#now = Math.max(this.#now, timer.at);
      timer.run();
    }
    this.#now = Math.max(this.#now, end);
  }

  /** Lets time pass until the work has ended, `mostMs` at most, and gives its result. Within another one, only waits. */
  async finish<T>(work: Promise<T>, mostMs: number): Promise<T> {
    if (this.#finishing) return work;
    this.#finishing = true;
    return this.#finish(work, mostMs).finally(() => {
      this.#finishing = false;
    });
  }

  async #finish<T>(work: Promise<T>, mostMs: number): Promise<T> {
    let ended = false;
    const mark = () => {
      ended = true;
    };
    work.then(mark, mark);
    const end = this.#now + mostMs;
    for (;;) {
      await this.#quiet();
      const at = this.#first()?.at;
      if (ended) return work;
      if (at === undefined || at > end) throw new Error(`not done within ${mostMs} ms of virtual time`);
      await this.runUntil(at);
    }
  }

  #first(): VirtualTimer | undefined {
    for (let first = this.#heap[0]; first && this.#cancelled.delete(first); first = this.#heap[0]) this.#pop();
    return this.#heap[0];
  }

  #push(timer: VirtualTimer): void {
    const heap = this.#heap;
    let i = heap.length;
    for (; i > 0; i = (i - 1) >> 1) {
      const parent = heap[(i - 1) >> 1] as VirtualTimer;
      if (isBefore(parent, timer)) break;
      heap[i] = parent;
    }
    heap[i] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left && right && isBefore(right, left)) child++;
      const smaller = heap[child];
      if (!smaller || isBefore(last, smaller)) break;
      heap[i] = smaller;
      i = child;
    }
    heap[i] = last;
  }
}

function isBefore(a: VirtualTimer, b: VirtualTimer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
