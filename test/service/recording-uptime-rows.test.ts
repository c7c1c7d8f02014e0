import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { createUptimeParser } from "../../src/service/recording-uptime-rows.ts";
import type { ProtocolErrorKind } from "../../src/service/service.ts";
import { createWallClock } from "../../src/service/zoned-time.ts";

const camera = {
  id: "aaaaaaaaaaaaaaaaaaaaaaaa",
  name: "Entrance",
  organisation: "org",
  cameraServer: "server",
  location: "shop",
  useUploadingSchedule: true,
  timezone: "Europe/London",
};

function entry(index: string, over: Record<string, unknown> = {}) {
  return {
    index,
    withinSchedule: true,
    segmentsExpected: 60,
    segmentsReceived: 30,
    avgUptimeOnSegment: 1,
    pcSegmentsRecieved: 0.5,
    overallUptime: 0.5,
    ...over,
  };
}

function readerOf(indexTimezone: "recording" | "utc" = "recording", now = Date.UTC(2100, 0)) {
  const kinds: ProtocolErrorKind[] = [];
  const report = (kind: ProtocolErrorKind, detail?: () => unknown) => {
    detail?.();
    kinds.push(kind);
  };
  return {
    kinds,
    ...createUptimeParser({ report, wall: createWallClock(), indexTimezone, clock: { now: () => now } }),
  };
}

function startsOf(indices: string[], indexTimezone?: "recording" | "utc") {
  const reader = readerOf(indexTimezone);
  const { buckets } = reader.one({ recording: camera, uptime: indices.map((index) => entry(index)) });
  return { starts: buckets.map(({ startAt }) => new Date(startAt).toISOString().slice(0, 16)), kinds: reader.kinds };
}

describe("an uptime result", () => {
  it("gives the recording and its buckets", () => {
    expect(readerOf().one({ recording: camera, uptime: [entry("2026-07-10 09:00")] })).toEqual({
      recording: {
        id: "aaaaaaaaaaaaaaaaaaaaaaaa",
        name: "Entrance",
        organisation: "org",
        cameraServer: "server",
        locationId: "shop",
        useUploadingSchedule: true,
        timezone: "Europe/London",
      },
      buckets: [
        {
          startAt: Date.UTC(2026, 6, 10, 8),
          withinSchedule: true,
          segmentsExpected: 60,
          segmentsReceived: 30,
          avgUptimeOnSegment: 1,
          pcSegmentsReceived: 0.5,
          overallUptime: 0.5,
        },
      ],
    });
  });

  it("reads index in UTC where the configuration says so", () => {
    expect(startsOf(["2026-07-10 09:00"], "utc").starts).toEqual(["2026-07-10T09:00"]);
  });

  it("keeps null apart from 0", () => {
    const nothing = { segmentsExpected: 0, segmentsReceived: 0, avgUptimeOnSegment: null, overallUptime: null };
    const { buckets } = readerOf().one({ recording: camera, uptime: [entry("2026-07-10 09:00", nothing)] });
    expect(buckets[0]).toMatchObject({ segmentsReceived: 0, avgUptimeOnSegment: undefined, overallUptime: undefined });
  });

  it("takes a second row of the hour the clocks repeat for the second hour, and a third for a mistake", () => {
    const hours = ["2026-10-25 00:00", "2026-10-25 01:00", "2026-10-25 01:00", "2026-10-25 02:00"];
    expect(startsOf(hours)).toEqual({
      starts: ["2026-10-24T23:00", "2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"],
      kinds: [],
    });
    expect(startsOf([...hours, "2026-10-25 01:00"]).kinds).toEqual(["bad_bucket"]);
    // A single row is of the first.
    expect(startsOf(["2026-10-25 01:00", "2026-10-25 02:00"]).starts).toEqual(["2026-10-25T00:00", "2026-10-25T02:00"]);
  });

  it("lets a row of the hour the clocks skip give way to a real one", () => {
    expect(startsOf(["2026-03-29 00:00", "2026-03-29 01:00", "2026-03-29 02:00"])).toEqual({
      starts: ["2026-03-29T00:00", "2026-03-29T01:00"],
      kinds: [],
    });
    expect(startsOf(["2026-03-29 01:00"]).starts).toEqual(["2026-03-29T01:00"]);
  });

  it("drops a repeated row and sorts the others", () => {
    expect(startsOf(["2026-01-10 02:00", "2026-01-10 01:00", "2026-01-10 02:00"])).toEqual({
      starts: ["2026-01-10T01:00", "2026-01-10T02:00"],
      kinds: ["bad_bucket"],
    });
  });

  it.each([{ timezone: "Mars/Olympus" }, { timezone: undefined }, { timezone: 5 }])(
    "is read in the time zone that is known, else in UTC, with %j, and counts it",
    (odd) => {
      const reader = readerOf();
      const row = { recording: { ...camera, ...odd }, uptime: [entry("2026-07-10 09:00")] };
      const { recording, buckets } = reader.one(row);
      expect(recording.timezone).toBeUndefined();
      expect(buckets[0]?.startAt).toBe(Date.UTC(2026, 6, 10, 9));
      expect(reader.kinds).toEqual(["bad_timezone"]);
      const known = reader.one(row, () => ({ timezone: "Asia/Tokyo" }));
      expect(known.buckets[0]?.startAt).toBe(Date.UTC(2026, 6, 10, 0));
    },
  );

  it("takes an id from _id, and a reference from an object with one", () => {
    const { recording } = readerOf().one({
      recording: { ...camera, id: undefined, _id: "x1", location: { _id: "shop" }, organisation: { id: "o" } },
      uptime: null,
    });
    expect(recording).toMatchObject({ id: "x1", locationId: "shop", organisation: "o" });
  });

  it.each([{ index: 5 }, { index: "today" }, { withinSchedule: "yes" }])(
    "drops a bucket with %j and keeps the others",
    (odd) => {
      const reader = readerOf();
      const { buckets } = reader.one({
        recording: camera,
        uptime: [entry("2026-01-10 01:00", odd), entry("2026-01-10 02:00"), 7],
      });
      expect(buckets).toHaveLength(1);
      expect(reader.kinds).toEqual(["bad_bucket", "bad_bucket"]);
    },
  );

  const FIGURES = {
    segmentsExpected: "segmentsExpected",
    segmentsReceived: "segmentsReceived",
    avgUptimeOnSegment: "avgUptimeOnSegment",
    pcSegmentsRecieved: "pcSegmentsReceived",
    overallUptime: "overallUptime",
  } as const;
  const wire = fc.constantFrom(...(Object.keys(FIGURES) as (keyof typeof FIGURES)[]));

  it("of any one odd figure loses that figure at most, and counts it", () => {
    const odd = fc.oneof(
      fc.double({ noNaN: true, max: -1e-9 }),
      fc.double({ noNaN: true, min: 1e300 }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(wire, odd, (field, value) => {
        fc.pre(value !== null && !(typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER));
        const reader = readerOf();
        const bucketOf = (over: Record<string, unknown>) =>
          reader.one({ recording: camera, uptime: [entry("2026-01-10 01:00", over)] });
        const [plain] = bucketOf({}).buckets;
        const [bent] = bucketOf({ [field]: value }).buckets;
        expect(bent).toEqual({ ...plain, [FIGURES[field]]: undefined });
        expect(reader.kinds).toEqual(["bad_value"]);
      }),
    );
  });

  it.each([
    [1.0167, 1, ["bad_value"]],
    [1.0000000000000002, 1, ["bad_value"]],
    [1.02, 1, ["bad_value"]],
    [1.021, undefined, ["bad_value"]],
    [null, undefined, []],
  ])("of a fraction %d keeps %d, and counts %j", (served, kept, kinds) => {
    const reader = readerOf();
    const full = { avgUptimeOnSegment: 1, overallUptime: 1 };
    const row = entry("2026-01-10 01:00", { ...full, pcSegmentsRecieved: served });
    const [bucket] = reader.one({ recording: camera, uptime: [row] }).buckets;
    expect(bucket).toMatchObject({ ...full, pcSegmentsReceived: kept });
    expect(reader.kinds).toEqual(kinds);
  });

  it.each([
    [{ overallUptime: 0.9, avgUptimeOnSegment: 0.95, pcSegmentsRecieved: 0.95 }, []],
    [{ overallUptime: 0.3, avgUptimeOnSegment: 0.1, pcSegmentsRecieved: 3 * 0.1 + 2.7 }, ["bad_value"]],
    [{ overallUptime: 0.02 + 0.01, avgUptimeOnSegment: 0.1, pcSegmentsRecieved: 0.3 }, []],
    [{ overallUptime: 0.9, avgUptimeOnSegment: 0.9, pcSegmentsRecieved: 0.9 }, ["bad_product"]],
    [{ overallUptime: 1, avgUptimeOnSegment: 0, pcSegmentsRecieved: 1 }, ["bad_product"]],
    [{ overallUptime: 0.9, avgUptimeOnSegment: null, pcSegmentsRecieved: 0.1 }, []],
    [{ overallUptime: null, avgUptimeOnSegment: 0.9, pcSegmentsRecieved: 0.1 }, []],
  ])("with %j counts %j, and keeps the figures as served", (figures, kinds) => {
    const reader = readerOf();
    const { buckets } = reader.one({ recording: camera, uptime: [entry("2026-01-10 01:00", figures)] });
    expect(buckets[0]?.overallUptime).toBe(figures.overallUptime ?? undefined);
    expect(reader.kinds).toEqual(kinds);
  });

  it.each([
    ["America/New_York", "2026-11-20T18:40:00Z", 1],
    ["Asia/Kolkata", "2026-11-20T18:40:00Z", 0],
    ["Europe/London", "2026-11-20T18:40:00Z", 0],
  ])("written in UTC is noticed in %s, where received segments are of the future", (timezone, now, noticed) => {
    const index = "2026-11-20 18:00";
    const reader = readerOf("recording", Date.parse(now));
    const result = reader.one({ recording: { ...camera, timezone }, uptime: [entry(index)] });
    expect(reader.kinds).toEqual(noticed ? ["utc_index"] : []);
    if (noticed) expect(result.buckets[0]?.startAt).toBe(Date.parse(`${index}Z`));
    // Of this recording alone.
    const next = reader.one({
      recording: { ...camera, timezone: "Australia/Sydney" },
      uptime: [entry("2026-11-19 05:00")],
    });
    expect(next.buckets[0]?.startAt).toBe(Date.parse("2026-11-19T05:00:00+11:00"));
  });

  it("written in local time is never taken for UTC, whatever the time and zone", () => {
    const zones = fc.constantFrom(
      "America/New_York",
      "Asia/Kolkata",
      "Pacific/Auckland",
      "Europe/London",
      "Pacific/Apia",
    );
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 366 * 24 }), (timezone, hours) => {
        const now = DateTime.fromISO("2026-01-01T00:20:00Z").plus({ hours });
        const index = now.setZone(timezone).startOf("hour").toFormat("yyyy-MM-dd HH:mm");
        const reader = readerOf("recording", now.toMillis());
        reader.one({ recording: { ...camera, timezone }, uptime: [entry(index)] });
        expect(reader.kinds).toEqual([]);
      }),
    );
  });

  it("leaves out a bucket of a recording with a schedule that does not say whether it was open", () => {
    const uptime = [entry("2026-07-10 09:00", { withinSchedule: null })];
    const bucketsOf = (useUploadingSchedule: unknown) =>
      readerOf().one({ recording: { ...camera, useUploadingSchedule }, uptime }).buckets;
    expect([true, false, null].map((has) => bucketsOf(has).map(({ withinSchedule }) => withinSchedule))).toEqual([
      [],
      [true],
      [true],
    ]);
  });

  it("drops a result without recording, and counts it; one without location is one", () => {
    const reader = readerOf();
    const rows = [
      { recording: camera, uptime: [] },
      { recording: { ...camera, id: undefined }, uptime: [] },
      { recording: { ...camera, id: "b", location: null }, uptime: [] },
      { uptime: [] },
      null,
    ];
    expect(reader.many(rows)).toMatchObject({
      dropped: 3,
      results: [{ recording: { id: camera.id } }, { recording: { id: "b", locationId: undefined } }],
    });
    expect(reader.kinds).toEqual(Array(3).fill("bad_row"));
  });

  it.each([{}, null, "rows"])("fails in bulk where the payload is %j", (payload) => {
    expect(() => readerOf().many(payload)).toThrow(expect.objectContaining({ code: "bad_payload" }));
  });
});

describe("results in bulk", () => {
  const of = (id: string, name = id) => ({ recording: { ...camera, id, name }, uptime: [] });

  it("are those asked for, each once", () => {
    const reader = readerOf();
    const { results, dropped } = reader.many([of("a"), of("b"), of("a", "again"), of("c")], ["a", "c", "d"]);
    expect(results.map(({ recording }) => recording.name)).toEqual(["a", "c"]);
    expect(dropped).toBe(2);
    expect(reader.kinds).toEqual(["bad_row", "duplicate_row"]);
    // All there are where none is named.
    expect(readerOf().many([of("a"), of("b"), of("b")]).results).toHaveLength(2);
  });
});

it("keeps no more of a name than anybody would read, and no half of a character", () => {
  const { recording } = readerOf().one({ recording: { ...camera, name: `x${"😀".repeat(5_000)}` }, uptime: [] });
  expect(recording.name).toHaveLength(1_000);
  expect(recording.name?.isWellFormed()).toBe(true);
});
