import { expect, test } from "vitest";
import { byWeek } from "../../src/backtest/tally.ts";
import { DAY, HOUR, MONDAY } from "./histories.ts";

test.each([
  ["2021-01-03T23:59:59Z", "2020-W53"],
  ["2021-01-04T00:00:00Z", "2021-W01"],
  ["2024-12-29T12:00:00Z", "2024-W52"],
  ["2024-12-30T00:00:00Z", "2025-W01"],
  ["2027-01-03T12:00:00Z", "2026-W53"],
])("weeks are those of ISO 8601, also around new year: %s is in %s", (text, week) => {
  const from = Date.parse(text);
  expect([...byWeek({ from, to: from + 1 })]).toEqual([{ week, ms: 1 }]);
});

test("a span is split at Mondays, and nothing of it is lost", () => {
  expect([...byWeek({ from: MONDAY - 2 * HOUR, to: MONDAY + 8 * DAY })]).toEqual([
    { week: "2026-W36", ms: 2 * HOUR },
    { week: "2026-W37", ms: 7 * DAY },
    { week: "2026-W38", ms: DAY },
  ]);
  expect([...byWeek({ from: MONDAY, to: MONDAY + 7 * DAY })]).toEqual([{ week: "2026-W37", ms: 7 * DAY }]);
});
