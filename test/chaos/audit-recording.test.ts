import { describe, expect, it } from "vitest";
import { auditRecording } from "../../bench/chaos/audit-recording.ts";
import type { Notice, NoticeKind } from "../../bench/chaos/messages.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
const second = (n: number) => START + 1_000 * n;

type Line = readonly [at: number, kind: NoticeKind, since: number, lasted?: number];

/** It flapped from second 100, notified at 105 and as steady at 200; `open`: never notified as steady. */
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

const kinds = (...scenario: Parameters<typeof judged>) => judged(...scenario).verdicts.map(({ kind }) => kind);

describe("the audit of outages of a recording that flaps", () => {
  it("requires no notification of an outage while flapping, with that reason", () => {
    expect(judged([[120, 150]], [])).toMatchObject({ verdicts: [], excused: ["flapping"], mustBeNotified: 0 });
  });

  it("requires notifications of outages before and after", () => {
    expect(kinds([[20, 50]], [])).toEqual(["lost"]);
    expect(kinds([[220, 250]], [])).toEqual(["lost"]);
  });

  it.each<[string, readonly (readonly [number, number])[], readonly Line[]]>([
    ["a notification of an outage while flapping", [[120, 300]], [[123, "firing", 120]]],
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
    ["a notification of an outage that lasts when steady", [[120, 300]], [[200, "firing", 120]]],
    ["a notification just before", [[90, 300]], [[94, "firing", 90]]],
  ])("accepts %s", (_, offline, sent) => {
    expect(kinds(offline, sent)).toEqual([]);
  });

  it("requires no end while flapping", () => {
    expect(kinds([[90, 120]], [[94, "firing", 90]], true)).toEqual([]);
    expect(kinds([[90, 120]], [[94, "firing", 90]])).toEqual(["unresolved"]);
  });
});
