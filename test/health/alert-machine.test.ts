import { describe, expect, test } from "vitest";
import { type Progress, step, type Timing } from "../../src/health/alert-machine.ts";

const timing = (now: number, more: Partial<Timing> = {}): Timing => ({
  now,
  maxGapMs: 90_000,
  forMs: 60_000,
  keepFiringForMs: 60_000,
  ...more,
});
const pending = (elapsedMs: number, evidenceAt: number): Progress => ({
  state: "pending",
  elapsedMs,
  evidenceAt,
  firedAt: 0,
});
const firing = (elapsedMs: number, evidenceAt: number): Progress => ({
  state: "firing",
  elapsedMs,
  evidenceAt,
  firedAt: 1_000,
});

describe("one step of an alert", () => {
  const rows: [string, Progress | undefined, boolean | undefined, Timing, object][] = [
    ["nothing stays nothing without evidence", undefined, undefined, timing(5), { outcome: "inactive" }],
    ["nothing stays nothing while the condition does not hold", undefined, false, timing(5), { outcome: "inactive" }],
    [
      "the first evidence has held for no time at all",
      undefined,
      true,
      timing(5),
      { outcome: "pending", progress: pending(0, 5) },
    ],
    [
      "for: 0s fires at once",
      undefined,
      true,
      timing(5, { forMs: 0 }),
      { outcome: "firing", progress: { ...firing(0, 5), firedAt: 5 } },
    ],
    [
      "time between two pieces of evidence adds up",
      pending(10_000, 100_000),
      true,
      timing(130_000),
      { outcome: "holding", progress: pending(40_000, 130_000) },
    ],
    [
      "exactly `for` is enough",
      pending(30_000, 100_000),
      true,
      timing(130_000),
      { outcome: "firing", progress: { ...firing(0, 130_000), firedAt: 130_000 } },
    ],
    [
      "a gap of exactly three intervals counts",
      pending(0, 100_000),
      true,
      timing(190_000, { forMs: 100_000 }),
      { outcome: "holding", progress: pending(90_000, 190_000) },
    ],
    [
      "a longer gap adds nothing, and takes nothing away",
      pending(50_000, 100_000),
      true,
      timing(190_001),
      { outcome: "holding", progress: pending(50_000, 190_001) },
    ],
    [
      "pending ends at the first evidence against it",
      pending(50_000, 1),
      false,
      timing(5),
      { outcome: "pending_ended" },
    ],
    ["pending waits while nobody can tell", pending(50_000, 1), undefined, timing(5), { outcome: "unchanged" }],
    ["firing waits while nobody can tell", firing(50_000, 1), undefined, timing(5), { outcome: "unchanged" }],
    [
      "firing goes on while the condition holds",
      firing(0, 1),
      true,
      timing(30_001),
      { outcome: "holding", progress: firing(0, 1) },
    ],
    [
      "keep_firing_for 0 resolves at once",
      firing(0, 1),
      false,
      timing(30_001, { keepFiringForMs: 0 }),
      { outcome: "resolved", elapsedMs: 0 },
    ],
    [
      "the first evidence against it only starts keep_firing_for",
      firing(0, 1),
      false,
      timing(90_000),
      { outcome: "clearing", progress: firing(1, 90_000) },
    ],
    [
      "keep_firing_for adds up",
      firing(1, 100_000),
      false,
      timing(130_000),
      { outcome: "holding", progress: firing(30_001, 130_000) },
    ],
    [
      "exactly keep_firing_for is enough, and says when it was over",
      firing(30_001, 100_000),
      false,
      timing(130_000),
      { outcome: "resolved", elapsedMs: 60_000 },
    ],
    [
      "a millisecond less is not",
      firing(30_000, 100_000),
      false,
      timing(130_000),
      { outcome: "holding", progress: firing(60_000, 130_000) },
    ],
    [
      "a blind gap does not count towards keep_firing_for",
      firing(30_001, 100_000),
      false,
      timing(300_000),
      { outcome: "holding", progress: firing(30_001, 300_000) },
    ],
    [
      "holding again starts keep_firing_for over",
      firing(30_001, 100_000),
      true,
      timing(130_000),
      { outcome: "clearing_ended", progress: firing(0, 130_000) },
    ],
    [
      "a clock that stands still adds nothing",
      pending(10, 100_000),
      true,
      timing(99_000),
      { outcome: "holding", progress: pending(10, 99_000) },
    ],
  ];
  test.each(rows)("%s", (_, previous, evidence, at, expected) => {
    expect(step(previous, evidence, at)).toEqual(expected);
  });
});
