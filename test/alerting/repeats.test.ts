import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { LogLine } from "../../src/alerting/decision-log.ts";
import { createRepeats, foldRepeats } from "../../src/alerting/repeats.ts";

type Short = readonly [at: number, reason: string, integration?: string, detail?: string | undefined, subject?: string];

const line = ([at, reason, integration, detail, id = "cam"]: Short): LogLine => ({
  subject: { kind: "recording", id },
  at,
  ruleId: "RecordingOffline",
  integration,
  reason,
  detail,
});

const folded = (...lines: readonly Short[]) =>
  foldRepeats(lines.map(line)).map(({ at, reason, detail }) => [at, reason, ...(detail ? [detail] : [])].join(" "));

describe("lines are folded", () => {
  it("to one for each kind of failure of an integration, until a message is accepted", () => {
    const failed = (at: number, detail: string, to = "a"): Short => [at, "failed", to, detail];
    const tries = [0, 10, 20].flatMap((at) => [
      failed(at, "network"),
      failed(at + 1, "auth", "b"),
      failed(at + 2, "timeout"),
    ]);
    expect(folded(...tries, [50, "notified", "a"], failed(51, "network"))).toEqual([
      "0 failed network",
      "1 failed auth",
      "2 failed timeout",
      "50 notified",
      "51 failed network",
    ]);
  });

  it("to one for each row of reminders, the last, with their number", () => {
    const reminded = (at: number, to = "a"): Short => [at, "reminded", to];
    expect(
      folded(
        [0, "notified", "a"],
        reminded(4),
        reminded(4, "b"),
        reminded(8),
        [9, "acknowledged", "a", "dana"],
        reminded(12),
        reminded(16),
      ),
    ).toEqual(["0 notified", "4 reminded 1", "8 reminded 2", "9 acknowledged dana", "16 reminded 2"]);
  });

  it("only where subject, rule and integration are the same", () => {
    const silenced = (at: number, to: string, id: string): Short => [at, "silenced", to, "s", id];
    const given = [silenced(0, "a", "cam"), silenced(1, "b", "cam"), silenced(2, "a", "till")];
    expect(folded(...given, ...given)).toEqual(["0 silenced s", "1 silenced s", "2 silenced s"]);
    const [one] = given.map(line) as [LogLine];
    expect(foldRepeats([one, { ...one, ruleId: "LowQuality" }])).toHaveLength(2);
  });

  it("not where the same ends at another time", () => {
    const escalates = (until: number) => ({ ...line([0, "escalation", "a"]), until });
    expect(foldRepeats([escalates(5), escalates(5), escalates(9)])).toHaveLength(2);
  });

  it("not where each says something new", () => {
    const given: Short[] = [
      [0, "pending"],
      [1, "pending_ended"],
      [2, "pending"],
      [3, "notified", "a"],
      [4, "notified", "a"],
    ];
    expect(folded(...given)).toHaveLength(given.length);
  });
});

const reasons = fc.constantFrom("silenced", "stale", "failed", "no_location", "notified", "reminded", "firing");
const decisions = fc.array(
  fc.tuple(reasons, fc.constantFrom("a", "b"), fc.constantFrom("x", "y"), fc.constantFrom("cam", "till"), fc.boolean()),
  { maxLength: 40 },
);

test("what is read is the same whether a process leaves repeats out, forgets some, or writes all", () => {
  fc.assert(
    fc.property(decisions, (all) => {
      const repeats = createRepeats();
      const written: LogLine[] = [];
      const lines = all.map(([reason, to, detail, id, isLost], at) => {
        const one = line([at, reason, to, reason === "reminded" ? undefined : detail, id]);
        if (isLost) repeats.forget();
        if (!repeats.isRepeat(one)) written.push(one);
        return one;
      });
      expect(foldRepeats(written)).toEqual(foldRepeats(lines));
    }),
  );
});

test("a process that knows too much forgets it", () => {
  const { isRepeat } = createRepeats();
  const silenced = (id: number) => line([0, "silenced", "a", "s", `${id}`]);
  for (let id = 0; id < 100_000; id++) isRepeat(silenced(id));
  expect(isRepeat(silenced(0))).toBe(true);
  isRepeat(silenced(100_000));
  expect(isRepeat(silenced(0))).toBe(false);
});
