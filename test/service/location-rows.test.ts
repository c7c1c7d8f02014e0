import { expect, it } from "vitest";
import { parseLocations } from "../../src/service/location-rows.ts";
import type { ProtocolErrorKind } from "../../src/service/service.ts";

function read(payload: unknown) {
  const kinds: ProtocolErrorKind[] = [];
  const report = (kind: ProtocolErrorKind) => void kinds.push(kind);
  return { ...parseLocations(payload, { report, isZone: (name) => name === "Europe/London" }), kinds };
}

const leeds = { id: "a1", name: "Leeds", timezone: "Europe/London" };
const bare = { id: "a1", name: undefined, timezone: undefined };

it.each([
  [[leeds], leeds],
  [[{ ...leeds, id: undefined, _id: "a1" }], leeds],
  [["a1"], bare],
  [{ locations: [leeds] }, leeds],
  [{ data: [leeds], total: 1, errors: [] }, leeds],
  [{ items: ["a1"] }, bare],
  [{ results: [{ _id: "a1", name: null, timezone: null }] }, bare],
  [[{ id: "a1", name: 5 }], bare],
])("reads the list in the shape of %j", (payload, location) => {
  expect(read(payload)).toEqual({ locations: [location], dropped: 0, kinds: [] });
});

it("drops and counts rows without an id", () => {
  expect(read([leeds, {}, null, "", { id: 5 }])).toEqual({
    locations: [leeds],
    dropped: 4,
    kinds: Array(4).fill("bad_row"),
  });
});

it("names a location once, and no zone that does not exist", () => {
  expect(read([{ ...leeds, timezone: "Mars" }, leeds])).toEqual({
    locations: [{ ...leeds, timezone: undefined }],
    dropped: 0,
    kinds: ["bad_timezone", "duplicate_row"],
  });
});

it.each([null, "a1", {}, { shops: [] }, { data: {} }, { data: [], items: [] }])("finds no list in %j", (payload) => {
  expect(() => read(payload)).toThrow(expect.objectContaining({ code: "bad_payload" }));
});

it("keeps no more of a name than anybody would read", () => {
  const { locations } = read([{ ...leeds, name: "x".repeat(10_000) }]);
  expect(locations.map(({ name }) => name?.length)).toEqual([1_000]);
});

it.each(["__proto__", "\ud800", "shop \udc00"])("takes no id like %j, which is no key or no text", (id) => {
  expect(read([{ id }, id, leeds])).toEqual({ locations: [leeds], dropped: 2, kinds: ["bad_row", "bad_row"] });
});
