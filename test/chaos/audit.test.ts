import { describe, expect, it } from "vitest";
import type { Verdict, VerdictKind } from "../../bench/chaos/audit.ts";
import { allowedRepetitions } from "../../bench/chaos/repetitions.ts";
import { begin, end, judged, kinds, type Line, outage, type Scenario } from "./scenario.ts";

describe("the audit of a chaos run", () => {
  it("accepts an outage that was notified and resolved", () => {
    const found = judged({ offline: [outage], sent: [begin, end] });
    expect(found.verdicts).toEqual([]);
    expect(found).toMatchObject({ outages: 1, mustBeNotified: 1, notices: 2, doubled: { messages: 0 } });
    expect(found.delays).toEqual([
      expect.objectContaining({ ms: 3_040, kind: "firing", undisturbed: true }),
      expect.objectContaining({ ms: 3_040, kind: "recovered", undisturbed: true }),
    ]);
  });

  it.each<[string, VerdictKind[], Scenario]>([
    ["an outage never notified", ["lost"], { offline: [outage] }],
    ["the second of two outages", ["lost"], { offline: [outage, [60, 80]], sent: [begin, end] }],
    [
      "an outage with the notification of another one",
      ["lost"],
      {
        offline: [outage, [60, 80]],
        sent: [
          [63, "firing", 60],
          [83, "recovered", 60, 20],
        ],
      },
    ],
    ["an end never notified", ["unresolved"], { offline: [outage], sent: [begin] }],
    [
      "an end missing before the next start",
      ["unresolved"],
      { offline: [outage, [60, 80]], sent: [begin, [63, "firing", 60], [83, "recovered", 60, 20]] },
    ],
    [
      "a notification without an outage",
      ["false", "false"],
      {
        sent: [
          [13, "firing", 10],
          [20, "recovered", 10, 5],
        ],
      },
    ],
    [
      "a notification of a start while it was online",
      ["lost", "false", "false"],
      {
        offline: [outage],
        sent: [
          [60, "firing", 57],
          [63, "recovered", 57, 3],
        ],
      },
    ],
    [
      "a notification as ongoing long after the end",
      ["false"],
      {
        offline: [outage],
        sent: [
          [60, "firing", 10],
          [61, "recovered", 10, 20],
        ],
      },
    ],
    ["a recovery notified while offline", ["false"], { offline: [[10, 60]], sent: [begin, [33, "recovered", 10, 20]] }],
    ["a recovery without a first notification", ["lost", "false"], { offline: [outage], sent: [end] }],
    ["a late notification while offline", ["false"], { offline: [[10, 60]], sent: [[33, "late", 10, 20]] }],
    ["a late notification without an outage", ["false"], { sent: [[33, "late", 10, 20]] }],
    ["an end for a wrong reason", ["false", "unresolved"], { offline: [outage], sent: [begin, [33, "ended", 10, 20]] }],
    ["a reminder without a first notification", ["lost", "false"], { offline: [outage], sent: [[20, "still", 10]] }],
    [
      "a reminder after the end",
      ["false"],
      { offline: [outage], sent: [begin, [60, "still", 10], [61, "recovered", 10, 20]] },
    ],
    ["a start notified twice", ["doubled"], { offline: [outage], sent: [begin, [20, "firing", 10], end] }],
    ["an end sent twice", ["doubled"], { offline: [outage], sent: [begin, end, [50, "recovered", 10, 20]] }],
    [
      "a start notified again after its end",
      ["doubled"],
      { offline: [outage], sent: [begin, end, [34, "firing", 10], [36, "recovered", 10, 20]] },
    ],
    [
      "a late notification of a notified outage",
      ["doubled"],
      { offline: [outage], sent: [begin, [33, "late", 10, 20]] },
    ],
    [
      "a late notification of a notified outage, not of a flip next to it",
      ["doubled"],
      {
        offline: [
          [8, 9],
          [10, 30],
        ],
        sent: [begin, [40, "late", 10, 20]],
      },
    ],
    [
      "a late notification sent twice",
      ["doubled"],
      {
        offline: [outage],
        sent: [
          [33, "late", 10, 20],
          [36, "late", 10, 20],
        ],
      },
    ],
    ["an unreadable message", ["unreadable"], { unreadable: ["slack/0: what?"] }],
    ["a self alert never resolved", ["unresolved"], { other: [[13, "firing", 10]] }],
    [
      "a self alert notified twice",
      ["doubled"],
      {
        other: [
          [13, "firing", 10],
          [15, "firing", 10],
          [20, "recovered", 10],
        ],
      },
    ],
    ["a resolved self alert without a first notification", ["doubled"], { other: [[20, "recovered", 10]] }],
  ])("sees %s", (_, expected, scenario) => {
    expect(kinds(scenario).sort()).toEqual([...expected].sort());
  });

  it.each<[string, Scenario]>([
    ["a late notification of an outage with a failing receiver", { offline: [outage], sent: [[60, "late", 10, 22]] }],
    [
      "a notification of either of two outages, one of which is required",
      {
        offline: [
          [10, 11],
          [13, 30],
        ],
        sent: [
          [16, "firing", 13],
          [33, "recovered", 13, 17],
        ],
      },
    ],
    [
      "a late notification of either of two outages, one of which is required",
      {
        offline: [
          [10, 13.8],
          [20, 25],
        ],
        sent: [[60, "late", 20, 4.4]],
      },
    ],
    [
      "a late notification of the longer of two outages",
      {
        offline: [
          [10, 12],
          [20, 40],
        ],
        sent: [[60, "late", 20, 21]],
      },
    ],
    ["no notification of an outage shorter than `for`", { offline: [[10, 12]] }],
    ["no notification of an outage that was not evaluated", { offline: [outage], unjudged: [[9, 31]] }],
    ["no notification of an outage that was not read", { offline: [outage], unreachable: [[9, 31]] }],
    [
      "one alert over two outages with an unread moment between",
      {
        offline: [
          [10, 30],
          [31, 50],
        ],
        sent: [begin, [53, "recovered", 10, 40]],
      },
    ],
    [
      "an end and the next start in one message",
      { offline: [outage, [32, 50]], sent: [begin, end, [35, "firing", 32], [53, "recovered", 32, 18]] },
    ],
    ["a reminder beside a new alert", { offline: [outage], sent: [begin, [20, "still", 10], end] }],
  ])("accepts %s", (_, scenario) => {
    expect(kinds(scenario)).toEqual([]);
  });

  it("counts undisturbed answers, and those of them that were evaluated", () => {
    const { answers } = judged({ unreachable: [[100, 109.8]], unjudged: [[200, 249]] });
    expect(answers).toEqual({ sure: 289, judged: 242 });
  });

  it("excuses one repeated message for each kill, and only of the message in flight then", () => {
    const twice: Scenario = { offline: [outage], sent: [begin, [20, "firing", 10], end] };
    expect(judged({ ...twice, crashes: [13.3] })).toMatchObject({ verdicts: [], doubled: { messages: 1, excused: 1 } });
    expect(kinds({ ...twice, crashes: [19] })).toEqual(["doubled"]);
    expect(kinds({ ...twice, crashes: [5] })).toEqual(["doubled"]);
    const thrice: Scenario = { offline: [outage], sent: [begin, [13.5, "firing", 10], [20, "firing", 10], end] };
    expect(kinds({ ...thrice, crashes: [13.6] })).toEqual(["doubled"]);
    expect(kinds({ ...thrice, crashes: [13.3, 13.6] })).toEqual([]);
  });

  it("excuses what a summary in flight was about, whose groups are notified again one by one", () => {
    const doubled = ["A", "B", "C"].map((subject, message): Verdict => {
      return {
        kind: "doubled",
        integration: "slack/0",
        subject,
        at: 20_000 + message,
        why: "twice",
        message,
        firstAt: 5_000,
      };
    });
    const [first] = doubled as [Verdict];
    const run = { crashes: [5_100], redisDown: [] };
    expect(allowedRepetitions(doubled, run)).toEqual({ left: [], messages: 1, excused: 1 });
    const again = { ...first, at: 30_000, message: 9 };
    expect(allowedRepetitions([...doubled, again], run).left).toEqual([again]);
  });

  it("excuses a message that could not be committed before Redis was back", () => {
    const sent: Line[] = [begin, [26, "firing", 10], end];
    expect(kinds({ offline: [outage], sent, redisDown: [[12, 22]], crashes: [12, 20] })).toEqual([]);
    expect(kinds({ offline: [outage], sent, crashes: [20] })).toEqual(["doubled"]);
  });

  it("counts late notifications only where nothing failed", () => {
    const { delays } = judged({ offline: [outage], sent: [begin, end], crashes: [28] });
    expect(delays.map(({ undisturbed }) => undisturbed)).toEqual([true, false]);
  });
});
