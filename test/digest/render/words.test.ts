import { describe, expect, test } from "vitest";
import { digestPeriod } from "../../../src/digest/period.ts";
import { nameAt, outageTimes } from "../../../src/digest/render/words.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, input } from "../fixtures.ts";

test.each([
  ["Leeds Briggate Tills", "Leeds Briggate", "Tills"],
  ["Leeds Briggate · Tills 2", "Leeds Briggate", "Tills 2"],
  ["Leeds Briggate: Tills", "Leeds Briggate", "Tills"],
  ["Leeds Briggate", "Leeds Briggate", "Leeds Briggate"],
  ["Leeds Briggate -", "Leeds Briggate", "Leeds Briggate -"],
  ["Leeds Briggates", "Leeds Briggate", "Leeds Briggates"],
  ["Tills", "Leeds Briggate", "Tills"],
  ["Tills", "", "Tills"],
])("a recording %j at %j reads %j", (name, locationName, expected) => {
  expect(nameAt({ name, id: "id-1" }, { locationName, locationId: "place-1" })).toBe(expected);
});

describe("the times of an outage", () => {
  const daily = computeDigest(input());
  const monday = at("2026-11-16T08:00:00Z");
  const weekly = computeDigest(input({ now: monday, period: digestPeriod("1w", monday, "Europe/London") }));
  const newYear = at("2027-01-01T08:00:00Z");
  const first = computeDigest(input({ now: newYear, period: digestPeriod("1d", newYear, "Europe/London") }));
  const tokyo = computeDigest(input({ timezone: "Asia/Tokyo" }));

  test.each([
    ["inside the day", daily, "14:05", "17:40", "14:05–17:40"],
    ["until midnight", daily, "23:00", "2026-11-20T00:00:00Z", "23:00–24:00"],
    ["into the next day", daily, "23:10", "2026-11-20T02:15:00Z", "23:10 – Fri 20 Nov 02:15"],
    ["from the day before", daily, "2026-11-18T21:12:00Z", "01:00", "Wed 18 Nov 21:12 – 01:00"],
    ["that goes on", daily, "22:40", undefined, "since 22:40"],
    ["inside one day of the week", weekly, "2026-11-10T14:05:00Z", "2026-11-10T15:00:00Z", "Tue 14:05–15:00"],
    ["across days of the week", weekly, "2026-11-10T23:05:00Z", "2026-11-11T04:00:00Z", "Tue 23:05 – Wed 04:00"],
    ["of another year", first, "2026-12-31T23:00:00Z", "2027-01-01T01:00:00Z", "23:00 – Fri 1 Jan 2027 01:00"],
    ["in the digest's own zone", tokyo, "2026-11-18T16:00:00Z", "2026-11-18T17:30:00Z", "01:00–02:30"],
  ])("%s", (_, digest, from, to, expected) => {
    const outage = { startsAt: at(from), endsAt: to === undefined ? undefined : at(to) };
    expect(outageTimes(outage, digest)).toBe(expected);
  });
});
