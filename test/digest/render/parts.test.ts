import fc from "fast-check";
import { expect, test } from "vitest";
import { digestParts } from "../../../src/digest/digest.ts";
import { excerptOf } from "../../../src/digest/render/parts.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, day, input, locationOffline, MINUTE, offline, subject } from "../fixtures.ts";

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
      for (const part of digestParts) {
        const { groups, moreRecordings, total } = excerptOf(part, digest, limit);
        const counted = groups.map(({ shown, together, more }) => shown.length + together.length + more);
        expect(counted.reduce((sum, n) => sum + n, 0) + moreRecordings).toBe(total);
      }
    }),
    { numRuns: 50 },
  );
});

test("recordings that went with their location share a line, the others have their own", () => {
  const digest = computeDigest(
    input({
      recordings: ["a", "b", "c"].map((id) => subject(id)),
      uptime: new Map(["a", "b", "c"].map((id) => [id, day(1)])),
      episodes: [
        locationOffline("leeds-briggate", at("14:05"), at("17:40")),
        offline("a", at("14:04"), at("17:40")),
        offline("b", at("14:05"), at("17:40") + 5 * MINUTE),
        offline("c", at("14:05"), at("17:40") + 6 * MINUTE),
      ],
    }),
  );
  const [group] = excerptOf("down_some", digest, 10).groups;
  expect(group?.together.map(({ id }) => id)).toEqual(["b", "a"]);
  expect(group?.shown.map(({ id }) => id)).toEqual(["c"]);
});
