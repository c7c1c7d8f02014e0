/** Alerts of recordings, locations and camera servers on random layouts: one cause is one alert that is not inhibited. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import { INTERVAL, MINUTE } from "../health/shard-history.ts";
import {
  Fleet,
  type Layout,
  layouts,
  locationKey,
  outageOn,
  outages,
  outagesOf,
  recordingKey,
  serverKey,
} from "./outage-fleet.ts";

/** The widest true causes: sets of recordings that are all offline, without those inside of another one. */
function causesOf(layout: Layout, offline: ReadonlySet<number>): string[] {
  const sets = (side: 0 | 1, least: number, keyOf: (name: string) => string) =>
    [...Map.groupBy(layout.keys(), (i) => layout[i]?.[side] ?? "")]
      .filter(([, of]) => of.length >= least && of.every((i) => offline.has(i)))
      .map(([name, of]) => ({ key: keyOf(name), of: new Set(of) }));
  // Of a location and a server with the same recordings, the location.
  const all = [...sets(0, 2, locationKey), ...sets(1, 3, serverKey)];
  const causes = all.filter(({ of }, i) =>
    all.every((other, j) => i === j || !of.isSubsetOf(other.of) || (of.size === other.of.size && i < j)),
  );
  const covered = new Set(causes.flatMap(({ of }) => [...of]));
  return [...causes.map(({ key }) => key), ...[...offline.difference(covered)].map(recordingKey)].sort();
}

describe("one cause", () => {
  test("is one alert that is not inhibited, the widest true one", () => {
    fc.assert(
      fc.property(outageOn, ([layout, offline]) => {
        const fleet = new Fleet(layout);
        fleet.offline = offline;
        fleet.ticks(Math.ceil((3 * MINUTE) / INTERVAL));
        expect(fleet.notified()).toEqual(causesOf(layout, offline));
      }),
      { numRuns: 50 },
    );
  });

  test("always leaves an alert that covers each offline recording, and no two inhibit each other, whatever changes", () => {
    const changing = layouts.chain((layout) => {
      const added = fc.tuple(...[0, 1].map(() => fc.constantFrom(...layout))).map((of) => [of[0]?.[0], of[1]?.[1]]);
      const phase = fc.tuple(outagesOf(layout), fc.option(added));
      return fc.tuple(fc.constant<Layout>(layout), fc.array(phase, { maxLength: 4 }));
    });
    fc.assert(
      fc.property(changing, ([of, phases]) => {
        const fleet = new Fleet(of);
        for (const [offline, [place, on] = []] of phases.map(([down, added]) => [down, added ?? undefined] as const)) {
          // One that is added is offline.
          if (place && on) fleet.layout = [...fleet.layout, [place, on]];
          const { layout } = fleet;
          fleet.offline = new Set([...offline, ...Array.from(layout, (_, i) => i).slice(of.length)]);
          for (let i = 0; i < 7; i++) {
            fleet.tick();
            const { inhibitor } = fleet.inhibitions();
            for (const alert of fleet.firing.values()) expect(rootOf(alert, inhibitor)).toBeDefined();
            const notified = new Set(fleet.notified());
            for (const [n, [location, server]] of layout.entries()) {
              if (!fleet.firing.has(recordingKey(n))) continue;
              const covering = [recordingKey(n), locationKey(location), serverKey(server)];
              expect(covering.some((key) => notified.has(key))).toBe(true);
            }
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** The alert at the end of those that inhibit each other in turn; undefined where they never end. */
function rootOf(alert: Alert, inhibitor: (alert: Alert) => Alert | undefined, left = 10): Alert | undefined {
  const by = inhibitor(alert);
  return by && left > 0 ? rootOf(by, inhibitor, left - 1) : by ? undefined : alert;
}

test("what is added to a location whose camera server explains its outage is notified unless it is on that server", () => {
  const fleet = new Fleet([..."AAACC"].map((at) => [at, "s1"]));
  fleet.offline = new Set([0, 1, 2, 3, 4]);
  fleet.ticks(5);
  expect(fleet.notified()).toEqual([serverKey("s1")]);
  fleet.layout = [...fleet.layout, ["A", "s2"], ["A", "s1"]];
  fleet.offline = new Set(fleet.layout.keys());
  fleet.ticks(10);
  expect(fleet.firing.has(locationKey("A"))).toBe(true);
  expect(fleet.notified()).toEqual([serverKey("s1"), recordingKey(5)]);
});

test("a recording that moves to another camera server while offline stays one alert, and is notified once its old one recovers", () => {
  const fleet = new Fleet([..."AACCA"].map((at, i) => [at, i < 4 ? "s1" : "s2"]));
  fleet.offline = new Set([0, 1, 2, 3]);
  fleet.ticks(5);
  expect(fleet.notified()).toEqual([serverKey("s1")]);
  const id = fleet.firing.get(recordingKey(0))?.id;
  fleet.layout = fleet.layout.map(([at, server], i) => [at, i === 0 ? "s2" : server]);
  const moved = fleet.ticks(5);
  expect(moved.filter((one) => !one.startsWith("updated"))).toEqual([]);
  expect(fleet.firing.get(recordingKey(0))).toMatchObject({ id, labels: { camera_server: "s1" } });
  expect(fleet.firing.get(serverKey("s1"))?.facts, "it is counted where it is").toMatchObject({ offline: 3, of: 3 });
  expect(fleet.notified()).toEqual([serverKey("s1")]);
  fleet.offline = new Set([0]);
  fleet.ticks(15);
  expect(fleet.notified()).toEqual([recordingKey(0)]);
});

describe("a camera server", () => {
  const serverRules = outages.filter(({ when }) => when.kind === "group_offline");
  const KEY = serverKey("s1");
  /** Four recordings at two locations of two shards, and one of another server. */
  const layout: Layout = [..."AACC", "A"].map((at, i) => [at, i < 4 ? "s1" : "s2"]);
  const down = new Set([0, 1, 2, 3]);
  function fleetOf(offline: ReadonlySet<number>, ticks: number, of: Layout = layout): Fleet {
    const fleet = new Fleet(of, serverRules);
    fleet.offline = new Set(offline);
    fleet.ticks(ticks);
    return fleet;
  }

  test("is offline when all its recordings are, for as long as its rule says, and recovers below clear_below", () => {
    const fleet = fleetOf(new Set([0, 1, 2]), 5);
    fleet.offline = new Set(down);
    expect(fleet.ticks(2), "one minute has not passed").toEqual([]);
    expect(fleet.tick()).toEqual([`firing ${KEY}`]);
    expect(fleet.firing.get(KEY)).toMatchObject({
      labels: { camera_server: "s1", organisation: "Acme", timezone: "Europe/London", severity: "critical" },
      annotations: {
        summary: "Camera server s1 is offline",
        description: expect.stringMatching(/^4 of 4 recordings offline since .* UTC, at A and C\.$/),
      },
      facts: {
        offline: 4,
        of: 4,
        locations: 2,
        locationNames: ["A", "C"],
        isAlone: true,
        problem: "camera_server_offline",
        timezone: "Europe/London",
      },
    });
    expect(fleet.firing.get(KEY)?.labels, "it is at two").not.toHaveProperty("location_id");
    fleet.offline = new Set([0, 1, 2, 4]);
    expect(fleet.tick(), "75 %, and another one is offline").toEqual([`updated ${KEY}`]);
    expect(fleet.firing.get(KEY)?.facts).toMatchObject({ offline: 3, of: 4, clearing: true });
    expect(fleet.firing.get(KEY)?.facts).not.toHaveProperty("isAlone");
    expect(fleet.ticks(11).at(-1)).toBe(`resolved ${KEY} recovered`);
  });

  test("has the labels that its recordings share, and is raised for a whole location where no rule on locations is", () => {
    const fleet = fleetOf(
      new Set([0, 1, 2]),
      4,
      [..."AAAC"].map((at, i) => [at, i < 3 ? "s1" : "s2"] as const),
    );
    expect(fleet.firing.get(KEY)?.labels).toMatchObject({ location_id: "A", location: "A" });
  });

  test("is not evaluated by what a failed sweep, or a failed part of one, leaves open", () => {
    for (const fail of [(fleet: Fleet) => fleet.failing.add("C"), (fleet: Fleet) => fleet.unread.add("C")]) {
      const fleet = fleetOf(new Set([0, 1]), 5);
      fail(fleet);
      fleet.offline = new Set(down);
      expect(fleet.ticks(20), "those at C may be online").toEqual([]);
      fleet.failing.clear();
      fleet.unread.clear();
      expect(fleet.ticks(3)).toEqual([`firing ${KEY}`]);
      fail(fleet);
      fleet.offline = new Set();
      expect(fleet.ticks(20), "half of them are online, which is enough").toContain(`resolved ${KEY} recovered`);
    }
  });

  test("does not begin while a shard was never swept, or not since a rule by its label", () => {
    for (const counted of [false, true]) {
      const fleet = new Fleet(layout, counted ? [] : serverRules);
      if (!counted) fleet.failing.add("C");
      fleet.offline = new Set([0, 1, 4]);
      fleet.layout = [...layout, ["A", "s1"]];
      fleet.offline.add(5);
      fleet.ticks(3);
      fleet.rules = serverRules;
      fleet.failing.add("C");
      expect(fleet.ticks(10), "those at C may be online").toEqual([]);
      fleet.failing.clear();
      fleet.offline = new Set([...down, 5]);
      expect(fleet.ticks(3)).toEqual([`firing ${KEY}`]);
    }
  });

  test("is evaluated in the rhythm of sweeps that are slow", () => {
    const fleet = fleetOf(new Set(), 1);
    fleet.rhythm = 5;
    fleet.ticks(25);
    fleet.offline = new Set(down);
    expect(fleet.ticks(20)).toEqual([`firing ${KEY}`]);
    fleet.offline = new Set();
    expect(fleet.ticks(40).at(-1)).toBe(`resolved ${KEY} recovered`);
  });

  test("is not evaluated twice by one sweep", () => {
    const fleet = fleetOf(down, 1);
    fleet.failing.add("C").add("AB");
    expect(fleet.ticks(20)).toEqual([]);
  });

  test("does not count recordings outside their schedule, and pauses with all of them", () => {
    const fleet = fleetOf(new Set([0, 1, 2]), 1);
    fleet.outside.add(3);
    expect(fleet.ticks(3)).toEqual([`firing ${KEY}`]);
    expect(fleet.firing.get(KEY)?.facts).toMatchObject({ offline: 3, of: 3, outside: 1 });
    for (const i of down) fleet.outside.add(i);
    fleet.offline = new Set();
    fleet.ticks(20);
    expect(fleet.firing.get(KEY)?.facts).toMatchObject({ paused: true });
  });

  test("ends with its rule, and when its last recording left the fleet while all shards are read", () => {
    const removed = fleetOf(down, 3);
    removed.rules = [];
    expect(removed.tick()).toEqual([`resolved ${KEY} rule_removed`]);
    const left = fleetOf(down, 3);
    left.failing.add("AB");
    left.layout = layout.map(([at]) => [at, "s2"]);
    expect(left.ticks(4)).toEqual([]);
    left.failing.clear();
    expect(left.ticks(4)).toEqual([`resolved ${KEY} no_longer_watched`]);
  });

  test("does not end where no sweep has it for a moment, while its locations change their shards", () => {
    const fleet = fleetOf(down, 3);
    fleet.layout = layout.map(([at]) => [at, "s2"]);
    expect(fleet.tick()).toEqual([]);
    fleet.layout = layout;
    expect(fleet.ticks(5)).toEqual([]);
  });
});
