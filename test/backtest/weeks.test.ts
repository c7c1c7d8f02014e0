import { DateTime } from "luxon";
import { expect, test } from "vitest";
import { byWeek, weekOf } from "../../src/backtest/weeks.ts";
import { DAY, HOUR, MONDAY } from "./histories.ts";

test("weeks are those of ISO 8601, also around new year", () => {
  const first = Date.parse("2019-12-20T12:00:00Z");
  for (let at = first; at < first + 9 * 366 * DAY; at += DAY) {
    expect(weekOf(at)).toBe(DateTime.fromMillis(at, { zone: "utc" }).toFormat("kkkk-'W'WW"));
  }
});

test("a span is split at Mondays, and nothing of it is lost", () => {
  expect([...byWeek({ from: MONDAY - 2 * HOUR, to: MONDAY + 8 * DAY })]).toEqual([
    { week: "2026-W36", ms: 2 * HOUR },
    { week: "2026-W37", ms: 7 * DAY },
    { week: "2026-W38", ms: DAY },
  ]);
  expect([...byWeek({ from: MONDAY, to: MONDAY + 7 * DAY })]).toEqual([{ week: "2026-W37", ms: 7 * DAY }]);
});
