import { describe, expect, test } from "vitest";
import { aRecordingState } from "../support/fixtures.ts";
import { HOUR, INTERVAL, locationRule, MINUTE, missingRule, offlineRule, recording, Story } from "./shard-history.ts";

const MISSING = "RecordingMissing/recording/a";

describe("a recording missing from the answer", () => {
  test("is reported after `for`, and ends when it is present again", () => {
    const story = new Story(missingRule({ forMs: MINUTE }));
    story.sweep({ a: "online", b: "online" });
    expect(story.sweep({ b: "online" })).toEqual([]);
    expect(story.reasons()).toEqual(["observed_missing", "RecordingMissing:pending"]);
    expect(story.sweep({ b: "online" })).toEqual([]);
    expect(story.reasons(), "said once").toEqual([]);
    expect(story.sweep({ b: "online" })).toEqual([`firing ${MISSING}`]);
    expect(story.sweep({ a: "online", b: "online" })).toEqual([`resolved ${MISSING} recovered`]);
  });

  test("is present when its row cannot be read or says something unknown", () => {
    const story = new Story(missingRule());
    story.sweep({ a: "online", b: "online" });
    expect(story.sweep({ b: "unknown" }, { unreadable: ["a"] })).toEqual([]);
    story.sweep({});
    expect(story.last.transitions).toHaveLength(2);
    expect(story.sweep({ b: "unknown" }, { unreadable: ["a"] })).toHaveLength(2);
  });

  test("is not missing when a row was dropped that could have been it", () => {
    const story = new Story(missingRule());
    story.sweep({ a: "online" });
    expect(story.sweep({}, { unidentified: 1 })).toEqual([]);
    expect(story.reasons()).toEqual([]);
    expect(story.sweep({})).toEqual([`firing ${MISSING}`]);
    expect(story.sweep({}, { unidentified: 1 }), "nor is it back").toEqual([]);
  });

  test("is no evidence for any other rule", () => {
    const story = new Story(offlineRule({ forMs: MINUTE }), missingRule());
    story.sweep({ a: "offline" });
    story.sweep({ a: "offline" });
    expect(story.sweepFor(10 * MINUTE, {})).toEqual([`firing ${MISSING}`]);
    expect(story.alertState("a", "RecordingOffline")).toMatchObject({ state: "pending", elapsedMs: INTERVAL });
    expect(story.sweep({ a: "offline" })).toEqual([`resolved ${MISSING} recovered`]);
    expect(story.sweep({ a: "offline" }), "absence did not count").toEqual(["firing RecordingOffline/recording/a"]);
    expect(story.sweep({}), "nor does absence end it").toEqual([`firing ${MISSING}`]);
  });
});

describe("leaving the fleet", () => {
  test("after forget_after of absence its alerts end as no longer watched", () => {
    const story = new Story(offlineRule(), missingRule());
    story.forgetAfterMs = 5 * MINUTE;
    story.sweep({ a: "offline" });
    story.sweepFor(4 * MINUTE + INTERVAL, {});
    expect(story.state.recordings.has("a")).toBe(true);
    expect(story.sweep({})).toEqual([
      "resolved RecordingOffline/recording/a no_longer_watched",
      `resolved ${MISSING} no_longer_watched`,
    ]);
    expect(story.reasons()[0]).toBe("forgotten");
    expect(story.state.recordings.has("a")).toBe(false);
    expect(story.sweep({ a: "online" }), "seen later it is ordinary news").toEqual([]);
  });

  test("time nobody looked is not absence", () => {
    const story = new Story(missingRule());
    story.sweep({ a: "online" });
    story.sweepFor(HOUR, {});
    story.pass(48 * HOUR);
    expect(story.sweep({})).toEqual([]);
    expect(story.sweepFor(22 * HOUR, {}), "an hour before, 22 after").toEqual([]);
    expect(story.sweepFor(HOUR + INTERVAL, {})).toEqual([`resolved ${MISSING} no_longer_watched`]);
  });

  test("one whose row cannot be read is there all the time", () => {
    const story = new Story();
    story.forgetAfterMs = 5 * MINUTE;
    story.sweep({ a: "online", b: "online" });
    for (let i = 0; i < 10; i++) story.sweep({ a: "unknown" }, { unreadable: ["b"] });
    story.sweep({});
    expect([...story.state.recordings.keys()]).toEqual(["a", "b"]);
  });

  test.each([1, 2, 4])(
    "of as many absent recordings as rows name none, %d, nothing is known; the others leave",
    (n) => {
      const story = new Story(missingRule({ forMs: 10 * MINUTE }));
      const ids = Array.from({ length: 20 }, (_, i) => `r${i}`);
      story.sweep(Object.fromEntries(ids.map((id) => [id, "online"])));
      const left = Object.fromEntries(ids.slice(5).map((id) => [id, "online" as const]));
      const heard = new Set<string>();
      for (let at = 0; at < 25 * HOUR; at += MINUTE)
        for (const one of story.sweep(left, { unidentified: n }, MINUTE)) heard.add(one);
      expect(heard.size).toBe(2 * (5 - n));
      expect(story.state.recordings.size).toBe(15 + n);
    },
  );

  test("a recording that leaves while another one's row names none is the one that is missing", () => {
    const story = new Story(missingRule({ forMs: 10 * MINUTE }));
    story.sweep({ a: "online", b: "online", c: "online" });
    for (let i = 0; i < 60; i++) expect(story.sweep({ b: "online", c: "online" }, { unidentified: 1 })).toEqual([]);
    const heard = Array.from({ length: 60 }, () => story.sweep({ c: "online" }, { unidentified: 1 }));
    expect(heard.flat()).toEqual(["firing RecordingMissing/recording/b"]);
  });

  test("one that another shard has is not missing; one that the inventory alone has elsewhere is", () => {
    const story = new Story(offlineRule(), missingRule());
    story.sweep({ a: "offline", b: "online" });
    for (const id of ["a", "b"]) story.recordings.set(id, recording(id, { locationId: "L9" }));
    story.locations.set("L9", { id: "L9", name: undefined, timezone: undefined });
    story.elsewhere = new Map([["a", aRecordingState("a", { locationId: "L9" })]]);
    expect(story.sweep({})).toEqual([
      "resolved RecordingOffline/recording/a no_longer_watched",
      "firing RecordingMissing/recording/b",
    ]);
    expect(story.reasons()).toContain("moved");
  });
});

test("an absent recording without alerts still counts for its location while its reading is fresh", () => {
  const story = new Story(locationRule());
  story.sweep({ a: "online", b: "online" });
  expect(story.sweep({ b: "offline" })).toEqual([]);
  expect(story.sweepFor(2 * INTERVAL, { b: "offline" }), "a's reading is 90 s old").toEqual([]);
  expect(story.sweep({ b: "offline" }), "only one fresh: fewer than min_recordings").toEqual([]);
});

// Whether L2 is in the same shard or in another one is chance.
test.each([
  ["the same shard", ["L1", "L2"]],
  ["another shard", ["L1"]],
])("one that the Core API has at a location of %s now, and no answer lists, is missing", (_, locationIds) => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE }), missingRule({ forMs: 10 * MINUTE }));
  story.locationIds = locationIds;
  for (const id of ["L1", "L2"]) story.locations.set(id, { id, name: undefined, timezone: undefined });
  for (const id of ["a", "b", "c"]) story.recordings.set(id, recording(id, { locationId: "L1" }));
  story.sweep({ a: "online", b: "online", c: "online" });
  story.recordings.set("a", recording("a", { locationId: "L2" }));
  expect(story.sweepFor(11 * MINUTE + INTERVAL, { b: "online", c: "online" })).toEqual([`firing ${MISSING}`]);
});
