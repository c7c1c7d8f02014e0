import { expect, test } from "vitest";
import { configOf, listProblems, receivers, service } from "./text.ts";

const smallest = service + receivers;

test("closed days are weekdays and dates, a visit is worth an amount of a currency", () => {
  const text = `${smallest}counts:
  interval: 30m
  closed_days:
    - days: [Sunday, 2026-12-25]
      matchers: location_id=leeds
  value_per_visit: 12.50
  currency: EUR
`;
  const { counts } = configOf(text);
  expect(counts).toMatchObject({ intervalMs: 1_800_000, valuePerVisit: 12.5, currency: "EUR" });
  expect(counts.closedDays).toMatchObject([{ days: ["sunday", "2026-12-25"], matchers: [{ name: "location_id" }] }]);
});

test.each([
  ["closed_days: [{ days: sundays }]", "a weekday"],
  ['closed_days: ["2026-12-25"]', "a mapping such as { days: [sunday, 2026-12-25] }"],
  ["closed_days: sunday", "a list such as [{ days: [sunday, 2026-12-25] }]"],
  ["closed_days: [{ days: 2026-02-30 }]", "a weekday"],
  ["value_per_visit: 3", "a currency beside the value_per_visit"],
  ["currency: EUR", "a value_per_visit beside the currency"],
  ["{ value_per_visit: -3, currency: EUR }", "an amount"],
  ["{ value_per_visit: 3, currency: euro }", "three capital letters"],
  ["interval: 1m", "from 10m to 1h"],
])("counts with %s is refused", (text, problem) => {
  const problems = listProblems(`${smallest}counts: ${text.startsWith("{") ? text : `{ ${text} }`}\n`);
  expect(JSON.stringify(problems)).toContain(problem);
});
