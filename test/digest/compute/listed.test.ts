import fc from "fast-check";
import { expect, test } from "vitest";
import { type DigestPart, digestParts } from "../../../src/digest/digest.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, day, HOUR, input, offline, subject } from "../fixtures.ts";

const NEED: readonly DigestPart[] = ["down_now", "down_some", "low", "unknown", "planned", "closed", "up"];

test("however few are listed, all are counted, and those listed have the most trouble", () => {
  const camera = fc.record({
    place: fc.nat(6),
    trouble: fc.constantFrom("none", "ended", "open", "unknown", "low", "quality"),
    length: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(camera, { maxLength: 60 }), fc.integer({ min: 1, max: 30 }), (cameras, most) => {
      const fleet = input({
        recordings: cameras.map(({ place, trouble }, i) =>
          subject(`${i}`, {
            locationName: `Place ${place}`,
            ...(trouble === "unknown" ? { status: "unknown", since: 0 } : {}),
            ...(trouble === "open" ? { status: "offline", since: at("20:00") } : {}),
          }),
        ),
        uptime: new Map(
          cameras.flatMap(({ trouble }, i) =>
            trouble === "none" ? [[`${i}`, day(1)]] : trouble === "low" ? [[`${i}`, day(0.5)]] : [],
          ),
        ),
        episodes: cameras.flatMap(({ trouble, length }, i) => {
          const one = offline(`${i}`, at("01:00"), at("01:00") + length * HOUR);
          if (trouble === "quality") return [{ ...one, problem: "low_quality" as const }];
          return trouble === "ended" ? [one] : [];
        }),
      });
      const [whole, cut] = [computeDigest(fleet), computeDigest(fleet, most)];
      const { parts: all, ...figures } = whole;
      expect(cut).toMatchObject(figures);
      const listed = digestParts.flatMap((part) => cut.parts[part].flatMap(({ recordings }) => recordings));
      expect(listed).toHaveLength(Math.min(most, cameras.length));
      for (const part of digestParts) {
        const ofAll = new Map(all[part].map((group) => [group.locationId, group]));
        expect(cut.parts[part]).toHaveLength(ofAll.size);
        for (const { recordings, ...sums } of cut.parts[part]) {
          expect(ofAll.get(sums.locationId)).toMatchObject(sums);
          expect(recordings.length).toBeLessThanOrEqual(sums.count);
        }
      }
      const ids = new Set(listed.map(({ id }) => id));
      const needOf = ({ part, lostMs }: (typeof listed)[number]) => [NEED.indexOf(part), -lostMs] as const;
      const needs = digestParts.flatMap((part) =>
        all[part].flatMap(({ recordings }) => recordings.map((one) => ({ id: one.id, need: needOf(one) }))),
      );
      const [kept, left] = [needs.filter(({ id }) => ids.has(id)), needs.filter(({ id }) => !ids.has(id))];
      for (const { need: a } of kept)
        for (const { need: b } of left) expect(a[0] < b[0] || (a[0] === b[0] && a[1] <= b[1])).toBe(true);
    }),
    { numRuns: 100 },
  );
});
