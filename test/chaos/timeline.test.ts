import { describe, expect, it } from "vitest";
import {
  confirmed,
  countedAnswers,
  outagesOf,
  seenMs,
  timeInside,
  timeOutside,
  unsureTimes,
} from "../../bench/chaos/timeline.ts";

describe("the ledger of outages", () => {
  it("an outage lasts from the first change to offline to the next change, or to the end", () => {
    const change = (at: number, status: string) => ({ at, recordingId: "c1", status });
    const ledger = [change(10, "offline"), change(20, "degraded"), change(30, "online"), change(40, "offline")];
    expect(outagesOf(ledger, 50).get("c1")).toEqual([
      { from: 10, to: 20 },
      { from: 40, to: 50 },
    ]);
  });

  it("counts as read only by certain answers: none around a fault or just before a kill", () => {
    const unsure = unsureTimes(
      [
        { from: 5_000, to: 6_000 },
        { from: 5_800, to: 7_000 },
      ],
      [2_000, 9_000],
    );
    expect(unsure).toEqual([
      { from: 1_500, to: 2_000 },
      { from: 4_500, to: 7_000 },
      { from: 8_500, to: 9_000 },
    ]);
    const answers = [1_000, 1_600, 2_001, 3_000, 4_600, 5_500, 6_900, 7_001, 8_000, 8_600, 9_500];
    expect(countedAnswers(answers, unsure)).toEqual([1_000, 2_001, 3_000, 7_001, 8_000, 9_500]);
    expect(countedAnswers(answers, [])).toEqual(answers);
  });

  it("counts as read only where evaluated", () => {
    expect(confirmed([1_000, 2_000, 5_000, 9_000], [1_200, 3_400, 7_400])).toEqual([1_000, 2_000]);
    expect(confirmed([1_000, 4_000, 9_000], [1_200, 3_400, 7_600])).toEqual([1_000, 4_000, 9_000]);
  });

  it("counts as lasting only where answers are close enough", () => {
    expect(seenMs([1_000, 2_000, 6_000, 7_000, 9_000], { from: 500, to: 8_000 }, 3_000)).toBe(2_000);
  });

  it("is measured inside and outside other spans", () => {
    const spans = [
      { from: 10, to: 20 },
      { from: 30, to: 40 },
    ];
    expect([timeInside(spans, 15, 35), timeOutside(spans, 15, 35), timeInside(spans, 50, 60)]).toEqual([10, 10, 0]);
  });
});
