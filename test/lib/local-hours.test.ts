import { expect, test } from "vitest";
import { createLocalHours } from "../../src/lib/local-hours.ts";

const hours = createLocalHours();

test.each([
  ["2026-11-20T14:05:00Z", "Europe/London", 4 * 24 + 14, 2026112014],
  ["2026-11-20T14:05:00Z", "Asia/Kolkata", 4 * 24 + 19, 2026112019],
  ["2026-11-20T14:35:00Z", "Asia/Kolkata", 4 * 24 + 20, 2026112020],
  ["2026-11-16T00:00:00Z", "UTC", 0, 2026111600],
  ["2026-11-15T23:59:59Z", "UTC", 167, 2026111523],
  ["2026-11-16T02:00:00Z", "America/New_York", 6 * 24 + 21, 2026111521],
  ["2026-11-20T14:05:00Z", "Mars/Olympus", 4 * 24 + 14, 2026112014],
])("%s in %s", (iso, zone, ofWeek, label) => {
  expect(hours.at(Date.parse(iso), zone)).toEqual({ ofWeek, label });
  expect(hours.at(Date.parse(iso), zone), "asked again").toEqual({ ofWeek, label });
});

test("two hours have the same label where clocks go back, and one is missing where they go forward", () => {
  const label = (iso: string) => hours.at(Date.parse(iso), "Europe/London").label;
  expect(label("2026-10-25T00:30:00Z")).toBe(label("2026-10-25T01:30:00Z"));
  expect(label("2026-03-29T01:00:00Z") - label("2026-03-29T00:59:00Z")).toBe(2);
});
