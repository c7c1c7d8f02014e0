import { describe, expect, test } from "vitest";
import { reassign, removeLocations, removeRules } from "../../src/health/judge.ts";
import { emptyShard, locationRule, missingRule, offlineRule, Story } from "./story.ts";

function twoLocations(): Story {
  const story = new Story(offlineRule(), locationRule());
  story.locationIds = ["L1", "L2"];
  const at = (locationId: string) => ({ status: "offline", locationId }) as const;
  story.sweep({ a: at("L1"), b: at("L1"), c: at("L2"), d: { locationId: "L2" } });
  return story;
}

const keys = (judged: {
  transitions: readonly { alert: { key: string; endReason?: string | undefined } }[];
}) => judged.transitions.map(({ alert }) => `${alert.key} ${alert.endReason}`);

describe("reassign", () => {
  test("moves a location with its recordings and alerts, and nothing is told", () => {
    const story = twoLocations();
    const { from, to } = reassign(story.state, emptyShard, new Set(["L1"]));
    expect([...from.recordings.keys(), ...from.locations.keys()]).toEqual(["c", "d", "L2"]);
    expect([...to.recordings.keys(), ...to.locations.keys()]).toEqual(["a", "b", "L1"]);
    const rest = new Story(offlineRule(), locationRule());
    rest.now = story.now;
    rest.state = to;
    expect(rest.sweep({ a: "offline", b: "offline" }), "goes on where it was").toEqual([]);
    expect(rest.sweep({ a: "online", b: "online" })).toHaveLength(3);
  });

  test("a recording in both keeps the later reading and the alerts of both", () => {
    const story = twoLocations();
    const other = new Story(missingRule());
    other.now = story.now;
    other.sweep({ a: "online" });
    const { to } = reassign(story.state, other.state, new Set(["L1"]));
    expect(to.recordings.get("a")).toMatchObject({ status: "online", readAt: other.now });
    expect(Object.keys(to.recordings.get("a")?.alerts ?? {})).toEqual(["RecordingOffline"]);
    const back = reassign(other.state, story.state, new Set(["L1"])).to;
    expect(back.recordings.get("a")).toEqual(to.recordings.get("a"));
  });
});

test("removeLocations ends what is said of them and forgets them", () => {
  const story = twoLocations();
  const judged = removeLocations(story.state, new Set(["L1"]), story.now + 1);
  expect(keys(judged)).toEqual([
    "RecordingOffline/recording/a no_longer_watched",
    "RecordingOffline/recording/b no_longer_watched",
    "LocationOffline/location/L1 no_longer_watched",
  ]);
  expect([...judged.next.recordings.keys(), ...judged.next.locations.keys()]).toEqual(["c", "d", "L2"]);
  expect(judged.decisions.map(({ reason }) => reason)).toEqual(Array(5).fill("no_longer_watched"));
});

test("removeRules ends alerts of rules that are gone and keeps the rest", () => {
  const story = twoLocations();
  const judged = removeRules(story.state, [locationRule()], story.now + 1);
  expect(keys(judged)).toEqual(["a", "b", "c"].map((id) => `RecordingOffline/recording/${id} rule_removed`));
  expect(judged.next.recordings.get("a")?.alerts).toBeUndefined();
  expect(Object.keys(judged.next.locations.get("L1")?.alerts ?? {})).toEqual(["LocationOffline"]);
});
