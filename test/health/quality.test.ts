import { describe, expect, test } from "vitest";
import { noteQuality, type QualityHistory, qualityHours } from "../../src/health/quality.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-01-31T12:20:00Z");

function noted(...readings: readonly (readonly [hoursAgo: number, quality: number | undefined])[]) {
  return readings.reduce<QualityHistory | undefined>(
    (history, [hoursAgo, quality]) => noteQuality(history, quality, NOW - hoursAgo * HOUR),
    undefined,
  );
}

function known(history: QualityHistory | undefined, now = NOW) {
  return history ? qualityHours(history, now).filter(({ quality }) => quality !== undefined) : [];
}

describe("the quality of a week", () => {
  test("is kept an hour each, to a hundredth or so", () => {
    const history = noted([3, 0.93], [2, 0.4], [0, 1]);
    const hours = known(history);
    expect(hours.map(({ at }) => (NOW - at) / HOUR).map(Math.floor)).toEqual([3, 2, 0]);
    for (const [i, quality] of [0.93, 0.4, 1].entries()) expect(hours[i]?.quality).toBeCloseTo(quality, 1.9);
    expect(qualityHours(history ?? { hour: 0, levels: "" }, NOW)).toHaveLength(168);
  });

  test("has the newest reading of each hour", () => {
    const first = noteQuality(undefined, 0.2, NOW);
    expect(known(noteQuality(first, 0.9, NOW + 60_000))[0]?.quality).toBeCloseTo(0.9, 1.9);
    expect(first?.levels).toHaveLength(1);
  });

  test("leaves hours nobody knows unknown, and stays as it was without a reading", () => {
    const history = noted([5, 0.5], [1, 0.7]);
    expect(history?.levels).toHaveLength(5);
    expect(known(history)).toHaveLength(2);
    expect(noteQuality(history, undefined, NOW)).toBe(history);
    expect(noteQuality(undefined, undefined, NOW)).toBeUndefined();
  });

  test("is no longer than a week, and is forgotten after one", () => {
    let history: QualityHistory | undefined;
    for (let i = 400; i >= 0; i--) history = noteQuality(history, 0.5, NOW - i * HOUR);
    expect(history?.levels).toHaveLength(168);
    expect(known(history)).toHaveLength(168);
    expect(known(history, NOW + 100 * HOUR)).toHaveLength(68);
    expect(history && qualityHours(history, NOW + 168 * HOUR)).toEqual([]);
    expect(known(noteQuality(history, 0.9, NOW + 500 * HOUR), NOW + 500 * HOUR)).toHaveLength(1);
  });

  test("stays where the clock went back, begins anew where that was by days, and keeps what is out of range within it", () => {
    const history = noted([0, 0.5]);
    expect(noteQuality(history, 2, NOW - 2 * HOUR)).toEqual(history);
    expect(noteQuality(history, 2, NOW - 26 * HOUR)?.levels).toHaveLength(1);
    expect(known(noteQuality(undefined, 2, NOW))[0]?.quality).toBe(1);
    expect(known(noteQuality(undefined, -1, NOW))[0]?.quality).toBe(0);
  });

  test("is written in characters that JSON leaves alone", () => {
    let history: QualityHistory | undefined;
    for (let i = 0; i <= 100; i++) history = noteQuality(history, i / 100, NOW + i * HOUR);
    expect(JSON.stringify(history?.levels)).toHaveLength(101 + 2);
    expect(history?.levels).not.toContain("-");
  });
});
