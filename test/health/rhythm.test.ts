import fc from "fast-check";
import { expect, test } from "vitest";
import { keptIntervalMs, lateMs } from "../../src/health/rhythm.ts";
import { statusOf } from "../../src/health/shard-state.ts";
import { storedAgain } from "../support/shard-hash.ts";
import { INTERVAL, locationRule, MINUTE, offlineRule, Story } from "./shard-history.ts";

const OFFLINE = { a: "offline", b: "offline" } as const;
const gapMs = fc.integer({ min: 1_000, max: 10 * MINUTE });
const forMs = fc.integer({ min: 0, max: 30 * MINUTE });

/** Sweeps so far apart until something fires; how long after the first sweep it did, ms. */
function firesAfter(story: Story, gap: () => number): number | undefined {
  const from = story.now;
  for (let i = 0; i < 2_000; i++) {
    if (story.sweep(OFFLINE, {}, gap()).some((moved) => moved.startsWith("firing"))) return story.now - from;
    story.state = storedAgain(story.state);
  }
  return undefined;
}

test("whatever the unbroken rhythm of its sweeps up to ten minutes, an outage fires, a few sweeps late at most", () => {
  fc.assert(
    fc.property(gapMs, forMs, fc.constantFrom(offlineRule, locationRule), (gap, ms, ruleOf) => {
      const story = new Story(ruleOf({ forMs: ms }));
      story.unbroken = true;
      const took = firesAfter(story, () => gap);
      expect(took).toBeGreaterThanOrEqual(ms);
      expect(took).toBeLessThanOrEqual(ms + 4 * gap);
    }),
  );
});

test("a rhythm that varies by half counts as well", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 12 }),
      fc.infiniteStream(fc.double({ min: 1, max: 1.5, noNaN: true })),
      (n, s) => {
        const story = new Story(offlineRule({ forMs: 20 * MINUTE }));
        story.unbroken = true;
        expect(firesAfter(story, () => n * INTERVAL * s.next().value)).toBeLessThanOrEqual(
          20 * MINUTE + 6 * n * INTERVAL,
        );
      },
    ),
  );
});

test("two long gaps in a row count nothing, and neither do those with a start in them, however many", () => {
  fc.assert(
    fc.property(fc.integer({ min: 3 * INTERVAL + 1, max: 600 * MINUTE }), fc.boolean(), (gap, starts) => {
      const story = new Story(offlineRule({ forMs: 20 * INTERVAL }));
      story.unbroken = true;
      story.sweep({ a: "online" });
      for (let i = 0; i < 6; i++) story.sweep({ a: "offline" });
      const before = story.alertState("a", "RecordingOffline")?.elapsedMs;
      story.unbroken = !starts;
      for (let i = 0; i < (starts ? 9 : 2); i++) expect(story.sweep({ a: "offline" }, {}, gap)).toEqual([]);
      expect(story.alertState("a", "RecordingOffline")?.elapsedMs).toBe(before);
    }),
  );
});

test.each([
  [[4, 1], 5],
  [[4, 4, 1], 5],
  [[6, 1, 1], 8],
])("slow and quick in turns of %j intervals, an outage of a rule for two minutes fires within %d", (turns, minutes) => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
  story.unbroken = true;
  for (let i = 0; i < 12; i++) story.sweep({ a: "online" }, {}, (turns[i % turns.length] ?? 1) * INTERVAL);
  const began = story.now;
  for (let i = 0; story.sweep({ a: "offline" }, {}, (turns[i % turns.length] ?? 1) * INTERVAL).length === 0; i++);
  expect(story.now - began).toBeLessThanOrEqual(minutes * MINUTE);
});

test("readings are late while more than one of the last gaps was, whatever the others are", () => {
  const late = (...gaps: number[]) =>
    lateMs(
      gaps.map((gap) => gap * INTERVAL),
      INTERVAL,
    );
  expect([late(), late(9), late(1, 1, 99, 1, 1), late(3, 3, 3, 3, 3)]).toEqual(Array(4).fill(undefined));
  expect([late(4, 4), late(4, 1, 1, 1, 9), late(1, 4, 1, 4, 1)]).toEqual(Array(3).fill(4 * INTERVAL));
});

test("a recording of a slow rhythm is not unknown between two of its sweeps, and is once they stop", () => {
  const story = new Story();
  story.unbroken = true;
  for (let i = 0; i < 5; i++) story.sweep({ a: "online" }, {}, 3 * MINUTE);
  const statusAfter = (ms: number) => {
    const now = story.now + ms;
    const fleetInterval = keptIntervalMs([story.state], { now, intervalMs: INTERVAL });
    return story.state.recordings
      .values()
      .map((state) => statusOf(state, { now, statusIntervalMs: fleetInterval }))
      .toArray();
  };
  expect(statusAfter(3 * MINUTE)).toEqual(["online"]);
  expect(statusAfter(10 * MINUTE + 1)).toEqual(["unknown"]);
});
