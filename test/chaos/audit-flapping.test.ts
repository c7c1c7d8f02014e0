import { describe, expect, it } from "vitest";
import type { VerdictKind } from "../../bench/chaos/audit.ts";
import { auditFlapping, shareOf } from "../../bench/chaos/audit-flapping.ts";
import type { Notice, NoticeKind } from "../../bench/chaos/messages.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 20, 14, 0);
const minute = (n: number) => START + n * MINUTE;

/** At a minute, in a status. */
type Turn = readonly [at: number, status: string];
type Line = readonly [at: number, kind: NoticeKind, state?: string];

interface Scenario {
  readonly turns: readonly Turn[];
  readonly sent?: readonly Line[];
  readonly until?: number;
  /** Minutes of which no answer is sure to have counted. */
  readonly unsure?: readonly number[];
}

function judged({ turns, sent = [], until = 30, unsure = [] }: Scenario) {
  const answers = Array.from({ length: until * 60 }, (_, second) => START + second * 1_000 + 400);
  const notices = sent.map(
    ([at, kind, state], i): Notice => ({
      at: minute(at),
      integration: "slack/0",
      message: 10 * (i + 1),
      subject: "Till 3",
      kind,
      lastedMs: 0,
      beganMinute: 0,
      ...(state === undefined ? {} : { state }),
    }),
  );
  return auditFlapping(notices, {
    integration: "slack/0",
    subject: "Till 3",
    changes: turns.map(([at, status]) => ({ at: minute(at), recordingId: "c1", status })),
    answers,
    counted: answers.filter((at) => !unsure.includes(Math.floor((at - START) / MINUTE))),
    rule: { high: 0.235, low: 0.23 },
    end: minute(until),
  });
}

const kinds = (scenario: Scenario): VerdictKind[] => judged(scenario).verdicts.map(({ kind }) => kind);

const turns: Turn[] = [
  [0.5, "offline"],
  [1.5, "online"],
  [2.5, "offline"],
  [3.5, "online"],
];
const begin: Line = [4.1, "flapping"];
const end: Line = [7.1, "steady", "online"];

describe("the audit of flapping", () => {
  it("counts shares as Nagios does", () => {
    expect(shareOf([0, 1, 2]) * 100).toBeCloseTo(18.4, 1);
    expect(shareOf([0, 1, 2, 3, 4, 5]) * 100).toBeCloseTo(35.5, 1);
    expect(shareOf([25])).toBe(0);
  });

  it("accepts flapping notified once, and once as steady", () => {
    const { verdicts, flaps } = judged({ turns, sent: [begin, end] });
    expect(verdicts).toEqual([]);
    expect(flaps).toEqual([{ from: minute(3.5), to: minute(7.1), message: 10, steadyMessage: 20 }]);
  });

  it.each<[string, VerdictKind[], Scenario]>([
    ["flapping never notified", ["lost"], { turns }],
    ["flapping notified twice", ["doubled"], { turns, sent: [begin, [5, "flapping"], end] }],
    ["two outages notified as flapping", ["false"], { turns: turns.slice(0, 2), sent: [begin, end] }],
    ["an end notified twice", ["doubled"], { turns, sent: [begin, end, [8, "steady", "online"]] }],
    ["an end never notified", ["unresolved"], { turns, sent: [begin] }],
    ["steady in a status it was not in", ["false"], { turns, sent: [begin, [7.1, "steady", "offline"]] }],
    ["steady without flapping", ["false"], { turns: turns.slice(0, 2), sent: [end] }],
    ["a flapping reminder without a first notification", ["false"], { turns, sent: [[5, "still_flapping"]] }],
  ])("sees %s", (_, expected, scenario) => {
    expect(kinds(scenario)).toEqual(expected);
  });

  it("requires nothing that may not have been read", () => {
    expect(kinds({ turns, unsure: [2] })).toEqual([]);
    const faster: Turn[] = turns.map(([at, status]) => [0.9 + at / 100, status]);
    expect(kinds({ turns: faster })).toEqual([]);
  });

  it("requires no end before the sampled states can have expired", () => {
    expect(kinds({ turns, sent: [begin], until: 6 })).toEqual([]);
    const more: Turn[] = [...turns, [4.5, "offline"], [5.5, "online"]];
    expect(kinds({ turns: more, sent: [begin], until: 12 })).toEqual([]);
  });

  it("requires an end also after a change between two samples", () => {
    const dips: Turn[] = [...turns, [4.4, "offline"], [4.6, "online"], [5.3, "offline"], [5.5, "online"]];
    expect(kinds({ turns: dips, sent: [begin], until: 12 })).toEqual(["unresolved"]);
  });
});
