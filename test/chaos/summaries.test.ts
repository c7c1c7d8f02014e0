import { describe, expect, it } from "vitest";
import type { Counted, NoticeKind, Read } from "../../bench/chaos/messages.ts";
import { expandSummaries, type Logged, type Meant, type Message } from "../../bench/chaos/summaries.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
const second = (n: number) => START + 1_000 * n;
const RULE = { intervalMs: 1_000, forMs: 2_000, keepFiringForMs: 2_000, lateMs: 30_000 };

const read = (changes: Partial<Read>): Read => ({
  lines: [],
  counted: [],
  cut: [],
  total: {},
  unreadable: [],
  ...changes,
});
const message = (at: number, changes: Partial<Read>, number = at): Message => ({
  at: second(at),
  integration: "slack/0",
  number,
  read: read(changes),
});
const leeds = (kind: NoticeKind, count: number): Counted => ({ locationName: "Leeds", kind, count });

const camera = (name: string, offline?: readonly [number, number], logged: readonly Logged[] = []): Meant => ({
  name,
  locationName: "Leeds",
  integrations: ["slack/0"],
  offline: offline ? [{ from: second(offline[0]), to: second(offline[1]) }] : [],
  changes: offline ? 2 : 0,
  logged,
});
const sent = (at: number, reason = "notified"): Logged => ({ at: second(at), integration: "slack/0", reason });

const spelled = (messages: readonly Message[], recordings: readonly Meant[]) => {
  const { notices, unreadable } = expandSummaries(messages, recordings, RULE);
  return { lines: notices.map(({ subject, kind }) => `${kind}: ${subject}`), unreadable };
};

describe("the recordings behind a summary", () => {
  const offline = [camera("A", [10, 40]), camera("B", [11, 42]), camera("C")];

  it("are all offline recordings of a location, and later all recovered ones", () => {
    const messages = [
      message(15, { counted: [leeds("firing", 2)], total: { offline: 2 } }),
      message(35, { counted: [leeds("still", 2)], total: { offline: 2 } }),
      message(46, { counted: [leeds("recovered", 2)], total: { back: 2 } }),
    ];
    const { lines, unreadable } = spelled(messages, offline);
    expect(unreadable).toEqual([]);
    expect(lines).toEqual(["firing: A", "firing: B", "still: A", "still: B", "recovered: A", "recovered: B"]);
  });

  it("are new and known ones, where the lists of both are cut, also at locations that another list names", () => {
    const at = (locationName: string, name: string) => ({ ...camera(name, [10, 90]), locationName });
    const recordings = [camera("A", [10, 90]), camera("B", [10, 90]), at("York", "C"), at("York", "D")];
    const first = { kind: "firing", lastedMs: 5_000, beganMinute: 0 } as const;
    const lines = ["A", "C"].map((subject) => ({ ...first, subject }));
    const messages = [
      message(15, { lines, total: { offline: 2 } }),
      message(30, { counted: [leeds("still", 1)], cut: ["firing", "still"], total: { offline: 4 } }),
    ];
    const { lines: found, unreadable } = spelled(messages, recordings);
    expect(unreadable).toEqual([]);
    expect(found.slice(2).sort()).toEqual(["firing: B", "firing: D", "still: A", "still: C"]);
  });

  it("are those that recovered first, where no log tells", () => {
    const messages = [
      message(15, { counted: [leeds("firing", 2)], total: { offline: 2 } }),
      message(45, { counted: [leeds("recovered", 1)] }),
      message(46, { counted: [leeds("recovered", 1)] }),
    ];
    const { lines } = spelled(messages, [camera("A", [10, 42]), camera("B", [10, 41])]);
    expect(lines.slice(2)).toEqual(["recovered: B", "recovered: A"]);
  });

  it("include those that are back and may fail again, which the title counts apart or not at all", () => {
    const recordings = [camera("A", [10, 40]), camera("B", [10, 14])];
    const line = { subject: "B", kind: "firing", lastedMs: 0, beganMinute: 0, isClearing: true } as const;
    const named = {
      lines: [{ ...line, subject: "A", lastedMs: 5_000, isClearing: false }, line],
      total: { offline: 1 },
    };
    const counted = { counted: [{ ...leeds("firing", 2), recovering: 1 }], total: { offline: 1, recovering: 1 } };
    for (const shown of [named, counted]) {
      const { notices, unreadable } = expandSummaries([message(15, shown)], recordings, RULE);
      expect(unreadable).toEqual([]);
      expect(notices.map(({ subject, lastedMs }) => [subject, lastedMs])).toEqual([
        ["A", 5_000],
        ["B", 5_000],
      ]);
    }
  });

  it("have the lengths of their outages in the ledger", () => {
    const { notices } = expandSummaries(
      [message(15, { counted: [leeds("firing", 2)] }), message(46, { counted: [leeds("recovered", 2)] })],
      offline,
      RULE,
    );
    expect(notices.map(({ lastedMs }) => lastedMs)).toEqual([5_000, 4_000, 30_000, 31_000]);
  });

  it("are late notices where never notified before", () => {
    expect(spelled([message(46, { counted: [leeds("recovered", 2)] })], offline).lines).toEqual(["late: A", "late: B"]);
  });

  it("are those in the decision log where fewer are counted than possible", () => {
    const logged = [camera("A", [10, 40]), camera("B", [11, 42], [sent(15.2)]), camera("D", [9, 40])];
    const messages = [message(15, { counted: [leeds("firing", 1)] })];
    expect(spelled(messages, logged).lines).toEqual(["firing: B"]);
  });

  it("are those that are logged later where the message itself is not", () => {
    const logged = [camera("A", [10, 40]), camera("B", [11, 42], [sent(46.2, "notified_end")])];
    const messages = [
      message(15, { counted: [leeds("firing", 1)] }),
      message(46, { counted: [leeds("recovered", 1)] }),
    ];
    expect(spelled(messages, logged).lines).toEqual(["firing: B", "recovered: B"]);
  });

  it("are reported where the count is too high", () => {
    const { unreadable } = spelled([message(15, { counted: [leeds("firing", 3)] })], offline);
    expect(unreadable).toEqual([expect.stringContaining("counts 3 firing at Leeds, where there were 2")]);
    const back = spelled([message(30, { counted: [leeds("recovered", 1)] })], offline);
    const early = spelled([message(11, { counted: [leeds("firing", 1)] })], offline);
    expect(early.unreadable).toHaveLength(1);
    expect(back.unreadable).toHaveLength(1);
  });

  it("are reported where the title counts more or fewer than the lines", () => {
    for (const total of [1, 3]) {
      const one = message(15, { counted: [leeds("firing", 2)], total: { offline: total } });
      expect(spelled([one], offline).unreadable).toHaveLength(1);
    }
  });

  it("include those of a cut list, by the title and the decision log", () => {
    const far = (name: string, logged: readonly Logged[] = []): Meant => ({
      ...camera(name, [10, 40], logged),
      locationName: name,
    });
    const recordings = [...offline, far("Far"), far("Farther", [sent(15.1)])];
    const one = message(15, { counted: [leeds("firing", 2)], cut: ["firing"], total: { offline: 3 } });
    const { lines, unreadable } = spelled([one], recordings);
    expect(unreadable).toEqual([]);
    expect(lines).toEqual(["firing: A", "firing: B", "firing: Farther"]);
    const more = message(15, { counted: [leeds("firing", 2)], cut: ["firing"], total: { offline: 9 } });
    expect(spelled([more], recordings).unreadable).toHaveLength(1);
    expect(spelled([message(15, { cut: ["firing"] })], recordings).unreadable).toHaveLength(1);
  });

  it("are the same in a repeated summary", () => {
    const again = [15, 18].map((at) => message(at, { counted: [leeds("firing", 2)] }));
    expect(spelled(again, offline).lines).toEqual(["firing: A", "firing: B", "firing: A", "firing: B"]);
  });

  it("are, for flapping, those that changed most, and the same ones when steady", () => {
    const recordings = [...offline, { ...camera("Roof", [10, 40]), changes: 4 }];
    const messages = [
      message(15, { counted: [leeds("firing", 2), leeds("flapping", 1)] }),
      message(46, { counted: [leeds("recovered", 3), leeds("steady", 1)] }),
      message(47, { counted: [leeds("steady", 1)] }),
    ];
    const { lines, unreadable } = spelled(messages, recordings);
    expect(lines.filter((line) => /flapping|steady/.test(line))).toEqual(["flapping: Roof", "steady: Roof"]);
    expect(unreadable).toEqual([expect.stringContaining("counts 1 steady at Leeds, where there were 0")]);
  });

  it("count a recording with two outages once", () => {
    const line = (kind: NoticeKind) => ({ subject: "A", kind, lastedMs: 5_000, beganMinute: 0 });
    const one = message(46, { lines: [line("recovered"), line("late")], total: { back: 1 } });
    expect(spelled([one], offline).unreadable).toEqual([]);
  });

  it("do not change named lines", () => {
    const line = { subject: "A", kind: "firing", lastedMs: 5_000, beganMinute: 0 } as const;
    expect(spelled([message(15, { lines: [line], total: { offline: 1 } })], offline)).toEqual({
      lines: ["firing: A"],
      unreadable: [],
    });
  });
});
