/**
 * Work at intervals, by one timer. Each tick has a phase of its interval, and no two runs at once. The next run comes
 * within an interval and a quarter whatever the clock shows meanwhile; runs that were missed are not made up for.
 */
import type { Clock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

export interface Tick {
  readonly key: string;
  readonly everyMs: number;
  /** After each multiple of the interval. */
  readonly offsetMs: number;
  /** Ends by a deadline of its own, and soon once the signal is aborted. */
  run(signal: AbortSignal): Promise<unknown>;
}

interface Scheduled {
  readonly tick: Tick;
  /** Aborted when the tick is taken away. */
  readonly stop: AbortController;
  /** By the monotonic clock. */
  dueAt: number;
}

/** No run sooner than this share of the interval after the last one: the clock may stand still. */
const LEAST_SHARE = 1 / 4;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Ticker {
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  readonly #ticks = new Map<string, Scheduled>();
  readonly #runs = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#deps = deps;
  }

  /**
   * Replaces the ticks: those with a known key go on as they were. Gives the new ones; one of which a run that was aborted
   * has not ended yet becomes new in a later call.
   */
  set(ticks: readonly Tick[]): readonly Tick[] {
    if (this.#isStopped) return [];
    const keys = new Set(ticks.map(({ key }) => key));
    for (const [key, { stop }] of this.#ticks) {
      if (keys.has(key)) continue;
      this.#ticks.delete(key);
      stop.abort();
    }
    const added = ticks.filter(({ key }) => !this.#ticks.has(key) && !this.#runs.has(key));
    const now = performance.now();
    for (const tick of added)
      this.#ticks.set(tick.key, { tick, stop: new AbortController(), dueAt: now + this.#untilNext(tick) });
    this.#arm();
    return added;
  }

  /** Runs a tick now, unless it is running. */
  begin(key: string): void {
    const scheduled = this.#ticks.get(key);
    if (!scheduled || this.#runs.has(key)) return;
    const { tick, stop } = scheduled;
    const run = tick.run(stop.signal).catch((thrown: unknown) => {
      if (stop.signal.aborted) return;
      this.#deps.log.error({ err: toError(thrown), tick: key }, "tick failed, the next one tries again");
    });
    this.#runs.set(
      key,
      run.then(() => void this.#runs.delete(key)),
    );
  }

  /** Begins nothing from now on; resolves when what is running has ended. */
  async stop(): Promise<void> {
    this.set([]);
    this.#isStopped = true;
    await Promise.all(this.#runs.values());
  }

  #untilNext({ everyMs, offsetMs }: Tick): number {
    const now = this.#deps.clock.now() - offsetMs;
    return everyMs * (Math.floor(now / everyMs) + 1) - now;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    let next = Infinity;
    for (const { dueAt } of this.#ticks.values()) next = Math.min(next, dueAt);
    if (next === Infinity) return;
    this.#timer = setTimeout(() => this.#runDue(), Math.min(LONGEST_TIMER_MS, Math.max(1, next - performance.now())));
  }

  #runDue(): void {
    const now = performance.now();
    for (const scheduled of this.#ticks.values()) {
      const { tick, dueAt } = scheduled;
      if (dueAt > now) continue;
      const waitMs = this.#untilNext(tick);
      scheduled.dueAt = now + (waitMs < LEAST_SHARE * tick.everyMs ? waitMs + tick.everyMs : waitMs);
      this.begin(tick.key);
    }
    this.#arm();
  }
}
