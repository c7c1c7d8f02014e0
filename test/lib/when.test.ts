import { describe, expect, it } from "vitest";
import { span, timesSeenAt } from "../../src/lib/when.ts";

const at = (iso: string) => Date.parse(iso);

describe("a time", () => {
  it.each([
    { told: "14:05 GMT", when: "2026-11-20T14:05Z", zone: "Europe/London", why: "today is not said" },
    { told: "Thu 19 Nov 22:10 GMT", when: "2026-11-19T22:10Z", zone: "Europe/London", why: "another day is" },
    { told: "31 Dec 2025 23:59 GMT", when: "2025-12-31T23:59Z", zone: "Europe/London", why: "and another year" },
    { told: "15:05 CET", when: "2026-11-20T14:05Z", zone: "Europe/Berlin", why: "in the zone of the place" },
    { told: "09:05 EST", when: "2026-11-20T14:05Z", zone: "America/New_York", why: "by the name used there" },
    { told: "01:05 AEDT", when: "2026-11-20T14:05Z", zone: "Australia/Sydney", why: "today as it is there" },
    { told: "22:05 UTC+8", when: "2026-11-20T14:05Z", zone: "Asia/Singapore", why: "or by its offset" },
    { told: "14:05 UTC", when: "2026-11-20T14:05Z", zone: "Mars/Olympus", why: "UTC where the zone is none" },
  ])("reads $told: $why", ({ told, when, zone }) => {
    expect(timesSeenAt(at("2026-11-20T14:17Z")).at(at(when), zone)).toBe(told);
  });

  it("names summer time in summer", () => {
    expect(timesSeenAt(at("2026-07-01T14:00Z")).at(at("2026-07-01T13:05Z"), "Europe/London")).toBe("14:05 BST");
  });
});

describe("a time for a reader in London", () => {
  it.each([
    { told: "14:05 GMT", zone: "Europe/London", why: "of a shop with the same clock" },
    { told: "14:05 GMT", zone: "UTC", why: "of no shop" },
    { told: "14:05 GMT (09:05 EST)", zone: "America/New_York", why: "with the time at the shop" },
    { told: "14:05 GMT (Sat 01:05 AEDT)", zone: "Australia/Sydney", why: "with the day where it is another one there" },
  ])("reads $told: $why", ({ told, zone }) => {
    const times = timesSeenAt(at("2026-11-20T14:17Z"), "Europe/London");
    expect(times.at(at("2026-11-20T14:05Z"), zone)).toBe(told);
    expect(times.zoneFor(zone)).toBe("Europe/London");
    expect(times.between(at("2026-11-20T14:05Z"), at("2026-11-20T14:09Z"), zone)).toBe("14:05–14:09 GMT");
  });
});

it("a time of no shop has no brackets, whatever the reader's clock", () => {
  expect(timesSeenAt(at("2026-11-20T14:17Z"), "Europe/Berlin").at(at("2026-11-20T14:05Z"), "UTC")).toBe("15:05 CET");
});

describe("a range of times", () => {
  const range = (from: string, to: string) =>
    timesSeenAt(at("2026-10-25T12:00Z")).between(at(from), at(to), "Europe/London");

  it("has the zone once and no day for times of today", () => {
    expect(range("2026-10-25T09:05Z", "2026-10-25T09:17Z")).toBe("09:05–09:17 GMT");
  });

  it("has both days across midnight", () => {
    expect(range("2026-10-23T22:05Z", "2026-10-24T01:17Z")).toBe("Fri 23 Oct 23:05–Sat 24 Oct 02:17 BST");
    expect(range("2026-10-24T22:05Z", "2026-10-25T00:17Z")).toBe("Sat 24 Oct 23:05–today 01:17 BST");
  });

  it("has the day once for another day", () => {
    expect(range("2026-10-24T09:05Z", "2026-10-24T09:17Z")).toBe("Sat 24 Oct 10:05–10:17 BST");
  });

  it("has both zones when the clocks changed in between: 01:30 comes before 01:10", () => {
    expect(range("2026-10-25T00:30Z", "2026-10-25T01:10Z")).toBe("01:30 BST–01:10 GMT");
  });

  it("never runs backwards", () => {
    expect(range("2026-10-25T09:17Z", "2026-10-25T09:05Z")).toBe("09:17:00–09:17:00 GMT");
  });
});

describe("a span", () => {
  it.each([
    [-5_000, "1 s"],
    [400, "1 s"],
    [95_000, "1 m 35 s"],
    [12 * 60_000 + 34_000, "12 m"],
    [4 * 3_600_000, "4 h"],
    [26 * 3_600_000 + 5_000, "1 d 2 h"],
  ])("of %i ms reads %s", (ms, told) => {
    expect(span(0, ms)).toBe(told);
  });
});
