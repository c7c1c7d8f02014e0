import { describe, expect, it } from "vitest";
import type { VerdictKind } from "../../bench/chaos/audit.ts";
import { begin, end, judged, kinds, type Line, outage, type Scenario } from "./scenario.ts";

describe("the audit of what is late, outside its schedule, silenced or acknowledged", () => {
  it("finds what is late though nothing failed, and only that", () => {
    const scenario: Scenario = { offline: [outage], told: [begin, end], lateMs: 3_000 };
    expect(kinds(scenario)).toEqual(["late", "late"]);
    expect(kinds({ ...scenario, crashes: [12] })).toEqual(["late"]);
    expect(kinds({ ...scenario, lateMs: 3_100 })).toEqual([]);
  });

  it("finds what was told before it lasted as long as the rule asks", () => {
    const told: Line[] = [
      [11, "firing", 10],
      [33, "recovered", 10, 20],
    ];
    expect(kinds({ offline: [outage], told })).toEqual(["false"]);
    expect(kinds({ offline: [[10, 11]], told: [[20, "late", 10, 1]] })).toEqual(["false"]);
  });

  it.each<[string, VerdictKind[], Scenario]>([
    [
      "dark only outside its schedule, told",
      ["false", "false"],
      { within: [[0, 5]], offline: [outage], told: [begin] },
    ],
    ["dark when its schedule began, never told", ["lost"], { within: [[20, 300]], offline: [outage] }],
    [
      "told back outside its schedule",
      ["false"],
      { within: [[0, 20]], offline: [outage], told: [begin, end] },
    ],
    [
      "told to be going on outside its schedule",
      ["false"],
      { within: [[0, 20]], offline: [[10, 300]], told: [begin, [40, "still", 10]] },
    ],
    [
      "back within its schedule, and never told back",
      ["unresolved"],
      { within: [[0, 60]], offline: [outage], told: [begin] },
    ],
    [
      "told while it was silenced",
      ["false"],
      { offline: [outage], suppressions: [["silence", 5, 25]], told: [begin, end] },
    ],
    [
      "told again while it was silenced",
      ["false"],
      { offline: [outage], suppressions: [["silence", 14, 60]], told: [begin, [25, "still", 10], end] },
    ],
    [
      "going on when its silence ended, and never told",
      ["lost"],
      { offline: [[10, 60]], suppressions: [["silence", 5, 25]] },
    ],
    [
      "reminded of what was acknowledged",
      ["false"],
      {
        offline: [[10, 60]],
        suppressions: [["ack", 15, 15]],
        told: [begin, [40, "still", 10], [63, "recovered", 10, 50]],
      },
    ],
    [
      "silenced, and its end kept back",
      ["unresolved"],
      { offline: [outage], suppressions: [["silence", 14, 300]], told: [begin] },
    ],
  ])("sees %s", (_, expected, scenario) => {
    expect(kinds(scenario).sort()).toEqual([...expected].sort());
  });

  it.each<[string, Scenario]>([
    ["silence about what is dark outside its schedule", { within: [[0, 5]], offline: [outage] }],
    [
      "no end of what came back outside its schedule",
      { within: [[0, 20]], offline: [outage], told: [begin] },
    ],
    [
      "news of what was dark already when its schedule began",
      { within: [[20, 300]], offline: [outage], told: [[23, "firing", 10], end] },
    ],
    [
      "silence about what was over before its silence was",
      { offline: [outage], suppressions: [["silence", 5, 60]] },
    ],
    [
      "news as soon as a silence is over",
      {
        offline: [[10, 60]],
        suppressions: [["silence", 5, 25]],
        told: [
          [25.2, "firing", 10],
          [63, "recovered", 10, 50],
        ],
      },
    ],
    [
      "an end while it is silenced",
      { offline: [outage], suppressions: [["silence", 14, 200]], told: [begin, end] },
    ],
    ["what is dark to the end", { offline: [[10, 300]], told: [begin, [40, "still", 10]] }],
  ])("accepts %s", (_, scenario) => {
    expect(kinds(scenario)).toEqual([]);
  });

  it("says why an outage need not be told", () => {
    expect(judged({ within: [[0, 5]], offline: [outage] }).excused).toEqual({ outside_schedule: 1 });
    expect(judged({ offline: [outage], suppressions: [["silence", 5, 60]] }).excused).toEqual({
      suppressed: 1,
    });
  });

  it("counts as late from the end of what held it, or the beginning of its schedule", () => {
    const silenced: Scenario = {
      offline: [[10, 60]],
      suppressions: [["silence", 5, 25]],
      told: [[26, "firing", 10]],
    };
    expect(judged(silenced).delays[0]?.ms).toBe(940);
    const asleep: Scenario = { within: [[20, 300]], offline: [outage], told: [[23, "firing", 10]] };
    expect(judged(asleep).delays[0]?.ms).toBe(3_040);
  });
});
