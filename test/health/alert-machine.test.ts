import { expect, test } from "vitest";
import { type Progress, step } from "../../src/health/alert-machine.ts";

/**
 * `pending 10000 at 100000`: for how long it has been so, and the time of the last evidence, ms; `since 70000`: of one
 * that fires, since when its condition is not met.
 */
function progressOf(text: string): Progress | undefined {
  const [, state, elapsedMs, evidenceAt, clearingSince] =
    /^(pending|firing) (\d+) at (\d+)(?: since (\d+))?$/.exec(text) ?? [];
  if (state !== "pending" && state !== "firing") return undefined;
  const firedAt = state === "firing" ? 1_000 : 0;
  const cleared = clearingSince === undefined ? {} : { clearingSince: Number(clearingSince) };
  return { state, elapsedMs: Number(elapsedMs), evidenceAt: Number(evidenceAt), firedAt, ...cleared };
}

function shown(result: ReturnType<typeof step>, previous: Progress | undefined): string {
  if (!("progress" in result))
    return "clearingSince" in result ? `resolved since ${result.clearingSince}` : result.outcome;
  const { state, elapsedMs, evidenceAt, firedAt, clearingSince } = result.progress;
  const began = previous?.state === "firing" ? 1_000 : evidenceAt;
  expect(firedAt).toBe(state === "firing" ? began : 0);
  const since = clearingSince === undefined ? "" : ` since ${clearingSince}`;
  return `${result.outcome}: ${state} ${elapsedMs} at ${evidenceAt}${since}`;
}

const AT_ONCE = { forMs: 0, keepFiringForMs: 0 };

/** Rules with `for` and `keep_firing_for` of a minute, unless `times` says otherwise; three intervals are 90 s. */
const rows: [why: string, before: string, evidence: boolean | undefined, now: number, after: string, times?: object][] =
  [
    ["nothing stays nothing without evidence", "", undefined, 5, "inactive"],
    ["nothing stays nothing while the condition does not hold", "", false, 5, "inactive"],
    ["the first evidence has held for no time at all", "", true, 5, "pending: pending 0 at 5"],
    ["for: 0s fires at once", "", true, 5, "firing: firing 0 at 5", AT_ONCE],
    ["time between evidence adds up", "pending 10000 at 100000", true, 130_000, "holding: pending 40000 at 130000"],
    ["exactly `for` is enough", "pending 30000 at 100000", true, 130_000, "firing: firing 0 at 130000"],
    ["three intervals count", "pending 0 at 100000", true, 190_000, "holding: pending 90000 at 190000", { forMs: 1e5 }],
    ["a longer gap adds nothing", "pending 50000 at 100000", true, 190_001, "holding: pending 50000 at 190001"],
    ["pending ends at the first evidence against it", "pending 50000 at 1", false, 5, "pending_ended"],
    ["pending waits while nobody can tell", "pending 50000 at 1", undefined, 5, "unchanged"],
    ["firing waits while nobody can tell", "firing 50000 at 1", undefined, 5, "unchanged"],
    ["firing goes on while the condition holds", "firing 0 at 1", true, 30_001, "holding: firing 0 at 1"],
    ["keep_firing_for 0 resolves at once", "firing 0 at 1", false, 30_001, "resolved since 30001", AT_ONCE],
    [
      "evidence against it starts keep_firing_for",
      "firing 0 at 1",
      false,
      90_000,
      "clearing: firing 0 at 90000 since 90000",
    ],
    [
      "keep_firing_for adds up",
      "firing 0 at 100000 since 100000",
      false,
      130_000,
      "holding: firing 30000 at 130000 since 100000",
    ],
    ["exactly keep_firing_for is enough", "firing 30000 at 100000 since 70000", false, 130_000, "resolved since 70000"],
    [
      "a millisecond less is not",
      "firing 29999 at 100000 since 70001",
      false,
      130_000,
      "holding: firing 59999 at 130000 since 70001",
    ],
    [
      "a blind gap does not clear, and the end is before it",
      "firing 30000 at 100000 since 70000",
      false,
      300_000,
      "holding: firing 30000 at 300000 since 70000",
    ],
    [
      "holding again starts it over",
      "firing 30000 at 100000 since 70000",
      true,
      130_000,
      "clearing_ended: firing 0 at 130000",
    ],
    ["a clock that stands still adds nothing", "pending 10 at 100000", true, 99_000, "holding: pending 10 at 99000"],
  ];

test.each(rows)("%s", (_, before, evidence, now, after, times = {}) => {
  const previous = progressOf(before);
  const timing = { now, maxGapMs: 90_000, forMs: 60_000, keepFiringForMs: 60_000, ...times };
  expect(shown(step(previous, evidence, timing), previous)).toBe(after);
});
