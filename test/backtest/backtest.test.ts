/** A history of a few recordings from its buckets to what is counted, and who would have been told. */
import { describe, expect, test } from "vitest";
import { createBacktest } from "../../src/backtest/backtest.ts";
import { messagesOf } from "../../src/backtest/messages.ts";
import { planOf, type ReplaySetup } from "../../src/backtest/setup.ts";
import { compareCounts } from "../../src/backtest/tally.ts";
import type { Recording, RecordingUptime } from "../../src/health/recording.ts";
import { rule } from "../health/shard-history.ts";
import {
  bucketsOf,
  DAY,
  days,
  HOUR,
  inventoryOf,
  type Kind,
  locationOffline,
  lowUptime,
  MINUTE,
  MONDAY,
  matchers,
  offline,
  recording,
  replayed,
  route,
  setupOf,
} from "./histories.ts";

const fine = (hours: number): Kind[] => Array<Kind>(hours).fill("fine");
const dark = (hours: number): Kind[] => Array<Kind>(hours).fill("dark");

/** A history that begins a day before the span. */
const history = (
  id: string,
  kinds: readonly Kind[],
  locationId = "l1",
  more: Partial<Recording> = {},
): RecordingUptime => ({
  recording: recording(id, locationId, more),
  buckets: bucketsOf([...fine(24), ...kinds, ...fine(24 * 30)].slice(0, 24 * 31), MONDAY - DAY),
});

function tallyOf(uptimes: readonly RecordingUptime[], setup: ReplaySetup, span = days(14)) {
  const backtest = createBacktest({ setup, span, now: span.to + DAY, inventory: inventoryOf(uptimes) });
  for (const uptime of uptimes) expect(backtest.add(uptime)).toBe(true);
  return backtest.result();
}

const hours = (ms: number) => ms / HOUR;

describe("what fires", () => {
  test("an outage counts by rule, location and week, from when it fires until it is over", () => {
    const rules = [offline({ forMs: 2 * MINUTE, keepFiringForMs: MINUTE })];
    const { rules: rows, recordings } = tallyOf([history("a", [...fine(10), ...dark(3)])], setupOf(rules));
    expect(rows).toEqual([
      {
        rule: "RecordingOffline",
        locationId: "l1",
        location: "Shop l1",
        week: "2026-W37",
        episodes: 1,
        firingMs: 3 * HOUR - 2 * MINUTE + MINUTE,
        longestMs: 3 * HOUR - 2 * MINUTE + MINUTE,
      },
    ]);
    expect(recordings).toMatchObject([{ recordingId: "a", recording: "Camera a", episodes: 1 }]);
  });

  test("an outage over a Monday counts in its first week, and its hours in both", () => {
    const { rules } = tallyOf([history("a", [...fine(7 * 24 - 5), ...dark(15)])], setupOf([offline()]));
    expect(rules.map(({ week, episodes, firingMs }) => [week, episodes, hours(firingMs)])).toEqual([
      ["2026-W37", 1, 5],
      ["2026-W38", 0, 10],
    ]);
    expect(rules[0]?.longestMs).toBe(15 * HOUR);
  });

  test("what is dark on the first day begins on it, and what is dark on the last goes on to its end", () => {
    const uptimes = [history("a", dark(2)), history("b", [...fine(46), ...dark(10)])];
    const { recordings } = tallyOf(uptimes, setupOf([offline()]), days(2));
    expect(recordings.map(({ recordingId, firingMs }) => [recordingId, hours(firingMs)])).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
  });

  test("an uptime figure counts from the refresh after its bucket has settled", () => {
    const span = { from: MONDAY, to: MONDAY + 12 * HOUR };
    const { recordings } = tallyOf([history("a", [...fine(10), ...dark(1)])], setupOf([lowUptime()]), span);
    // One of 23 finished hours is more than 5 %: so at 11:20, the first refresh after 11:15.
    expect(recordings).toMatchObject([{ episodes: 1, firingMs: 40 * MINUTE }]);
  });

  test("of a bucket that is not finished nothing is known", () => {
    const uptimes = [history("a", [...fine(10), ...dark(1)])];
    const episodes = (now: number) => {
      const inventory = inventoryOf(uptimes);
      const span = { from: MONDAY, to: MONDAY + 11 * HOUR };
      const backtest = createBacktest({ setup: setupOf([offline()]), span, now, inventory });
      for (const uptime of uptimes) backtest.add(uptime);
      return backtest.result().recordings.length;
    };
    expect(episodes(MONDAY + 11 * HOUR + 14 * MINUTE)).toBe(0);
    expect(episodes(MONDAY + 11 * HOUR + 15 * MINUTE)).toBe(1);
  });

  test("outside its schedule a recording is not dark, and an alert waits there", () => {
    const nights: Kind[] = [...fine(18), ...dark(2), ...Array<Kind>(12).fill("outside"), ...dark(1)];
    const { recordings } = tallyOf([history("a", nights)], setupOf([offline()]));
    expect(recordings).toMatchObject([{ episodes: 1, firingMs: 15 * HOUR }]);
    const always = history("b", nights, "l1", { useUploadingSchedule: false });
    expect(tallyOf([always], setupOf([offline()])).recordings).toMatchObject([{ episodes: 1, firingMs: 15 * HOUR }]);
  });

  test("a location is offline when all of its recordings are, wherever else others are", () => {
    const uptimes = [
      history("a", [...fine(5), ...dark(4)]),
      history("b", [...fine(6), ...dark(2)]),
      history("c", dark(20), "l2"),
    ];
    const { rules } = tallyOf(uptimes, setupOf([locationOffline()]));
    expect(rules).toMatchObject([{ rule: "LocationOffline", locationId: "l1", episodes: 1, firingMs: 2 * HOUR }]);
  });

  test("who is not watched is not judged", () => {
    const setup = setupOf([offline()], { isWatched: (id, locationId) => id !== "a" && locationId !== "l2" });
    const uptimes = [history("a", dark(2)), history("b", dark(2)), history("c", dark(2), "l2")];
    expect(tallyOf(uptimes, setup).recordings.map(({ recordingId }) => recordingId)).toEqual(["b"]);
  });

  test("rules that history says nothing about are named with the reason", () => {
    const rules = [
      offline(),
      rule("Flapping", { kind: "flapping", high: 0.3, low: 0.2 }),
      rule("Quality", { kind: "average_quality", below: 0.7, clearAbove: 0.8 }),
      rule("Degraded", { kind: "status", status: "degraded" }),
      rule("Silent", { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR }),
      rule("Unseen", { kind: "last_seen", olderThanMs: HOUR }),
      rule("Missing", { kind: "missing" }),
      rule("Blind", { kind: "service", state: "unreachable" }),
      rule("Mute", { kind: "notifications", state: "failing" }),
    ];
    const { notShown, recording: judged } = planOf(rules);
    expect(judged.map(({ id }) => id)).toEqual(["RecordingOffline"]);
    expect(notShown.map(({ rule: { id } }) => id)).toEqual([
      ...["Flapping", "Quality", "Degraded", "Silent", "Unseen", "Missing", "Blind", "Mute"],
    ]);
    expect(notShown.every(({ why }) => /^[a-z]/.test(why))).toBe(true);
  });
});

test("more than can be counted is said, and nothing more is added", () => {
  const uptimes = ["a", "b", "c"].map((id) => history(id, dark(2)));
  const inventory = inventoryOf(uptimes);
  const now = MONDAY + 30 * DAY;
  const more = { setup: setupOf([offline()]), span: days(14), now, inventory };
  const backtest = createBacktest(more, { mostTransitions: 3 });
  expect(uptimes.map((uptime) => backtest.add(uptime))).toEqual([true, true, false]);
  expect(backtest.result().recordings).toHaveLength(2);
});

describe("who is told", () => {
  const reasons = (uptimes: readonly RecordingUptime[], setup: ReplaySetup) =>
    tallyOf(uptimes, setup).receivers.map(({ receiver, byReason }) => [receiver, byReason]);
  const outage = [history("a", [...fine(10), ...dark(9)])];

  test("of an outage its beginning, a reminder every four hours, and its end", () => {
    expect(reasons(outage, setupOf([offline()]))).toEqual([["ops", { first: 1, reminder: 2, resolved: 1 }]]);
  });

  test("alerts that share a group and begin together share a message", () => {
    const two = [...outage, history("b", [...fine(10), ...dark(9)])];
    expect(reasons(two, setupOf([offline()]))).toEqual([["ops", { first: 1, reminder: 2, resolved: 1 }]]);
    const apart = setupOf([offline()], { route: route({ groupBy: ["recording_id"] }) });
    expect(reasons(two, apart)).toEqual([["ops", { first: 2, reminder: 4, resolved: 2 }]]);
  });

  test("no ends where nobody is told ends", () => {
    const setup = setupOf([offline()], { receivers: [{ name: "ops", sendResolved: false }] });
    expect(reasons(outage, setup)).toEqual([["ops", { first: 1, reminder: 2 }]]);
  });

  test("nothing of what is over before its group had its turn", () => {
    const brief = setupOf([offline({ forMs: 59 * MINUTE })], { route: route({ groupWaitMs: 10 * MINUTE }) });
    expect(reasons([history("a", [...fine(10), ...dark(1)])], brief)).toEqual([]);
  });

  test("receivers by their routes, the first that matches unless it says continue", () => {
    const warnings = { labels: { severity: "warning" } };
    const children = [
      route({ key: "{}/0", receiver: "quiet", matchers: matchers('severity = "warning"'), continue: true }),
      route({ key: "{}/1", receiver: "log", matchers: matchers('alertname =~ "Low.*|Recording.*"') }),
    ];
    const setup = setupOf([offline(warnings)], {
      route: route({ routes: children }),
      receivers: ["ops", "quiet", "log"].map((name) => ({ name, sendResolved: true })),
    });
    expect(reasons(outage, setup).map(([receiver]) => receiver)).toEqual(["quiet", "log"]);
  });

  test("a location speaks for its recordings while it is dark, and what is still dark afterwards is told", () => {
    const inhibitRules = [
      {
        sourceMatchers: matchers('alertname = "LocationOffline"'),
        targetMatchers: matchers('alertname =~ "Recording.*"'),
        equal: ["location_id"],
      },
    ];
    const apart = { route: route({ groupBy: ["alertname"], repeatIntervalMs: 30 * DAY }), inhibitRules };
    const rules = [offline({ forMs: 2 * MINUTE }), locationOffline({ forMs: MINUTE })];
    const both = [history("a", [...fine(9), ...dark(2)]), history("b", [...fine(9), ...dark(3)])];
    // The location's beginning and end; then b alone, which was still dark, and its end.
    expect(reasons(both, setupOf(rules, apart))).toEqual([["ops", { first: 2, resolved: 2 }]]);
    expect(reasons(both, setupOf(rules, { ...apart, inhibitRules: [] }))).toEqual([["ops", { first: 2, resolved: 3 }]]);
  });

  test("a muted route says nothing, and what still fires when that is over is told then", () => {
    const night = { name: "night", intervals: [{ times: [{ from: 0, to: 12 * 60 }], location: "UTC" }] };
    const muted = route({ key: "{}/0", muteTimes: [night], repeatIntervalMs: 30 * DAY });
    const setup = setupOf([offline()], { route: route({ routes: [muted] }) });
    expect(reasons([history("a", [...fine(9), ...dark(2)])], setup)).toEqual([]);
    expect(reasons([history("a", [...fine(9), ...dark(5)])], setup)).toEqual([["ops", { first: 1, resolved: 1 }]]);
  });

  test("no reminders while an alert waits for its schedule", () => {
    const nights: Kind[] = [...fine(18), ...dark(2), ...Array<Kind>(12).fill("outside"), ...dark(2)];
    const notified = [["ops", { first: 1, reminder: 1, resolved: 1 }]];
    expect(reasons([history("a", nights)], setupOf([offline()]))).toEqual(notified);
    const whole = [history("a", nights), history("b", nights)];
    expect(reasons(whole, setupOf([locationOffline()]))).toEqual(notified);
  });

  test("more groups at once than the route wants told one by one are one message", () => {
    const many = Array.from({ length: 12 }, (_, i) => history(`r${i}`, [...fine(10), ...dark(2)], `l${i}`));
    expect(reasons(many, setupOf([offline()]))).toEqual([["ops", { first: 1, resolved: 1 }]]);
    const each = setupOf([offline()], { route: route({ stormGroups: undefined }) });
    expect(reasons(many, each)).toEqual([["ops", { first: 12, resolved: 12 }]]);
  });
});

describe("when they are told", () => {
  const at = (uptimes: readonly RecordingUptime[], setup: ReplaySetup) => {
    const span = days(3);
    const transitions = replayed(uptimes, setup, span).sort((a, b) => a.alert.updatedAt - b.alert.updatedAt);
    return messagesOf(transitions, setup, span.to).map(
      (message) => `${new Date(message.at).toISOString().slice(11, 19)} ${message.reason}`,
    );
  };

  test("after group_wait, then group_interval after the last message, and repeat_interval for reminders", () => {
    const uptimes = [
      history("a", [...fine(10), ...dark(5)]),
      history("b", [...fine(10), ...dark(5)]),
      history("c", [...fine(11), ...dark(1)]),
    ];
    expect(at(uptimes, setupOf([offline()]))).toEqual([
      ...["10:00:30 first", "11:00:00 more", "12:00:00 resolved", "15:00:00 resolved"],
    ]);
    const slow = setupOf([offline()], { route: route({ groupIntervalMs: 90 * MINUTE }) });
    expect(at(uptimes, slow)).toEqual(["10:00:30 first", "11:30:30 more", "13:00:30 resolved", "15:00:00 resolved"]);
  });

  test("a group that was empty for long waits for company anew", () => {
    const uptimes = [history("a", [...fine(10), ...dark(1), ...fine(1), ...dark(1)])];
    expect(at(uptimes, setupOf([offline()]))).toEqual([
      ...["10:00:30 first", "11:00:00 resolved", "12:00:30 first", "13:00:00 resolved"],
    ]);
    const close = setupOf([offline()], { route: route({ groupIntervalMs: HOUR }) });
    expect(at(uptimes, close)).toEqual([
      ...["10:00:30 first", "11:00:30 resolved", "12:00:30 first", "13:00:30 resolved"],
    ]);
  });

  test("at once, when what held it back is over", () => {
    const inhibitRules = [
      {
        sourceMatchers: matchers('alertname = "LocationOffline"'),
        targetMatchers: matchers('alertname =~ "Recording.*"'),
        equal: ["location_id"],
      },
    ];
    const setup = setupOf([offline({ forMs: 2 * MINUTE }), locationOffline({ forMs: MINUTE })], {
      route: route({ groupBy: ["alertname"], groupIntervalMs: 4 * HOUR, repeatIntervalMs: 30 * DAY }),
      inhibitRules,
    });
    const both = [history("a", [...fine(9), ...dark(2)]), history("b", [...fine(9), ...dark(3)])];
    expect(at(both, setup)).toEqual([
      ...["09:01:30 first", "11:00:00 first", "13:01:30 resolved", "15:00:00 resolved"],
    ]);
  });

  test("a storm takes along who waits for company a moment longer", () => {
    const rules = [offline(), locationOffline({ forMs: 30_000 })];
    const setup = setupOf(
      rules.map((one) =>
        one.when.kind === "location_offline" ? { ...one, when: { ...one.when, minRecordings: 1 } } : one,
      ),
      { route: route({ groupBy: ["alertname", "location_id"] }) },
    );
    const shops = Array.from({ length: 6 }, (_, i) => history(`r${i}`, [...fine(9), ...dark(1)], `l${i}`));
    expect(at(shops, setup)).toEqual(["09:00:30 first", "10:00:00 resolved"]);
  });
});

describe("beside another configuration", () => {
  const uptimes = [history("a", [...fine(10), ...dark(3)]), history("b", [...fine(40), ...dark(1)], "l2")];
  const strict = tallyOf(uptimes, setupOf([offline()]));
  const calm = tallyOf(
    uptimes,
    setupOf([
      rule("Late", { kind: "location_offline", atLeast: 1, clearBelow: 1, minRecordings: 1 }),
      offline({ forMs: 2 * HOUR }),
    ]),
  );

  test("each row has what both counted, 0 where one has none", () => {
    const { rules, recordings, receivers } = compareCounts(strict, calm);
    expect(
      rules.map(({ rule: id, locationId, first, second }) => [id, locationId, first.episodes, second?.episodes]),
    ).toEqual([
      ["RecordingOffline", "l1", 1, 1],
      ["RecordingOffline", "l2", 1, 0],
      ["Late", "l1", 0, 1],
      ["Late", "l2", 0, 1],
    ]);
    expect(recordings.map(({ recordingId, second }) => [recordingId, hours(second?.firingMs ?? 0)])).toEqual([
      ["a", 1],
      ["b", 0],
    ]);
    expect(receivers).toMatchObject([{ receiver: "ops", week: "2026-W37", first: { messages: 4 } }]);
  });

  test("a rule's rows add up", () => {
    const [sum] = compareCounts(strict, calm).totals;
    expect(sum).toMatchObject({
      rule: "RecordingOffline",
      first: { episodes: 2, firingMs: 4 * HOUR, longestMs: 3 * HOUR },
      second: { episodes: 1, firingMs: HOUR },
    });
    expect(compareCounts(strict).totals).toMatchObject([{ first: { episodes: 2 }, second: undefined }]);
  });
});
