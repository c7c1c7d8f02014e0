/** A history of a few recordings from its buckets to what is counted. */
import { describe, expect, test } from "vitest";
import { createBacktest } from "../../src/backtest/backtest.ts";
import { planOf, type ReplaySetup } from "../../src/backtest/setup.ts";
import type { Recording, RecordingUptime } from "../../src/health/recording.ts";
import { rule } from "../health/shard-history.ts";
import {
  bucketsOf,
  DAY,
  days,
  HOUR,
  inventoryOf,
  type Kind,
  MINUTE,
  MONDAY,
  offline,
  recording,
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

test("a rule's rows add up to its total", () => {
  const uptimes = [history("a", [...fine(10), ...dark(3)]), history("b", [...fine(40), ...dark(1)], "l2")];
  const { rules, totals } = tallyOf(uptimes, setupOf([offline()]));
  expect(rules.map(({ locationId, episodes }) => [locationId, episodes])).toEqual([
    ["l1", 1],
    ["l2", 1],
  ]);
  expect(totals).toMatchObject([{ rule: "RecordingOffline", episodes: 2, firingMs: 4 * HOUR, longestMs: 3 * HOUR }]);
});
