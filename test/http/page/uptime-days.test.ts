import { describe, expect, test } from "vitest";
import type { UptimeBucket } from "../../../src/health/recording.ts";
import { uptimeDays, uptimeOfAll, uptimeOver } from "../../../src/http/page/uptime-days.ts";
import type { UptimeKept } from "../../../src/poll/uptime-reader.ts";
import { anUptimeBucket } from "../../support/fixtures.ts";

const HOUR = 3_600_000;
const NOON = Date.parse("2026-01-31T12:00:00Z");

function hour(at: string, overallUptime: number | undefined, differing: Partial<UptimeBucket> = {}): UptimeBucket {
  return anUptimeBucket(Date.parse(at), overallUptime, differing);
}

function kept(differing: Partial<UptimeKept>): UptimeKept {
  return { buckets: [], days: {}, timezone: "UTC", ...differing };
}

describe("the days of a recording", () => {
  test("are as many as asked for, today the last, unknown where nothing is kept", () => {
    const days = uptimeDays(undefined, NOON, 30, "Europe/London");
    expect(days).toHaveLength(30);
    expect(days[0]?.day).toBe("2026-01-02");
    expect(days.at(-1)?.day).toBe("2026-01-31");
    expect(days.every(({ ratio, hours }) => ratio === undefined && hours.length === 0)).toBe(true);
    expect(uptimeOver(days)).toBeUndefined();
  });

  test("have the figure of the day that is over, and the hours that are kept", () => {
    const buckets = [hour("2026-01-30T22:00:00Z", 0.5), hour("2026-01-30T23:00:00Z", 0.7)];
    const days = {
      "2026-01-29": { ratio: 0.9, segmentsExpected: 1_440 },
      "2026-01-30": { ratio: 0.6, segmentsExpected: 1_440 },
    };
    const [before, yesterday, today] = uptimeDays(kept({ buckets, days }), NOON, 3, "UTC");
    expect(before).toMatchObject({ ratio: 0.9, hours: [] });
    expect(yesterday).toMatchObject({ ratio: 0.6, hours: [{ ratio: 0.5 }, { ratio: 0.7 }] });
    expect(today).toMatchObject({ ratio: undefined, hours: [] });
  });

  test("count of today what the service has finished, and nothing younger", () => {
    const buckets = [
      hour("2026-01-31T09:00:00Z", 1),
      hour("2026-01-31T10:00:00Z", 0.5),
      hour("2026-01-31T11:00:00Z", 0),
    ];
    const [today] = uptimeDays(kept({ buckets }), NOON, 1, "UTC");
    expect(today?.hours.map(({ ratio }) => ratio)).toEqual([1, 0.5]);
    expect(today?.ratio).toBe(0.75);
    const [later] = uptimeDays(kept({ buckets }), NOON + 15 * 60_000, 1, "UTC");
    expect(later?.ratio).toBe(0.5);
  });

  test("tell hours outside the schedule from those nobody knows", () => {
    const buckets = [
      hour("2026-01-31T06:00:00Z", 0, { withinSchedule: false }),
      hour("2026-01-31T07:00:00Z", undefined),
      hour("2026-01-31T08:00:00Z", 0.25),
    ];
    const [today] = uptimeDays(kept({ buckets }), NOON, 1, "UTC");
    expect(today?.hours.map(({ ratio, expected }) => [ratio, expected])).toEqual([
      [undefined, false],
      [undefined, true],
      [0.25, true],
    ]);
    expect(today?.ratio).toBe(0.25);
  });

  test("begin at midnight of their zone, through the change of the clocks, and in UTC where there is no such zone", () => {
    const now = Date.parse("2026-10-26T12:00:00Z");
    const days = uptimeDays(kept({ timezone: "Europe/London" }), now, 3, "UTC");
    expect(days.map(({ from }) => new Date(from).toISOString())).toEqual([
      "2026-10-23T23:00:00.000Z",
      "2026-10-24T23:00:00.000Z",
      "2026-10-26T00:00:00.000Z",
    ]);
    const nowhere = uptimeDays(kept({ timezone: "Mars/Olympus" }), now, 1, "UTC");
    expect(nowhere[0]?.from).toBe(Date.parse("2026-10-26T00:00:00Z"));
  });
});

describe("the days of several recordings", () => {
  const day = (ratio: number | undefined, weight: number) => ({
    day: "2026-01-30",
    from: NOON,
    ratio,
    weight,
    hours: [],
  });

  test("weigh what was expected of each", () => {
    const all = uptimeOfAll([[day(1, 300)], [day(0, 100)], [day(undefined, 0)]]);
    expect(all).toMatchObject([{ ratio: 0.75, weight: 400 }]);
  });

  test("are a plain mean where nothing was expected, and unknown where nobody knows", () => {
    expect(uptimeOfAll([[day(1, 0)], [day(0.5, 0)]])).toMatchObject([{ ratio: 0.75 }]);
    expect(uptimeOfAll([[day(undefined, 0)]])).toMatchObject([{ ratio: undefined }]);
    expect(uptimeOfAll([])).toEqual([]);
  });

  test("have a mean over those that are known", () => {
    expect(uptimeOver([day(1, 100), day(undefined, 0), day(0.5, 300)])).toBe(0.625);
    expect(uptimeOver([day(1, 0), day(0.5, 0)])).toBe(0.75);
  });
});

test("an hour of an hour's length is counted once it is over and settled", () => {
  const buckets = [hour("2026-01-31T10:00:00Z", 1)];
  const at = (now: number) => uptimeDays(kept({ buckets }), now, 1, "UTC")[0]?.hours.length;
  expect(at(Date.parse("2026-01-31T11:14:59Z"))).toBe(0);
  expect(at(Date.parse("2026-01-31T10:00:00Z") + HOUR + 15 * 60_000)).toBe(1);
});
