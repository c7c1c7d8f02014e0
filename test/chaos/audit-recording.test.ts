import { describe, expect, it } from "vitest";
import { auditRecording } from "../../bench/chaos/audit-recording.ts";
import type { Notice, NoticeKind } from "../../bench/chaos/messages.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
const second = (n: number) => START + 1_000 * n;

type Line = readonly [at: number, kind: NoticeKind, since: number, lasted?: number];

/** It flapped from second 100, was told to at 105 and to be steady at 200; `open`: it was never told to be steady. */
function judged(offline: readonly (readonly [number, number])[], sent: readonly Line[], open = false) {
  const notices = sent.map(
    ([at, kind, since, lasted = at - since]): Notice => ({
      at: second(at) + 40,
      integration: "slack/0",
      message: at,
      subject: "Till 3",
      kind,
      lastedMs: 1_000 * lasted,
      beganMinute: 0,
    }),
  );
  return auditRecording(notices, {
    integration: "slack/0",
    subject: "Till 3",
    offline: offline.map(([from, to]) => ({ from: second(from), to: second(to) })),
    answers: Array.from({ length: 300 }, (_, i) => second(i) + 500),
    disturbed: [],
    flaps: [
      {
        from: second(100),
        to: second(open ? 300 : 200),
        message: 105,
        steadyMessage: open ? Number.POSITIVE_INFINITY : 200,
      },
    ],
    rule: { intervalMs: 1_000, forMs: 2_000, keepFiringForMs: 2_000, lateMs: 60_000 },
    end: second(300),
  });
}

const kinds = (...scenario: Parameters<typeof judged>) =>
  judged(...scenario).verdicts.map(({ kind }) => kind);

describe("the audit of outages of a recording that flaps", () => {
  it("asks for no news of one while it flaps, and says so", () => {
    expect(judged([[120, 150]], [])).toMatchObject({
      verdicts: [],
      excused: ["flapping"],
      mustBeNotified: 0,
    });
  });

  it("asks for news of those before and after", () => {
    expect(kinds([[20, 50]], [])).toEqual(["lost"]);
    expect(kinds([[220, 250]], [])).toEqual(["lost"]);
  });

  it.each<[string, readonly (readonly [number, number])[], readonly Line[]]>([
    ["news of one while it flaps", [[120, 300]], [[123, "firing", 120]]],
    [
      "a reminder while it flaps",
      [[90, 300]],
      [
        [94, "firing", 90],
        [130, "still", 90],
      ],
    ],
    [
      "an end while it flaps",
      [[90, 120]],
      [
        [94, "firing", 90],
        [123, "recovered", 90, 30],
      ],
    ],
  ])("sees %s", (_, offline, sent) => {
    expect(kinds(offline, sent)).toEqual(["false"]);
  });

  it.each<[string, readonly (readonly [number, number])[], readonly Line[]]>([
    [
      "an end that waited for it to be steady",
      [[90, 120]],
      [
        [94, "firing", 90],
        [200, "recovered", 90, 30],
      ],
    ],
    ["news of one that goes on when it is steady", [[120, 300]], [[200, "firing", 120]]],
    ["what it told just before", [[90, 300]], [[94, "firing", 90]]],
  ])("accepts %s", (_, offline, sent) => {
    expect(kinds(offline, sent)).toEqual([]);
  });

  it("asks for no end while it flaps", () => {
    expect(kinds([[90, 120]], [[94, "firing", 90]], true)).toEqual([]);
    expect(kinds([[90, 120]], [[94, "firing", 90]])).toEqual(["unresolved"]);
  });
});
