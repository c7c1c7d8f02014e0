import fc from "fast-check";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Tick, Ticker } from "../../src/cluster/ticker.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { T0 } from "../store/fixtures.ts";

beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterAll(() => void vi.useRealTimers());

/** A ticker whose clock can be moved, and the times at which its ticks began, by the monotonic clock and by its own. */
function tickerOf() {
  const clock = { ahead: 0, now: () => T0 + Math.round(performance.now() + clock.ahead) };
  const ticker = new Ticker({ clock, log: silentLogger });
  const began: { key: string; at: number; wall: number }[] = [];
  const tick = (key: string, everyMs: number, offsetMs = 0, run: Tick["run"] = async () => {}): Tick => ({
    ...{ key, everyMs, offsetMs },
    run(signal) {
      began.push({ key, at: performance.now(), wall: clock.now() });
      return run(signal);
    },
  });
  return { clock, ticker, tick, began, passes: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

it("each tick has its phase of the interval", async () => {
  const { ticker, tick, began, passes } = tickerOf();
  ticker.set([tick("a", 1_000), tick("b", 1_000, 250), tick("c", 3_000, 2_000)]);
  await passes(9_000);
  const phases = Map.groupBy(began, ({ key }) => key);
  expect([...phases].map(([key, all]) => [key, all.length])).toEqual(
    expect.arrayContaining([
      ["a", 9],
      ["b", 9],
      ["c", 3],
    ]),
  );
  expect(new Set(phases.get("a")?.map(({ wall }) => wall % 1_000))).toEqual(new Set([0]));
  expect(new Set(phases.get("b")?.map(({ wall }) => wall % 1_000))).toEqual(new Set([250]));
  expect(new Set(phases.get("c")?.map(({ wall }) => (wall - 2_000) % 3_000))).toEqual(new Set([0]));
  await ticker.stop();
});

it("a tick that is taken away is aborted, and comes again as a new one once its run has ended", async () => {
  const { ticker, tick, began, passes } = tickerOf();
  const end = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const slow = tick("a", 1_000, 0, (signal) => {
    signals.push(signal);
    return end.promise;
  });
  expect(ticker.set([slow])).toEqual([slow]);
  expect(ticker.set([slow]), "it goes on").toEqual([]);
  await passes(5_000);
  expect(began).toHaveLength(1);
  ticker.set([]);
  expect(signals[0]?.aborted).toBe(true);
  expect(ticker.set([slow])).toEqual([]);
  end.resolve();
  await passes(0);
  expect(ticker.set([slow])).toEqual([slow]);
  ticker.begin("a");
  expect(signals[1]?.aborted).toBe(false);
  await ticker.stop();
  expect(ticker.set([slow])).toEqual([]);
  await passes(5_000);
  expect(began).toHaveLength(2);
});

it("a stop waits for what is running; a run that fails is followed by the next", async () => {
  const { ticker, tick, began, passes } = tickerOf();
  const end = Promise.withResolvers<void>();
  const fails = tick("fails", 1_000, 0, () => Promise.reject(new Error("Redis is away")));
  ticker.set([fails, tick("slow", 1_000, 0, () => end.promise)]);
  await passes(3_000);
  expect(began.filter(({ key }) => key === "fails")).toHaveLength(3);
  let isStopped = false;
  const stopped = ticker.stop().then(() => {
    isStopped = true;
  });
  await passes(1_000);
  expect(isStopped).toBe(false);
  end.resolve();
  await stopped;
});

const EVERY = 1_000;
/** After a while the clock steps, stands still or steps back all the time; or the process stalls: all timers are late. */
const event = fc.record({
  afterMs: fc.integer({ min: 0, max: 3 * EVERY }),
  what: fc.constantFrom("steps", "stands still", "stalls"),
  ms: fc.integer({ min: -5 * EVERY, max: 5 * EVERY }),
});

it("whatever the clock shows, the next run comes within an interval and a quarter, and none beside another", async () => {
  const elapsed = performance.now.bind(performance);
  let stalledMs = 0;
  const monotonic = vi.spyOn(performance, "now").mockImplementation(() => elapsed() + stalledMs);
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 12 }),
      fc.nat(2 * EVERY),
      fc.nat(EVERY),
      async (events, lasts, offset) => {
        const { clock, ticker, tick, began, passes } = tickerOf();
        let running = 0;
        const times = [elapsed()];
        const work = async () => {
          times.push(elapsed());
          expect(++running).toBe(1);
          await new Promise((resolve) => setTimeout(resolve, lasts));
          running--;
        };
        ticker.set([tick("a", EVERY, offset, work)]);
        for (const { afterMs, what, ms } of events) {
          await passes(afterMs);
          if (what === "steps") clock.ahead += ms;
          if (what === "stalls") stalledMs += Math.abs(ms);
          for (let i = 0; what === "stands still" && i < Math.abs(ms); i += 50) {
            await passes(50);
            clock.ahead -= 50;
          }
        }
        await passes(4 * EVERY);
        times.push(elapsed());
        const gaps = (all: readonly number[]) => all.slice(1).map((time, i) => time - (all[i] ?? 0));
        expect(Math.max(...gaps(times))).toBeLessThanOrEqual(lasts + 1.25 * EVERY + 2);
        expect(Math.min(...gaps(began.map(({ at }) => at)), EVERY)).toBeGreaterThanOrEqual(EVERY / 4 - 2);
        const stopped = ticker.stop();
        await passes(lasts);
        await stopped;
      },
    ),
    { numRuns: 100 },
  );
  monotonic.mockRestore();
});
