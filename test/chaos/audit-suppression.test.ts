import { describe, expect, it } from "vitest";
import type { VerdictKind } from "../../bench/chaos/audit.ts";
import { type KnownSuppression, withdrawnTogether } from "../../bench/chaos/suppressions.ts";
import { begin, end, judged, kinds, type Line, outage, type Scenario } from "./scenario.ts";

describe("acknowledgements of one recording", () => {
  it("end together: one that is withdrawn takes an earlier one with it, and no later one", () => {
    const ack = (maybeFrom: number, surelyUntil: number, recordingIds = ["a"]): KnownSuppression => {
      return { kind: "ack", recordingIds, maybeFrom, surelyFrom: maybeFrom, surelyUntil, maybeUntil: surelyUntil };
    };
    const all = [ack(10, Infinity, ["a", "b"]), ack(20, 30), ack(40, Infinity)];
    const until = withdrawnTogether(all).map(({ recordingIds, surelyUntil }) => [recordingIds.join(), surelyUntil]);
    expect(until).toEqual([
      ["a", 30],
      ["b", Infinity],
      ["a", 30],
      ["a", Infinity],
    ]);
  });
});

describe("the audit of what is late, outside its schedule, silenced or acknowledged", () => {
  it("finds late notifications only where nothing failed", () => {
    const scenario: Scenario = { offline: [outage], sent: [begin, end], lateMs: 3_000 };
    expect(kinds(scenario)).toEqual(["late", "late"]);
    expect(kinds({ ...scenario, crashes: [12] })).toEqual(["late"]);
    expect(kinds({ ...scenario, lateMs: 3_100 })).toEqual([]);
  });

  it("finds notifications before the rule's `for` was over", () => {
    const sent: Line[] = [
      [11, "firing", 10],
      [33, "recovered", 10, 20],
    ];
    expect(kinds({ offline: [outage], sent })).toEqual(["false"]);
    expect(kinds({ offline: [[10, 11]], sent: [[20, "late", 10, 1]] })).toEqual(["false"]);
  });

  it.each<[string, VerdictKind[], Scenario]>([
    [
      "offline only outside its schedule, notified",
      ["false", "false"],
      { within: [[0, 5]], offline: [outage], sent: [begin] },
    ],
    ["offline when its schedule began, never notified", ["lost"], { within: [[20, 300]], offline: [outage] }],
    [
      "notified as recovered outside its schedule",
      ["false"],
      { within: [[0, 20]], offline: [outage], sent: [begin, end] },
    ],
    [
      "a reminder outside its schedule",
      ["false"],
      { within: [[0, 20]], offline: [[10, 300]], sent: [begin, [40, "still", 10]] },
    ],
    [
      "recovered within its schedule, never resolved",
      ["unresolved"],
      { within: [[0, 60]], offline: [outage], sent: [begin] },
    ],
    [
      "notified while silenced",
      ["false"],
      { offline: [outage], suppressions: [["silence", 5, 25]], sent: [begin, end] },
    ],
    [
      "a reminder while silenced",
      ["false"],
      { offline: [outage], suppressions: [["silence", 14, 60]], sent: [begin, [25, "still", 10], end] },
    ],
    [
      "still firing when its silence ended, never notified",
      ["lost"],
      { offline: [[10, 60]], suppressions: [["silence", 5, 25]] },
    ],
    [
      "a reminder while acknowledged",
      ["false"],
      {
        offline: [[10, 60]],
        suppressions: [["ack", 15, 15]],
        sent: [begin, [40, "still", 10], [63, "recovered", 10, 50]],
      },
    ],
    [
      "silenced, and never resolved",
      ["unresolved"],
      { offline: [outage], suppressions: [["silence", 14, 300]], sent: [begin] },
    ],
  ])("sees %s", (_, expected, scenario) => {
    expect(kinds(scenario).sort()).toEqual([...expected].sort());
  });

  it.each<[string, Scenario]>([
    ["no notification of an outage outside its schedule", { within: [[0, 5]], offline: [outage] }],
    ["no end of a recovery outside its schedule", { within: [[0, 20]], offline: [outage], sent: [begin] }],
    [
      "a notification when the schedule began of an earlier outage",
      { within: [[20, 300]], offline: [outage], sent: [[23, "firing", 10], end] },
    ],
    [
      "no notification of an outage that ended during its silence",
      { offline: [outage], suppressions: [["silence", 5, 60]] },
    ],
    [
      "a notification as soon as a silence is over",
      {
        offline: [[10, 60]],
        suppressions: [["silence", 5, 25]],
        sent: [
          [25.2, "firing", 10],
          [63, "recovered", 10, 50],
        ],
      },
    ],
    ["an end while it is silenced", { offline: [outage], suppressions: [["silence", 14, 200]], sent: [begin, end] }],
    ["an outage to the end of the run", { offline: [[10, 300]], sent: [begin, [40, "still", 10]] }],
  ])("accepts %s", (_, scenario) => {
    expect(kinds(scenario)).toEqual([]);
  });

  it("gives the reason why an outage need not be notified", () => {
    expect(judged({ within: [[0, 5]], offline: [outage] }).excused).toEqual({ outside_schedule: 1 });
    expect(judged({ offline: [outage], suppressions: [["silence", 5, 60]] }).excused).toEqual({ suppressed: 1 });
  });

  it("counts delays from the end of the suppression, or the start of the schedule", () => {
    const silenced: Scenario = { offline: [[10, 60]], suppressions: [["silence", 5, 25]], sent: [[26, "firing", 10]] };
    expect(judged(silenced).delays[0]?.ms).toBe(940);
    const suspended: Scenario = { within: [[20, 300]], offline: [outage], sent: [[23, "firing", 10]] };
    expect(judged(suspended).delays[0]?.ms).toBe(3_040);
  });
});
