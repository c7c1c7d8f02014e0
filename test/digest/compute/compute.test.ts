import { describe, expect, test } from "vitest";
import type { Matcher } from "../../../src/alerting/matcher.ts";
import type { RecordingDigest } from "../../../src/digest/digest.ts";
import { digestPeriod } from "../../../src/digest/period.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, day, episode, HOUR, hours, input, locationOffline, MINUTE, NOW, offline, subject } from "../fixtures.ts";

function one(over: Partial<DigestInput>, camera = subject("a")): RecordingDigest {
  const { parts } = computeDigest(input({ recordings: [camera], ...over }));
  const [found] = Object.values(parts).flatMap((groups) => groups.flatMap(({ recordings }) => recordings));
  if (!found) throw new Error("the recording is in no part");
  return found;
}

describe("downtime", () => {
  test.each([
    ["lies inside the day", "14:05", "17:40", 215],
    ["came over midnight into the day", "2026-11-18T23:00:00Z", "01:00", 60],
    ["went over midnight out of the day", "23:00", "2026-11-20T02:00:00Z", 60],
    ["covers the day and more", "2026-11-18T12:00:00Z", "2026-11-20T02:00:00Z", 24 * 60],
  ])("counts what is inside the period when it %s", (_, from, to, minutes) => {
    const episodes = [offline("a", at(from), at(to))];
    expect(one({ episodes })).toMatchObject({ part: "down_some", lostMs: minutes * MINUTE });
    expect(computeDigest(input({ recordings: [subject("a")], episodes })).incidents).toMatchObject([
      { title: "Camera a · Leeds Briggate: offline", startsAt: at(from), endsAt: at(to), isOutage: true },
    ]);
  });

  test.each([
    ["the day before", "2026-11-18T10:00:00Z", "00:00"],
    ["the morning after", "2026-11-20T00:00:00Z", "2026-11-20T03:00:00Z"],
  ])("of %s is not the period's", (_, from, to) => {
    const episodes = [offline("a", at(from), at(to))];
    expect(one({ episodes })).toMatchObject({ part: "up", lostMs: 0 });
    expect(computeDigest(input({ recordings: [subject("a")], episodes })).incidents).toEqual([]);
  });

  test.each([
    ["2026-03-30T07:00:00Z", 23],
    ["2026-10-26T08:00:00Z", 25],
  ])("of a whole day with a clock change, seen at %s, is %i hours", (now, expected) => {
    const period = digestPeriod("1d", at(now), "Europe/London");
    const episodes = [offline("a", at("2026-01-01T00:00:00Z"), at(now))];
    expect(one({ now: at(now), period, episodes }).lostMs).toBe(expected * HOUR);
  });

  test("excludes the time lenswatch was unreachable: that is unknown", () => {
    const unreachable = [{ from: at("15:00"), to: at("15:30") }];
    const recording = one({ episodes: [offline("a", at("14:00"), at("16:00"))], unreachable });
    expect(recording.lostMs).toBe(90 * MINUTE);
  });

  test("excludes the time outside the uploading schedule", () => {
    const night = hours(at("00:00"), Array(8).fill(0), { withinSchedule: false });
    const uptime = new Map([["a", [...night, ...hours(at("08:00"), Array(16).fill(1))]]]);
    expect(one({ uptime, episodes: [offline("a", at("02:00"), at("09:00"))] }).lostMs).toBe(HOUR);
    expect(one({ uptime, episodes: [offline("a", at("02:00"), at("07:00"))] })).toMatchObject({ part: "up" });
  });

  test("that two rules speak of counts once", () => {
    const episodes = [
      offline("a", at("10:00"), at("11:00")),
      { ...offline("a", at("10:00"), at("11:02")), alertname: "RecordingOfflineForLong" },
    ];
    const recording = one({ episodes });
    expect(recording.lostMs).toBe(62 * MINUTE);
  });
});

describe("the part a recording belongs to", () => {
  test.each<[string, Partial<DigestInput>, ReturnType<typeof subject>, Partial<RecordingDigest>]>([
    [
      "down now by its firing alert",
      { episodes: [offline("a", at("22:40"))] },
      subject("a", { status: "offline", since: at("22:40") }),
      { part: "down_now", downSince: at("22:40"), lostMs: 80 * MINUTE, isAside: false },
    ],
    [
      "down now though it went down after the period",
      { episodes: [offline("a", at("2026-11-20T07:12:00Z"))], uptime: new Map([["a", day(1)]]) },
      subject("a", { status: "offline" }),
      { part: "down_now", downSince: at("2026-11-20T07:12:00Z"), lostMs: 0, isAside: true },
    ],
    [
      "down now as last known, while the service is unreachable",
      { episodes: [offline("a", at("22:40"))] },
      subject("a", { status: "unknown" }),
      { part: "down_now", downSince: at("22:40") },
    ],
    [
      "down now when seen offline without any alert",
      {},
      subject("a", { status: "offline", since: at("23:00") }),
      { part: "down_now", downSince: at("23:00"), lostMs: HOUR, isAside: true },
    ],
    [
      "down now when missing",
      { episodes: [episode("missing", "a", at("12:00"))] },
      subject("a", { status: "unknown" }),
      { part: "down_now", lostMs: 12 * HOUR },
    ],
    [
      "not down now when it is offline by its schedule",
      { uptime: new Map([["a", day(1)]]) },
      subject("a", { status: "offline", since: at("20:00"), useUploadingSchedule: true }),
      { part: "up", downSince: undefined, lostMs: 0 },
    ],
    [
      "not down now when it is up again and the alert only lingers",
      { episodes: [offline("a", at("2026-11-20T07:50:00Z"))], uptime: new Map([["a", day(1)]]) },
      subject("a"),
      { part: "up", downSince: undefined },
    ],
    [
      "low by its figures, without an outage",
      { uptime: new Map([["a", day(0.6)]]) },
      subject("a"),
      { part: "low", lostMs: 0 },
    ],
    ["up by its figures", { uptime: new Map([["a", day(0.995)]]) }, subject("a"), { part: "up" }],
    ["up because it was seen up throughout", {}, subject("a"), { part: "up", uptime: undefined }],
    ["unknown when seen up only since noon", {}, subject("a", { since: at("12:00") }), { part: "unknown" }],
    [
      "unknown when the service was unreachable, whatever its status is now",
      { unreachable: [{ from: at("00:00"), to: NOW }] },
      subject("a"),
      { part: "unknown" },
    ],
    ["unknown without any reading", {}, subject("a", { status: "unknown", since: 0 }), { part: "unknown" }],
    [
      "closed when it was outside its schedule throughout",
      { uptime: new Map([["a", day(0, { withinSchedule: false })]]) },
      subject("a", { status: "offline", useUploadingSchedule: true }),
      { part: "closed", uptime: undefined },
    ],
  ])("is %s", (_, over, camera, expected) => {
    expect(one(over, camera)).toMatchObject(expected);
  });
});

describe("a fleet", () => {
  const leeds = ["a", "b"].map((id) => subject(id));
  const york = ["c", "d", "e"].map((id) => subject(id, { locationName: "York Coney Street" }));
  const fleet = input({
    recordings: [...leeds, ...york],
    uptime: new Map([
      ["a", day(1)],
      ["b", day(0.5, { segmentsExpected: 20 })],
      ["c", day(1)],
      ["d", day(0.9)],
    ]),
    episodes: [
      offline("b", at("10:00"), at("11:00")),
      offline("d", at("10:00"), at("12:00")),
      offline("d", at("13:00"), at("13:30")),
      offline("c", at("09:00"), at("09:45")),
      locationOffline("york-coney-street", at("10:00"), at("10:20")),
      locationOffline("leeds-briggate", at("2026-11-18T23:30:00Z"), at("01:00")),
      locationOffline("elsewhere", at("10:00"), at("20:00")),
      episode("low_quality", "a", at("23:00")),
      episode("low_quality", "gone", at("01:00")),
      {
        ...episode("service_unreachable", "", at("05:00"), at("05:10")),
        subject: { kind: "service", id: "analytics" },
      },
    ],
  });

  test("is listed by location, most downtime first", () => {
    const { parts } = computeDigest(fleet);
    expect(parts.down_some.map(({ locationName, lostMs, size }) => [locationName, lostMs / MINUTE, size])).toEqual([
      ["York Coney Street", 195, 3],
      ["Leeds Briggate", 60, 2],
    ]);
    expect(parts.down_some[0]?.recordings.map(({ id }) => id)).toEqual(["d", "c"]);
    expect(parts.up.flatMap(({ recordings }) => recordings.map(({ id }) => id))).toEqual(["a", "e"]);
  });

  test("has uptime per location from the buckets of all its recordings, weighted", () => {
    const { parts, totals } = computeDigest(fleet);
    expect(parts.down_some[0]?.uptime).toBeCloseTo(0.95);
    expect(parts.down_some[1]?.uptime).toBeCloseTo((60 + 0.5 * 20) / 80);
    expect(totals.uptime).toBeCloseTo((60 + 0.5 * 20 + 60 + 0.9 * 60) / 200);
  });

  test("adds up", () => {
    const { totals, locations } = computeDigest(fleet);
    expect(locations).toHaveLength(2);
    expect(totals).toMatchObject({
      recordings: 5,
      down_now: 0,
      down_some: 3,
      up: 2,
      closed: 0,
      unknown: 0,
      affected: 3,
      low: 0,
      lostMs: 255 * MINUTE,
    });
  });

  test("has the incidents of its recordings and locations and of the service, the worst first", () => {
    expect(computeDigest(fleet).incidents.map(({ title, isOutage }) => [title, isOutage])).toEqual([
      ["1 camera at York Coney Street offline", true],
      ["Leeds Briggate: offline", true],
      ["Camera b · Leeds Briggate: offline", true],
      ["Camera c · York Coney Street: offline", true],
      ["Camera d · York Coney Street: offline", true],
      ["Camera a · Leeds Briggate: quality low", false],
      ["Analytics service: service unreachable", false],
    ]);
  });

  test("contains only what the matchers select, a missing label being empty", () => {
    const matcher = (name: string, value: string): Matcher => ({
      name,
      operator: "=",
      value,
      matches: (text) => text === value,
    });
    const count = (...matchers: Matcher[]) => computeDigest({ ...fleet, matchers }).totals.recordings;
    expect(count(matcher("location", "York Coney Street"))).toBe(3);
    expect(count(matcher("location", "York Coney Street"), matcher("recording_id", "c"))).toBe(1);
    expect(count(matcher("organisation", "acme"), matcher("camera_server", "server-1"))).toBe(5);
    expect(count(matcher("severity", ""))).toBe(5);
    expect(count(matcher("severity", "critical"))).toBe(0);
  });

  test("does not change its input", () => {
    const before = structuredClone({ ...fleet, matchers: [] });
    computeDigest(fleet);
    expect({ ...fleet, matchers: [] }).toEqual(before);
  });
});
