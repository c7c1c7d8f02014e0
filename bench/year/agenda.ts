/** What happens next on the accelerated clock: entries in order of time, then of rank, then of entry. */
import type { Clock, Instant } from "../../src/lib/clock.ts";

interface Entry {
  readonly at: Instant;
  readonly rank: number;
  readonly order: number;
  readonly run: () => Promise<void> | void;
}

export class Agenda implements Clock {
  readonly #heap: Entry[] = [];
  #now: Instant;
  #order = 0;

  constructor(now: Instant) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now;
  }

  add(at: Instant, rank: number, run: Entry["run"]): void {
    const heap = this.#heap;
    let i = heap.push({ at: Math.max(at, this.#now), rank, order: this.#order++, run }) - 1;
    for (let up = (i - 1) >> 1; i > 0 && isBefore(heap[i], heap[up]); i = up, up = (i - 1) >> 1) this.#swap(i, up);
  }

  /** Runs everything until then, one after the other. */
  async runUntil(end: Instant): Promise<void> {
    for (let next = this.#heap[0]; next && next.at <= end; next = this.#heap[0]) {
      this.#removeFirst();
      this.#now = next.at;
      const running = next.run();
      if (running) await running;
    }
    this.#now = end;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (heap.length === 0 || !last) return;
    heap[0] = last;
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let least = isBefore(heap[left], heap[i]) ? left : i;
      if (isBefore(heap[right], heap[least])) least = right;
      if (least === i) return;
      this.#swap(i, least);
      i = least;
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    [heap[a], heap[b]] = [heap[b] as Entry, heap[a] as Entry];
  }
}

function isBefore(a: Entry | undefined, b: Entry | undefined): boolean {
  if (!a || !b) return false;
  return a.at - b.at < 0 || (a.at === b.at && (a.rank < b.rank || (a.rank === b.rank && a.order < b.order)));
}
