import { describe, expect, it } from "vitest";
import type { VerdictKind } from "../../bench/chaos/audit.ts";
import { begin, end, judged, kinds, type Line, outage, type Story } from "./scenario.ts";

describe("the audit of what is late, outside its schedule, silenced or acknowledged", () => {
  it("finds what is late though nothing failed, and only that", () => {
    const story: Story = { dark: [outage], told: [begin, end], lateMs: 3_000 };
    expect(kinds(story)).toEqual(["late", "late"]);
    expect(kinds({ ...story, crashes: [12] })).toEqual(["late"]);
    expect(kinds({ ...story, lateMs: 3_100 })).toEqual([]);
  });

  it("finds what was told before it lasted as long as the rule asks", () => {
    const told: Line[] = [
      [11, "firing", 10],
      [33, "recovered", 10, 20],
    ];
    expect(kinds({ dark: [outage], told })).toEqual(["false"]);
    expect(kinds({ dark: [[10, 11]], told: [[20, "late", 10, 1]] })).toEqual(["false"]);
  });

  it.each<[string, VerdictKind[], Story]>([
    [
      "dark only outside its schedule, told",
      ["false", "false"],
      { within: [[0, 5]], dark: [outage], told: [begin] },
    ],
    ["dark when its schedule began, never told", ["lost"], { within: [[20, 300]], dark: [outage] }],
    ["told back outside its schedule", ["false"], { within: [[0, 20]], dark: [outage], told: [begin, end] }],
    [
      "told to be going on outside its schedule",
      ["false"],
      { within: [[0, 20]], dark: [[10, 300]], told: [begin, [40, "still", 10]] },
    ],
    [
      "back within its schedule, and never told back",
      ["unresolved"],
      { within: [[0, 60]], dark: [outage], told: [begin] },
    ],
    [
      "told while it was silenced",
      ["false"],
      { dark: [outage], held: [["silence", 5, 25]], told: [begin, end] },
    ],
    [
      "told again while it was silenced",
      ["false"],
      { dark: [outage], held: [["silence", 14, 60]], told: [begin, [25, "still", 10], end] },
    ],
    [
      "going on when its silence ended, and never told",
      ["lost"],
      { dark: [[10, 60]], held: [["silence", 5, 25]] },
    ],
    [
      "reminded of what was acknowledged",
      ["false"],
      {
        dark: [[10, 60]],
        held: [["ack", 15, 15]],
        told: [begin, [40, "still", 10], [63, "recovered", 10, 50]],
      },
    ],
    [
      "silenced, and its end kept back",
      ["unresolved"],
      { dark: [outage], held: [["silence", 14, 300]], told: [begin] },
    ],
  ])("sees %s", (_, expected, story) => {
    expect(kinds(story).sort()).toEqual([...expected].sort());
  });

  it.each<[string, Story]>([
    ["silence about what is dark outside its schedule", { within: [[0, 5]], dark: [outage] }],
    ["no end of what came back outside its schedule", { within: [[0, 20]], dark: [outage], told: [begin] }],
    [
      "news of what was dark already when its schedule began",
      { within: [[20, 300]], dark: [outage], told: [[23, "firing", 10], end] },
    ],
    ["silence about what was over before its silence was", { dark: [outage], held: [["silence", 5, 60]] }],
    [
      "news as soon as a silence is over",
      {
        dark: [[10, 60]],
        held: [["silence", 5, 25]],
        told: [
          [25.2, "firing", 10],
          [63, "recovered", 10, 50],
        ],
      },
    ],
    ["an end while it is silenced", { dark: [outage], held: [["silence", 14, 200]], told: [begin, end] }],
    ["what is dark to the end", { dark: [[10, 300]], told: [begin, [40, "still", 10]] }],
  ])("accepts %s", (_, story) => {
    expect(kinds(story)).toEqual([]);
  });

  it("says why an outage need not be told", () => {
    expect(judged({ within: [[0, 5]], dark: [outage] }).excused).toEqual({ outside_schedule: 1 });
    expect(judged({ dark: [outage], held: [["silence", 5, 60]] }).excused).toEqual({ held: 1 });
  });

  it("counts as late from the end of what held it, or the beginning of its schedule", () => {
    const silenced: Story = { dark: [[10, 60]], held: [["silence", 5, 25]], told: [[26, "firing", 10]] };
    expect(judged(silenced).delays[0]?.ms).toBe(940);
    const asleep: Story = { within: [[20, 300]], dark: [outage], told: [[23, "firing", 10]] };
    expect(judged(asleep).delays[0]?.ms).toBe(3_040);
  });
});
