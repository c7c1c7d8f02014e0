import { describe, expect, test } from "vitest";
import { DigestError, digestPeriod, nextRun, type PeriodName } from "../../src/digest/period.ts";

const at = (iso: string) => Date.parse(iso);
const iso = (ms: number) => new Date(ms).toISOString();

describe("digestPeriod", () => {
  /** `name zone now: from to, label`. */
  test.each([
    [
      "yesterday, in winter",
      "1d Europe/London 2026-11-20T08:00Z: 2026-11-19T00:00Z 2026-11-20T00:00Z, Thu 19 Nov 2026",
    ],
    [
      "yesterday, in summer time",
      "1d Europe/London 2026-07-02T07:00Z: 2026-06-30T23:00Z 2026-07-01T23:00Z, Wed 1 Jul 2026",
    ],
    [
      "the local day, not the day in UTC",
      "1d Pacific/Auckland 2026-11-19T19:00Z: 2026-11-18T11:00Z 2026-11-19T11:00Z, Thu 19 Nov 2026",
    ],
    ["a day of 23 hours", "1d Europe/London 2026-03-30T07:00Z: 2026-03-29T00:00Z 2026-03-29T23:00Z, Sun 29 Mar 2026"],
    ["a day of 25 hours", "1d Europe/London 2026-10-26T08:00Z: 2026-10-24T23:00Z 2026-10-26T00:00Z, Sun 25 Oct 2026"],
    [
      "a day without a midnight",
      "1d America/Sao_Paulo 2018-11-05T10:00Z: 2018-11-04T03:00Z 2018-11-05T02:00Z, Sun 4 Nov 2018",
    ],
    [
      "a day with two midnights, from the first",
      "1d America/Havana 2026-11-02T12:00Z: 2026-11-01T04:00Z 2026-11-02T05:00Z, Sun 1 Nov 2026",
    ],
    [
      "the day before two midnights, to the first",
      "1d America/Havana 2026-11-01T12:00Z: 2026-10-31T04:00Z 2026-11-01T04:00Z, Sat 31 Oct 2026",
    ],
    [
      "at midnight itself, the day that ended",
      "1d Europe/London 2026-11-20T00:00Z: 2026-11-19T00:00Z 2026-11-20T00:00Z, Thu 19 Nov 2026",
    ],
    [
      "last week, Monday to Sunday",
      "1w Europe/London 2026-11-20T08:00Z: 2026-11-09T00:00Z 2026-11-16T00:00Z, Mon 9 – Sun 15 Nov 2026",
    ],
    [
      "a week with a clock change",
      "1w Europe/London 2026-10-26T08:00Z: 2026-10-18T23:00Z 2026-10-26T00:00Z, Mon 19 – Sun 25 Oct 2026",
    ],
    [
      "a week across two years",
      "1w UTC 2026-01-05T08:00Z: 2025-12-29T00:00Z 2026-01-05T00:00Z, Mon 29 Dec 2025 – Sun 4 Jan 2026",
    ],
    [
      "a week across two months",
      "1w UTC 2026-10-05T08:00Z: 2026-09-28T00:00Z 2026-10-05T00:00Z, Mon 28 Sep – Sun 4 Oct 2026",
    ],
    ["last month", "1mo Europe/London 2026-11-01T08:00Z: 2026-09-30T23:00Z 2026-11-01T00:00Z, October 2026"],
    [
      "last month, in the year before",
      "1mo Europe/London 2026-01-31T08:00Z: 2025-12-01T00:00Z 2026-01-01T00:00Z, December 2025",
    ],
  ])("gives %s", (_, line) => {
    const [, name = "", zone = "", now = "", from = "", to = "", label] =
      /^(\S+) (\S+) (\S+): (\S+) (\S+), (.+)$/.exec(line) ?? [];
    expect(digestPeriod(name as PeriodName, at(now), zone)).toEqual({ from: at(from), to: at(to), label });
  });

  test("names the zone that does not exist", () => {
    expect(() => digestPeriod("1d", 0, "Europe/Leeds")).toThrow(
      expect.objectContaining({ code: "invalid_timezone", message: expect.stringContaining("Europe/Leeds") }),
    );
  });
});

describe("nextRun", () => {
  test.each([
    ["today when it is still to come", "0 8 * * *", "2026-11-20T07:59:59.999Z", "2026-11-20T08:00Z"],
    ["strictly after a run", "0 8 * * *", "2026-11-20T08:00Z", "2026-11-21T08:00Z"],
    ["at the same local hour after clocks went forward", "0 8 * * *", "2026-03-28T08:00Z", "2026-03-29T07:00Z"],
    ["at the same local hour after clocks went back", "0 8 * * *", "2026-10-24T07:00Z", "2026-10-25T08:00Z"],
    ["once when its hour is skipped", "30 1 * * *", "2026-03-28T02:00Z", "2026-03-29T01:30Z"],
    ["on the next of the named weekdays", "0 8 * * 1", "2026-11-20T08:00Z", "2026-11-23T08:00Z"],
    ["on the first of the next month", "0 8 1 * *", "2026-11-20T08:00Z", "2026-12-01T08:00Z"],
  ])("gives a run %s", (_, cron, after, expected) => {
    expect(iso(nextRun(cron, "Europe/London", at(after)))).toBe(iso(at(expected)));
  });

  test("runs once when its hour comes twice", () => {
    const first = nextRun("30 1 * * *", "Europe/London", at("2026-10-24T12:00Z"));
    expect(nextRun("30 1 * * *", "Europe/London", first)).toBe(at("2026-10-26T01:30Z"));
  });

  test.each([
    ["an empty expression", "", "UTC", "invalid_cron"],
    ["nonsense", "every morning", "UTC", "invalid_cron"],
    ["a day that never comes", "0 0 31 2 *", "UTC", "invalid_cron"],
    ["an unknown zone", "0 8 * * *", "Mars/Olympus", "invalid_timezone"],
  ])("refuses %s", (_, cron, zone, code) => {
    expect(() => nextRun(cron, zone, at("2026-11-20T08:00Z"))).toThrow(expect.objectContaining({ code }));
    expect(() => nextRun(cron, zone, at("2026-11-20T08:00Z"))).toThrow(DigestError);
  });
});
