import { describe, expect, test } from "vitest";
import { HOUR, INTERVAL, locationRule, MINUTE, recording, START, Story } from "./shard-history.ts";

const KEY = "LocationOffline/location/L1";

describe("a location", () => {
  test("is offline when all its recordings are, and back at clear_below", () => {
    const story = new Story(locationRule());
    expect(story.sweep({ a: "offline", b: "offline", c: "online" })).toEqual([]);
    expect(story.sweep({ a: "offline", b: "offline", c: "offline" })).toEqual([`firing ${KEY}`]);
    expect(story.alert.facts).toEqual({
      timezone: "UTC",
      restated: ["summary", "description"],
      offline: 3,
      of: 3,
      most: 3,
      servers: {},
      offlineNames: ["a", "b", "c"],
      problem: "location_offline",
    });
    const five = { a: "offline", b: "offline", c: "offline", d: "offline" } as const;
    expect(story.sweep({ ...five, e: "online" }), "80 % is not below 80 %").toEqual([`updated ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ offline: 4, of: 5 });
    expect(story.sweep({ ...five, e: "online" }), "no news").toEqual([]);
    expect(story.sweep({ ...five, d: "online", e: "online" })).toEqual([`resolved ${KEY} recovered`]);
    expect(story.alert.facts).toMatchObject({ offline: 3, of: 5, most: 4 });
  });

  test("fires with min_recordings fresh ones at least, and ends by what is left of them", () => {
    const story = new Story(locationRule());
    expect(story.sweep({ a: "offline" })).toEqual([]);
    expect(story.sweep({ a: "offline", b: "offline" })).toEqual([`firing ${KEY}`]);
    story.pass(10 * MINUTE);
    expect(story.sweep({ a: "offline" }, { unreadable: ["b"] })).toEqual([`updated ${KEY}`]);
    expect(story.alert.facts, "b is not counted, and that is said").toMatchObject({ offline: 1, of: 1, unread: 1 });
    expect(story.sweep({ a: "online" }, { unreadable: ["b"] })).toEqual([`resolved ${KEY} recovered`]);
  });

  test("recovers when one of two was taken down and the other is back", () => {
    const story = new Story(locationRule());
    story.sweep({ a: "offline", b: "offline" });
    story.excluded.add("b");
    expect(story.sweep({ a: "offline", b: "offline" })).toEqual([`updated ${KEY}`]);
    expect(story.sweep({ a: "online", b: "offline" })).toEqual([`resolved ${KEY} recovered`]);
  });

  test("ends as no longer watched with the last of its recordings, and begins again with new ones", () => {
    const story = new Story(locationRule());
    story.sweep({ a: "offline", b: "offline" });
    story.sweepFor(24 * HOUR - INTERVAL, {});
    expect(story.state.locations.get("L1")?.alerts, "they may come back").toBeDefined();
    expect(story.sweep({})).toEqual([`resolved ${KEY} no_longer_watched`]);
    expect(story.sweep({ c: "offline", d: "offline" })).toEqual([`firing ${KEY}`]);
  });

  test("is evaluated by the one within its schedule while the other is outside", () => {
    const story = new Story(locationRule({ keepFiringForMs: MINUTE }));
    const outside = new Set<string>();
    story.isOutside = (id) => outside.has(id);
    story.sweep({ a: "offline", b: "offline" });
    outside.add("b");
    expect(story.sweep({ a: "offline", b: "online" })).toEqual([`updated ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ offline: 1, of: 1, outside: 1 });
    expect(story.sweepFor(MINUTE + INTERVAL, { a: "online", b: "offline" }).at(-1)).toBe(`resolved ${KEY} recovered`);
  });

  test("a pending one ends when there are too few recordings left, not when some are not read", () => {
    const story = new Story(locationRule({ forMs: 5 * MINUTE }));
    story.sweep({ a: "offline", b: "offline" });
    story.sweepFor(10 * MINUTE, { a: "unknown", b: "offline" });
    expect(story.state.locations.get("L1")?.alerts).toMatchObject({ LocationOffline: { state: "pending" } });
    story.excluded.add("a");
    story.sweep({ a: "unknown", b: "offline" });
    expect(story.reasons()).toContain("LocationOffline:pending_ended");
    expect(story.state.locations.get("L1")?.alerts).toBeUndefined();
  });

  test("counts a recording without a reading now while its last is at most 3 intervals old", () => {
    const story = new Story(locationRule());
    story.sweep({ a: "online", b: "offline", c: "offline" });
    expect(story.sweep({ a: "unknown", b: "offline", c: "offline" }, {}, 3 * INTERVAL)).toEqual([]);
    expect(story.sweep({ a: "unknown", b: "offline", c: "offline" }, {}, 1)).toEqual([`firing ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ offline: 2, of: 2 });
  });

  test("counts all of them for a rule that does not respect schedules", () => {
    const story = new Story(locationRule({ respectSchedule: false }));
    story.inSchedule = false;
    expect(story.sweep({ a: "offline", b: "offline" })).toEqual([`firing ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ offline: 2, of: 2 });
  });

  test("waits while all of it is outside its schedule, and neither ends nor forgets how much was dark", () => {
    const story = new Story(locationRule());
    story.sweep({ a: "offline", b: "offline" });
    story.inSchedule = false;
    expect(story.sweep({ a: "offline", b: "online" })).toEqual([`updated ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ offline: 2, of: 2, paused: true });
    story.inSchedule = true;
    expect(story.sweep({ a: "online", b: "online" })).toEqual([`resolved ${KEY} recovered`]);
  });

  test("a share below all of them can be enough, dark since it was reached", () => {
    const story = new Story(
      locationRule({ when: { kind: "location_offline", atLeast: 0.5, clearBelow: 0.5, minRecordings: 2 } }),
    );
    story.sweep({ a: "online", b: "online", c: "online", d: "online" });
    story.sweep({
      a: { status: "offline", lastSeenAt: START + 31_000 },
      b: { status: "offline", lastSeenAt: START + 35_000 },
      c: { status: "offline", lastSeenAt: START + 40_000 },
      d: "online",
    });
    expect(story.alert.startsAt, "two of four").toBe(START + 35_000);
  });

  test("a share that floating point overshoots still counts to the right one", () => {
    const story = new Story(
      locationRule({ when: { kind: "location_offline", atLeast: 0.28, clearBelow: 0.1, minRecordings: 2 } }),
    );
    const rows = Array.from({ length: 25 }, (_, i) => {
      const row = i < 8 ? ({ status: "offline", lastSeenAt: START + i } as const) : ("online" as const);
      return [`r${i}`, row] as const;
    });
    story.sweep(Object.fromEntries(rows));
    expect(story.alert.startsAt, "7 of 25 are 28 %").toBe(START + 6);
  });

  test("tells when there are more recordings, as many of them offline", () => {
    const story = new Story(
      locationRule({ when: { kind: "location_offline", atLeast: 0.5, clearBelow: 0.1, minRecordings: 2 } }),
    );
    story.sweep({ a: "offline", b: "online" });
    expect(story.sweep({ a: "offline", b: "online", c: "online" })).toEqual([`updated ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ offline: 1, of: 3 });
  });

  test("has its own labels, with its recordings' time zone where its own is not known", () => {
    const story = new Story(locationRule({ labels: { severity: "critical" } }));
    story.recordings.set("a", recording("a"));
    story.recordings.set("b", recording("b", { organisation: "org2", cameraServer: "cs2" }));
    story.sweep({ a: "offline", b: "offline" });
    expect(story.alert.labels).toEqual({
      alertname: "LocationOffline",
      severity: "critical",
      location_id: "L1",
      location: "L1",
      timezone: "Europe/London",
    });
    expect(story.alert.annotations.summary).toBe("L1 is offline");
    expect(story.alert.annotations.description).toContain("2 of 2 recordings");
  });

  test("that is watched no more ends as no longer watched; a rule that is gone, as removed", () => {
    const story = new Story(locationRule());
    story.locationIds = ["L1", "L2"];
    const at = (locationId: string) => ({ status: "offline", locationId }) as const;
    story.sweep({ a: at("L1"), b: at("L1"), c: at("L2"), d: at("L2") });
    story.locationIds = ["L2"];
    story.rules = [];
    expect(story.sweep({ c: at("L2"), d: at("L2") })).toEqual([
      "resolved LocationOffline/location/L2 rule_removed",
      `resolved ${KEY} no_longer_watched`,
    ]);
  });
});
