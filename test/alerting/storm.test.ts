import { describe, expect, it } from "vitest";
import type { NotifyReason } from "../../src/alerting/model.ts";
import { decideStorm, joinDecisions, type SendDecision, type SkipDecision } from "../../src/alerting/storm.ts";
import { firing, over, T0 } from "../store/fixtures.ts";

const rest = { settled: [], nextAt: undefined, suppressedState: { by: [], unnotified: new Map() } };

const says = (notify: NotifyReason, ...names: string[]): SendDecision => ({
  ...rest,
  notify,
  firing: names.map((name) => ({ ...firing(name), fingerprint: name, isNew: notify !== "reminder" })),
  resolved: [],
});
const quiet: SkipDecision = { ...rest, notify: undefined, why: "nothing_new" };

const groups = (
  count: number,
  stormGroups: number | undefined,
  decision: SendDecision | SkipDecision = says("first"),
) => Array.from({ length: count }, (_, i) => ({ claim: { stormGroups, name: `${stormGroups}-${i}` }, decision }));

function turn(decided: ReturnType<typeof groups>, due = decided.length) {
  const { skipped: hushed, now, later } = decideStorm(decided, due);
  return [hushed.length, now.length, later.length];
}

describe("more groups that say something than their route wants told one by one", () => {
  it.each([
    ["ten of ten are none", groups(10, 10), [0, 1, 9]],
    ["eleven are one", groups(11, 10), [0, 11, 0]],
    ["those with nothing to say do not count", [...groups(10, 10), ...groups(5, 10, quiet)], [5, 1, 9]],
    ["each joins by its own route's number", [...groups(8, 10), ...groups(8, 100)], [0, 8, 8]],
    ["a route without a number is told one by one", groups(50, undefined), [0, 1, 49]],
    ["nobody has anything to say", groups(30, 10, quiet), [30, 0, 0]],
    ["one alone is told as it is", groups(1, 1), [0, 1, 0]],
  ])("%s", (_, decided, expected) => {
    expect(turn(decided)).toEqual(expected);
  });

  it("joins any number of ends where these are gathered, and news only as many as always", () => {
    const decided = [...groups(3, 10, says("resolved")), ...groups(2, 10), ...groups(1, undefined, says("resolved"))];
    const { now, later } = decideStorm(decided, 6, true);
    expect([now.length, later.length]).toEqual([3, 3]);
    expect(now.every(({ decision }) => decision.notify === "resolved")).toBe(true);
    expect(turn(decided)).toEqual([0, 1, 5]);
  });

  it("counts those that are due and were not claimed with these", () => {
    expect(turn(groups(5, 10), 35)).toEqual([0, 5, 0]);
  });

  it("leaves out an edit, which is no news", () => {
    expect(turn([...groups(12, 1), ...groups(1, 1, says("update"))])).toEqual([0, 12, 1]);
  });

  it("leaves out a group whose own first message was found in the channel: its root is edited with its own", () => {
    const conversation = (id: string, groups?: number) => ({ conversation: { id, openedAt: T0, groups } });
    const claims = [
      ...groups(12, 1),
      ...groups(1, 1).map(({ claim, decision }) => ({
        claim: { ...claim, ...conversation("own"), recovered: {} },
        decision,
      })),
    ];
    expect(decideStorm(claims, 13)).toMatchObject({ now: { length: 12 }, later: { length: 1 }, isAll: false });
    const mails = claims.map(({ claim, decision }) => ({ claim: { ...claim, recovered: undefined }, decision }));
    expect(decideStorm(mails, 13)).toMatchObject({ now: { length: 13 }, later: [] });
  });
});

describe("what a summary says", () => {
  it("is what its only group says", () => {
    const only = says("reminder", "a");
    expect(joinDecisions([only])).toBe(only);
  });

  it("names an alert that came by two routes once, the longest first", () => {
    const late = says("first", "b");
    const joined = joinDecisions([
      { ...late, firing: late.firing.map((alert) => ({ ...alert, startsAt: T0 + 1 })) },
      says("first", "a", "c"),
      says("first", "a"),
    ]);
    expect(joined.firing.map(({ key }) => key)).toEqual(["a", "c", "b"]);
  });

  it("keeps what is over", () => {
    const gone = { ...over(firing("a"), T0 + 1), fingerprint: "a", isNew: false };
    const ended: SendDecision = { ...says("resolved"), resolved: [gone] };
    expect(joinDecisions([ended, says("reminder", "b")])).toMatchObject({ notify: "resolved", resolved: [gone] });
  });

  it.each<[NotifyReason, NotifyReason[]]>([
    ["first", ["first", "first"]],
    ["more", ["first", "reminder"]],
    ["more", ["resolved", "more"]],
    ["resolved", ["resolved", "reminder"]],
    ["reminder", ["reminder", "reminder"]],
  ])("its reason is %s for %j", (reason, reasons) => {
    expect(joinDecisions(reasons.map((notify) => says(notify))).notify).toBe(reason);
  });
});
