import fc from "fast-check";
import { expect, test } from "vitest";
import { excerptOf, partSection, shownParts } from "../../../src/digest/render/parts.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, day, input, offline, subject } from "../fixtures.ts";

test("however little is shown, every recording is counted once", () => {
  const camera = fc.record({ place: fc.nat(6), trouble: fc.constantFrom("none", "ended", "open", "unknown") });
  fc.assert(
    fc.property(fc.array(camera, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (cameras, limit) => {
      const digest = computeDigest(
        input({
          recordings: cameras.map(({ place, trouble }, i) =>
            subject(`${i}`, {
              locationName: `Place ${place}`,
              ...(trouble === "unknown" ? { status: "unknown", since: 0 } : {}),
              ...(trouble === "open" ? { status: "offline", since: at("20:00") } : {}),
            }),
          ),
          episodes: cameras.flatMap(({ trouble }, i) =>
            trouble === "ended" ? [offline(`${i}`, at("10:00"), at("11:00"))] : [],
          ),
        }),
      );
      for (const part of shownParts) {
        const { groups, moreRecordings, total } = excerptOf(part, digest, limit);
        const counted = groups.map(({ shown, more }) => shown.length + more);
        expect(counted.reduce((sum, n) => sum + n, 0) + moreRecordings).toBe(total);
        if (part !== "down_now") expect(total).toBe(digest.totals[part]);
      }
    }),
    { numRuns: 50 },
  );
});

test("of those that are down now only what is in no incident of the period has a row", () => {
  const down = (id: string, since: string) => subject(id, { status: "offline", since: at(since) });
  const digest = computeDigest(
    input({
      recordings: [down("a", "20:00"), down("b", "20:00"), down("c", "2026-11-20T07:00:00Z"), subject("d")],
      uptime: new Map([["d", day(0.5)]]),
      episodes: [offline("a", at("20:00")), offline("c", at("2026-11-20T07:00:00Z"))],
    }),
  );
  expect(partSection("down_now", digest, 10)).toMatchObject({
    count: "2 recordings",
    rows: [
      { name: "Leeds Briggate", value: "" },
      { note: "Camera b since\u00a020:00\u00a0· Camera c since\u00a0Fri\u00a020\u00a0Nov\u00a007:00" },
    ],
  });
  expect(partSection("low", digest, 10).rows).toMatchObject([{}, { note: "Camera d 50\u00a0%" }]);
  expect(digest.incidents.map(({ title }) => title)).toEqual(["Camera a · Leeds Briggate: offline"]);
});
