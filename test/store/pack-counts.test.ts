import fc from "fast-check";
import { expect, it } from "vitest";
import { packHours, packReadings, unpackHours, unpackReadings } from "../../src/store/pack-counts.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const FIRST = Date.UTC(2026, 9, 5);
const count = fc.oneof(
  fc.constant(null),
  fc.constant(0),
  fc.nat(60),
  fc.nat(1_200),
  fc.nat({ max: Number.MAX_SAFE_INTEGER }),
);

it("hours come back as they were, with gaps, runs and clocks set by half an hour", () => {
  const step = fc.tuple(fc.constantFrom(60, 60, 60, 60, 90, 60 * 30, 60 * 300), count, fc.boolean());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.nat(60 * 24 * 365), (steps, offset) => {
      let at = FIRST + offset * MINUTE;
      const [hours, early] = [new Map<number, number | null>(), new Set<number>()];
      for (const [minutes, counted, isEarly] of steps) {
        hours.set(at, counted);
        if (isEarly) early.add(at);
        at += minutes * MINUTE;
      }
      expect(unpackHours(packHours(hours, early))).toEqual({ hours, early });
    }),
    { numRuns: 60 },
  );
});

it("the order in which hours were read does not matter", () => {
  const hours = new Map([3, 1, 2].map((n) => [FIRST + n * HOUR, n]));
  expect(packHours(hours, new Set())).toBe(packHours(new Map([...hours].sort()), new Set()));
});

it("readings come back as they were", () => {
  const reading = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.boolean(), fc.nat(1_500), count);
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 220 }), (steps) => {
      let at = FIRST;
      let since = FIRST - HOUR;
      const readings = steps.map(([minutes, isNew, covered, counted]) => {
        at += minutes * MINUTE;
        if (isNew) since = at - covered * MINUTE;
        return { at, since, count: counted };
      });
      expect(unpackReadings(packReadings(readings))).toEqual(readings);
    }),
    { numRuns: 60 },
  );
});

it("eight weeks of a busy location take less than 1.5 kB, a day and a half of readings as well", () => {
  const hours = new Map<number, number | null>();
  for (let i = 0; i < 56 * 24; i++) {
    const isOpen = i % 24 >= 9 && i % 24 < 20;
    hours.set(FIRST + i * HOUR, isOpen ? 30 + ((i * 7_919) % 400) : 0);
  }
  const early = new Set([...hours.keys()].slice(-30));
  expect(packHours(hours, early).length).toBeLessThan(1_500);
  const readings = Array.from({ length: 216 }, (_, i) => {
    return { at: FIRST + i * 10 * MINUTE, since: FIRST + Math.floor(i / 144) * 24 * HOUR, count: i * 9 };
  });
  expect(packReadings(readings).length).toBeLessThan(1_800);
});
