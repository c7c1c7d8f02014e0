import { expect, test } from "vitest";
import { createLocalHours, localDay } from "../../src/lib/local-hours.ts";

const HOUR_MS = 3_600_000;
const hours = createLocalHours();

test.each([
  ["2026-11-20T14:05:00Z", "Europe/London", 4 * 24 + 14, "2026-11-20T14", "14:00"],
  ["2026-11-20T14:05:00Z", "Asia/Kolkata", 4 * 24 + 19, "2026-11-20T19", "13:30"],
  ["2026-11-20T14:35:00Z", "Asia/Kolkata", 4 * 24 + 20, "2026-11-20T20", "14:30"],
  ["2026-11-16T00:00:00Z", "UTC", 0, "2026-11-16T00", "00:00"],
  ["2026-11-15T23:59:59Z", "UTC", 167, "2026-11-15T23", "23:00"],
  ["2026-11-16T02:00:00Z", "America/New_York", 6 * 24 + 21, "2026-11-15T21", "02:00"],
  ["2026-11-20T14:05:00Z", "Mars/Olympus", 4 * 24 + 14, "2026-11-20T14", "14:00"],
  ["2026-10-25T01:30:00Z", "Europe/London", 6 * 24 + 1, "2026-10-25T01", "01:00"],
])("%s in %s", (iso, zone, ofWeek, local, start) => {
  const localMs = Date.parse(`${local}:00Z`);
  const hour = { ofWeek, slot: localMs / HOUR_MS, startsAt: Date.parse(`${iso.slice(0, 11)}${start}Z`) };
  expect(hours.at(Date.parse(iso), zone)).toEqual(hour);
  expect(hours.at(Date.parse(iso), zone), "asked again").toEqual(hour);
  expect(new Date(localDay(hour.slot) * 24 * HOUR_MS).toISOString().slice(0, 10)).toBe(local.slice(0, 10));
});

test("two hours have the same slot where clocks go back, and one is missing where they go forward", () => {
  const slot = (iso: string) => hours.at(Date.parse(iso), "Europe/London").slot;
  expect(slot("2026-10-25T00:30:00Z")).toBe(slot("2026-10-25T01:30:00Z"));
  expect(slot("2026-03-29T01:00:00Z") - slot("2026-03-29T00:59:00Z")).toBe(2);
});
