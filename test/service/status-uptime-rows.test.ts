import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProtocolErrorKind } from "../../src/service/service.ts";
import { parseStatusRows } from "../../src/service/status-uptime-rows.ts";
import { statusRow } from "./support.ts";

function read(payload: unknown) {
  const kinds: ProtocolErrorKind[] = [];
  const snapshot = parseStatusRows(payload, (kind, detail) => {
    detail?.();
    kinds.push(kind);
  });
  return { ...snapshot, kinds, first: snapshot.readings[0] };
}

describe("a reply of status/uptime", () => {
  it("gives a reading per row", () => {
    expect(read([statusRow(), statusRow({ status: "degraded", average_quality: 0 })])).toMatchObject({
      unidentified: 0,
      unreadable: [],
      kinds: [],
      readings: [
        {
          recordingId: "aaaaaaaaaaaaaaaaaaaaaaaa",
          locationId: "bbbbbbbbbbbbbbbbbbbbbbbb",
          status: "online",
          lastSeenAt: Date.UTC(2026, 2, 1, 10),
          averageQuality: 0.9,
        },
        { status: "degraded", averageQuality: 0 },
      ],
    });
  });

  it.each([
    "2026-03-01T10:00:00.000",
    "2026-03-01T10:00:00Z",
    "2026-03-01T10:00:00",
    "2026-03-01 10:00",
    "2026-03-01T10:00:00.000000Z",
    "2026-03-01T12:00:00+02:00",
  ])("reads last_seen_utc %s as UTC", (text) => {
    expect(read([statusRow({ last_seen_utc: text })]).first?.lastSeenAt).toBe(Date.UTC(2026, 2, 1, 10));
  });

  it.each([null, undefined])("takes %s for no data, never for 0", (none) => {
    const { first, kinds } = read([statusRow({ average_quality: none, last_seen_utc: none, location_id: none })]);
    expect(first).toMatchObject({ averageQuality: undefined, lastSeenAt: undefined, locationId: undefined });
    expect(kinds).toEqual([]);
  });

  it.each(["Offline", "OFFLINE", " offline", "Online", "DEGRADED"])("reads %j as the status it spells", (status) => {
    const { first, kinds } = read([statusRow({ status })]);
    expect([first?.status, kinds]).toEqual([status.trim().toLowerCase(), []]);
  });

  it.each(["maintenance", "unknown", "UNKNOWN", "", "constructor"])(
    "keeps the status %j as unknown, and counts it",
    (status) => {
      const { first, kinds } = read([statusRow({ status })]);
      expect(first?.status).toBe("unknown");
      expect(kinds).toEqual(["unknown_status"]);
    },
  );

  it.each([
    { last_seen_utc: "yesterday" },
    { last_seen_utc: "" },
    { last_seen_utc: 17 },
    { last_seen_utc: "2026-13-01T10:00:00.000Z" },
    { average_quality: "good" },
    { average_quality: 93 },
    { average_quality: -1 },
    { location_id: 7 },
  ])("does not lose an outage over %j: that field is no data, and counted", (odd) => {
    const { first, kinds, unreadable } = read([statusRow({ status: "offline", ...odd })]);
    expect(first?.status).toBe("offline");
    expect(first).toMatchObject(
      Object.keys(odd)[0] === "average_quality"
        ? { averageQuality: undefined }
        : Object.keys(odd)[0] === "location_id"
          ? { locationId: undefined }
          : { lastSeenAt: undefined },
    );
    expect(kinds).toEqual(["bad_value"]);
    expect(unreadable).toEqual([]);
  });

  it.each([
    ...[{ status: 7 }, { status: null }, { status: undefined }, { status: ["online"] }].map((odd) => statusRow(odd)),
    ...[{ recording_id: 5 }, { recording_id: "" }, { recording_id: "\ud800rec" }].map((odd) => statusRow(odd)),
    ...[null, 5, "row", [], {}],
  ])("drops a row like %j and names its recording where it can be told", (row) => {
    const { readings, unreadable, unidentified, kinds } = read([row, statusRow()]);
    expect(readings).toHaveLength(1);
    const named = (row as { recording_id?: unknown } | null)?.recording_id === "aaaaaaaaaaaaaaaaaaaaaaaa";
    expect([unreadable, unidentified]).toEqual(named ? [["aaaaaaaaaaaaaaaaaaaaaaaa"], 0] : [[], 1]);
    expect(kinds).toEqual(["bad_row"]);
  });

  it.each([null, {}, { data: [] }, "[]", 0])("fails where the payload is %j", (payload) => {
    expect(() => read(payload)).toThrow(expect.objectContaining({ code: "bad_payload" }));
  });

  it("accounts for every row, whatever is in it", () => {
    const odd = fc.record(
      {
        recording_id: fc.oneof(fc.string(), fc.jsonValue()),
        location_id: fc.oneof(fc.string(), fc.jsonValue()),
        status: fc.oneof(fc.constantFrom("online", "offline"), fc.jsonValue()),
        last_seen_utc: fc.oneof(fc.constant("2026-03-01T10:00:00.000Z"), fc.jsonValue()),
        average_quality: fc.oneof(fc.double(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fc.jsonValue())), (rows) => {
        const { readings, unreadable, unidentified } = read(rows);
        expect(readings.length + unreadable.length + unidentified).toBe(rows.length);
        for (const { averageQuality, lastSeenAt } of readings) {
          expect(averageQuality === undefined || (averageQuality >= 0 && averageQuality <= 1)).toBe(true);
          expect(lastSeenAt === undefined || Number.isFinite(lastSeenAt)).toBe(true);
        }
      }),
    );
  });
});
