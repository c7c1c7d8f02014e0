import { describe, expect, it } from "vitest";
import { parseAreaContexts, parseMetricReply } from "../../src/service/metric-rows.ts";
import type { ProtocolErrorKind } from "../../src/service/service.ts";

function read(payload: unknown) {
  const kinds: ProtocolErrorKind[] = [];
  const reply = parseMetricReply("entries", ["entries"], payload, (kind) => void kinds.push(kind));
  return { ...reply, kinds };
}

describe("a metric reply", () => {
  it("keeps null apart from 0", () => {
    const rows = [{ location: "a", entries: null }, { location: "b", entries: 0 }, { location: "c" }];
    const { summary, segments, dropped } = read({ summary: rows, meta: { units: { entries: "peopleCount" } } });
    expect(summary?.map(({ values }) => values.entries)).toEqual([undefined, 0, undefined]);
    expect(segments).toBeUndefined();
    expect(dropped).toBe(0);
  });

  it("keeps the time of a segment as served: no zone is stated", () => {
    const { segments } = read({ segments: [{ index: "2026-03-01T00:00:00.000", location: "a", entries: 1 }] });
    expect(segments?.[0]).toMatchObject({ index: "2026-03-01T00:00:00.000", values: { entries: 1 } });
  });

  it("names the dimensions of a breakdown", () => {
    const row = { taxonomy: "A:B:C", age: "25_34", gender: "female", role: "staff", entries: 1 };
    const { entries: _, ...dimensions } = row;
    expect(read({ summary: [row] }).summary?.[0]).toMatchObject(dimensions);
  });

  it("hands on the estimates as they are", () => {
    expect(read({ estimates: [{ any: 1 }] }).estimates).toEqual([{ any: 1 }]);
  });

  it("drops and counts rows that cannot be read", () => {
    expect(read({ summary: [{ entries: "9" }, 5, null, { entries: 1 }] })).toMatchObject({
      dropped: 2,
      kinds: ["bad_value", "bad_row", "bad_row"],
      summary: [{ values: { entries: undefined } }, { values: { entries: 1 } }],
    });
  });

  it("of one odd unit loses that unit at most; null states none", () => {
    const reply = read({ summary: [], meta: { units: { entries: "peopleCount", dwell: null, rate: 7 } } });
    expect(reply).toMatchObject({ units: { entries: "peopleCount" }, kinds: ["bad_value"] });
  });

  it.each([null, [], {}, "x", { rows: [] }, { summary: {} }])("fails where the payload is %j", (payload) => {
    expect(() => read(payload)).toThrow(expect.objectContaining({ code: "bad_payload" }));
  });
});

it("lists zones, and drops what names none", () => {
  const report = () => {};
  const rows = [{ area_type: "taxonomy", taxonomy: "A:B:C", recording_id: "r" }, { taxonomy: "A" }, null];
  expect(parseAreaContexts(rows, report)).toEqual({
    contexts: [{ areaType: "taxonomy", taxonomy: "A:B:C", recordingId: "r" }],
    dropped: 2,
  });
  expect(() => parseAreaContexts({}, report)).toThrow(expect.objectContaining({ code: "bad_payload" }));
});
