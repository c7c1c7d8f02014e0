import { describe, expect, test } from "vitest";
import { HOUR, INTERVAL, locationRule, MINUTE, offlineRule, reading, recording, Story } from "./shard-history.ts";

/** 30 rows of the same status at a location. */
const thirty = (locationId: string, status: "offline" | "online" = "offline") =>
  Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`r${i}`, { status, locationId }]));
const locationsOf = (story: Story) => new Set([...story.state.recordings.values()].map((one) => one.locationId));

describe("an answer whose rows name another location than before", () => {
  test("ends nothing and moves nobody where it does so for many, and its readings still count", () => {
    const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
    story.sweepFor(5 * MINUTE, thirty("L1"));
    expect(story.sweepFor(HOUR, thirty("5f0000000000000000000000"))).toEqual([]);
    expect([...locationsOf(story)]).toEqual(["L1"]);
    const back = story.sweep(thirty("5f0000000000000000000000", "online"));
    expect([back.length, back[0]]).toEqual([30, "resolved RecordingOffline/recording/r0 recovered"]);
  });

  test("moves many within the shard once the inventory has them there as well", () => {
    const story = new Story(offlineRule());
    story.locationIds = ["L1", "L2"];
    story.sweepFor(5 * MINUTE, thirty("L1", "online"));
    story.sweepFor(5 * MINUTE, thirty("L2", "online"));
    expect([...locationsOf(story)]).toEqual(["L1"]);
    for (const id of story.state.recordings.keys()) story.recordings.set(id, recording(id, { locationId: "L2" }));
    story.sweep(thirty("L2", "online"));
    expect([...locationsOf(story)]).toEqual(["L2"]);
  });

  test.each([
    ["watched", ["L1", "L2"], "L2"],
    ["not watched", ["L1"], undefined],
  ])("moves a few to one that is %s", (_, locationIds, at) => {
    const story = new Story(offlineRule());
    story.locationIds = locationIds;
    story.sweep(thirty("L1", "online"));
    story.sweep({ ...thirty("L1", "online"), r0: { locationId: "L2" } });
    expect(story.state.recordings.get("r0")?.locationId).toBe(at);
    expect(story.state.recordings.get("r1")?.locationId).toBe("L1");
  });
});

test("a recording listed at two locations of one shard is evaluated at the known one, in whatever order the rows are", () => {
  const story = new Story(locationRule());
  story.locationIds = ["L1", "L2"];
  for (const id of ["a", "b", "c"]) story.recordings.set(id, recording(id, { locationId: "L1" }));
  const own = [reading("a", "online"), reading("b", "offline"), reading("c", "offline")];
  const other = reading("a", { locationId: "L2" });
  for (const readings of [
    [...own, other],
    [other, ...own],
  ]) {
    story.now += INTERVAL;
    expect(story.judge({ readings, unreadable: [], unidentified: 0 })).toEqual([]);
    expect(story.state.recordings.get("a")?.locationId).toBe("L1");
  }
});

test("a recording moved to another location of its shard is counted there, where rows have no location_id", () => {
  const story = new Story(locationRule());
  story.locationIds = ["L1", "L2"];
  for (const [id, locationId] of [
    ["a", "L1"],
    ["b", "L1"],
    ["c", "L2"],
  ] as const)
    story.recordings.set(id, recording(id, { locationId }));
  const row = (status: "online" | "offline") => ({ status, locationId: undefined });
  story.sweep({ a: row("online"), b: row("online"), c: row("online") });
  story.recordings.set("b", recording("b", { locationId: "L2" }));
  story.sweepFor(HOUR, { a: row("online"), b: row("online"), c: row("online") });
  expect(story.sweepFor(MINUTE, { a: row("online"), b: row("offline"), c: row("offline") })).toEqual([
    "firing LocationOffline/location/L2",
  ]);
});
