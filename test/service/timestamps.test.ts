import fc from "fast-check";
import { expect, it } from "vitest";
import { createParseTimes, parseUtc } from "../../src/service/status-uptime-rows.ts";

const instants = fc.date({ min: new Date("0100-01-01"), max: new Date("9999-01-01"), noInvalidDate: true });

it("reads back every instant, with its Z and without", () => {
  fc.assert(
    fc.property(instants, (date) => {
      const text = date.toISOString();
      expect(parseUtc(text)).toBe(date.getTime());
      expect(parseUtc(text.slice(0, -1))).toBe(date.getTime());
    }),
  );
});

it("never takes a mutated timestamp for another kind of date", () => {
  const mutated = fc
    .tuple(instants, fc.nat(23), fc.constantFrom("x", " ", "-", "/", "é", ""))
    .map(([date, at, by]) => date.toISOString().slice(0, at) + by + date.toISOString().slice(at + 1));
  fc.assert(
    fc.property(mutated, (text) => {
      const read = parseUtc(text);
      if (!Number.isNaN(read)) expect(read).toBe(Date.parse(text.replace(" ", "T").replace(/Z?$/, "Z")));
    }),
  );
});

it.each(["", "now", "2026", "2026-03-01", "03/01/2026 10:00", `2026-03-01T10:00:00.${"0".repeat(5000)}Z`])(
  "%j is no timestamp",
  (text) => {
    expect(parseUtc(text)).toBeNaN();
  },
);

it("read after others of the same hour is the same", () => {
  const seconds = fc.constantFrom(
    "",
    ":00",
    ":59",
    ":60",
    ":07.5",
    ":07.123456789",
    ":7",
    ":07.",
    ":0x",
    ":07.1e2",
    ": 7",
  );
  const time = fc
    .tuple(
      fc.constantFrom("23:00", "23:59", "23:60", "23:5 ", "22:07", "24:00"),
      seconds,
      fc.constantFrom("", "Z", "z", "+02:00", "-0330", "Zz"),
    )
    .map(([minute, rest, zone]) => `2026-03-01T${minute}${rest}${zone}`);
  fc.assert(
    fc.property(fc.array(time), (texts) => {
      const parse = createParseTimes();
      const read = (text: string) => parse(Buffer.from(`"${text}"`), 1, 1 + text.length);
      expect(texts.map(read)).toEqual(texts.map(parseUtc));
    }),
    { numRuns: 500 },
  );
});
