import { describe, expect, test } from "vitest";
import {
  acceptAlerts,
  type ExternalAlert,
  type ExternalAlertState,
  evaluateExternal,
  isUnevaluated,
  type SentAlert,
  toAlert,
} from "../../src/alerting/external-alerts.ts";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { NOW } from "./alerts.ts";

const MINUTE = 60_000;
const labels = { alertname: "DiskFull", instance: "nas-1" };
const print = fingerprint(labels);

const sent = (differing: Partial<SentAlert> = {}): SentAlert => ({
  labels,
  annotations: { summary: "2 % left" },
  startsAt: NOW,
  endsAt: NOW + 5 * MINUTE,
  isTimeout: false,
  generatorUrl: undefined,
  ...differing,
});

const known = (differing: Partial<ExternalAlert> = {}): ExternalAlert => ({
  ...sent(),
  updatedAt: NOW,
  isResolved: false,
  firedAt: NOW,
  isNews: false,
  ...differing,
});

const of = (alert: ExternalAlert): ExternalAlertState => new Map([[print, alert]]);
const take = (before: ExternalAlertState, alert: SentAlert, now: number) =>
  acceptAlerts(before, [[print, alert]], { now, most: 10, characters: 1e7 }).next.get(print);
const judge = (state: ExternalAlertState, now: number, deafUntil = 0) => evaluateExternal(state, { now, deafUntil });

describe("an alert that is sent", () => {
  test("is remembered until its end, not yet judged", () => {
    expect(take(new Map(), sent(), NOW)).toEqual({ ...sent(), updatedAt: NOW, isResolved: false });
  });

  test("and is over is passed over where nobody knows it", () => {
    expect(take(new Map(), sent({ endsAt: NOW }), NOW)).toBeUndefined();
  });

  test("ends within a day, whatever end it names, unless it is sent again", () => {
    const DAY = 24 * 60 * MINUTE;
    const year = sent({ startsAt: 0, endsAt: NOW + 365 * DAY });
    const first = take(new Map(), year, NOW);
    expect(first?.endsAt).toBe(NOW + DAY);
    expect(take(of(first ?? known()), year, NOW + MINUTE)?.endsAt).toBe(NOW + MINUTE + DAY);
    const { next, transitions } = judge(of({ ...known(), ...first, firedAt: NOW }), NOW + DAY);
    expect([...next]).toEqual([]);
    expect(transitions).toMatchObject([{ kind: "resolved", alert: { endReason: "expired" } }]);
  });

  test("twice in one request counts in its order", () => {
    const { next } = acceptAlerts(
      new Map(),
      [
        [print, sent()],
        [print, sent({ startsAt: NOW - 1, annotations: { summary: "1 % left" } })],
      ],
      { now: NOW, most: 10, characters: 1e7 },
    );
    expect(next.get(print)).toMatchObject({ startsAt: NOW - 1, annotations: { summary: "1 % left" } });
  });

  const end = (minutes: number) => ({ endsAt: NOW + minutes * MINUTE });
  const other = { summary: "1 % left" };
  const rows: [string, Partial<ExternalAlert>, Partial<SentAlert>, Partial<ExternalAlert>][] = [
    ["keeps the earliest start", { startsAt: NOW - 9 }, { startsAt: NOW + 1 }, { startsAt: NOW - 9 }],
    ["takes an earlier start", { startsAt: NOW }, { startsAt: NOW - 9 }, { startsAt: NOW - 9, isNews: true }],
    ["takes a later end", {}, end(9), end(9)],
    ["keeps a later end that was named", end(9), { ...end(6), isTimeout: true }, { ...end(9), isTimeout: false }],
    ["drops a later end that was a time-out", { ...end(9), isTimeout: true }, end(6), { ...end(6), isTimeout: false }],
    ["ends where the sender says so", {}, end(0), { ...end(0), isResolved: true, firedAt: NOW }],
    ["is over though its sender's clock is ahead", {}, { endsAt: NOW + 8_000 }, { isResolved: true }],
    ["fires on where its end is a while off", { isTimeout: true }, { endsAt: NOW + 20_000 }, { isResolved: false }],
    [
      "that ended keeps the latest end that was named",
      { endsAt: NOW - 1, isResolved: true },
      { endsAt: NOW - 5, startsAt: NOW - 9 },
      { endsAt: NOW - 1, isResolved: true },
    ],
    [
      "fires on where it is sent anew before its end was evaluated",
      { endsAt: NOW, isResolved: true },
      { startsAt: NOW + 1 },
      { isResolved: false, startsAt: NOW + 1, ...end(5), firedAt: NOW },
    ],
    ["has the last annotations, which is news", {}, { annotations: other }, { annotations: other, isNews: true }],
    ["has fewer annotations, which is news", {}, { annotations: {} }, { annotations: {}, isNews: true }],
    [
      "has another source, which is news",
      {},
      { generatorUrl: "https://p" },
      { generatorUrl: "https://p", isNews: true },
    ],
    ["says the same, which is none", {}, end(6), { isNews: false, updatedAt: NOW + 1 }],
    ["stays news until it is evaluated", { isNews: true }, {}, { isNews: true }],
    ["is no news before it was evaluated", { firedAt: undefined }, {}, { firedAt: undefined, isNews: false }],
  ];
  test.each(rows)("again %s", (_, before, again, expected) => {
    expect(take(of(known(before)), sent(again), NOW + 1)).toMatchObject(expected);
  });

  test("again, but long on its way, tells nothing", () => {
    const before = known({ updatedAt: NOW + 10 });
    expect(take(of(before), sent({ endsAt: NOW + 9 * MINUTE }), NOW + 9)).toBe(before);
  });

  test("is refused where there is no room, while those that are known are taken", () => {
    const taken = acceptAlerts(
      of(known()),
      [
        ["0000000000000001", sent()],
        [print, sent({ endsAt: NOW + 9 * MINUTE })],
        ["0000000000000002", sent({ endsAt: NOW - 1 })],
      ],
      { now: NOW, most: 1, characters: 1e7 },
    );
    expect(taken.refused).toBe(1);
    expect([...taken.next.keys()]).toEqual([print]);
    expect(taken.next.get(print)?.endsAt).toBe(NOW + 9 * MINUTE);
  });
});

describe("where there is room for 1,000 characters more", () => {
  const room = { now: NOW, most: 10, characters: 1_300 };
  const large = { summary: "x".repeat(1_200) };

  test("an alert is refused that needs more", () => {
    const taken = acceptAlerts(of(known()), [["1", sent({ annotations: large })]], room);
    expect([taken.refused, taken.next.size]).toEqual([1, 1]);
  });

  test("one that is known is taken without its new annotations", () => {
    const again = sent({ annotations: large, endsAt: NOW + 9 * MINUTE });
    const { next, refused } = acceptAlerts(of(known()), [[print, again]], room);
    expect(refused).toBe(0);
    expect(next.get(print)).toMatchObject({ annotations: known().annotations, endsAt: NOW + 9 * MINUTE });
  });
});

describe("judged", () => {
  test("it fires once, with what was sent", () => {
    const { next, transitions, lines } = judge(of(known({ firedAt: undefined, generatorUrl: "https://p" })), NOW + 7);
    expect(transitions).toEqual([
      {
        kind: "firing",
        alert: {
          id: `external/DiskFull/${print}@${NOW + 7}`,
          key: `external/DiskFull/${print}`,
          ruleId: "external/DiskFull",
          subject: { kind: "external", id: print },
          labels,
          annotations: { summary: "2 % left" },
          state: "firing",
          startsAt: NOW,
          firedAt: NOW + 7,
          updatedAt: NOW + 7,
          facts: { timezone: "UTC", generatorUrl: "https://p" },
        },
      },
    ]);
    expect(lines).toMatchObject([{ subject: { kind: "external", id: print }, reason: "firing", at: NOW + 7 }]);
    expect(isUnevaluated(next, { now: NOW + 7, deafUntil: 0 })).toBe(false);
    expect(judge(next, NOW + 8)).toMatchObject({ next, transitions: [], lines: [] });
  });

  test("it changes when what is told of it changed", () => {
    const { next, transitions } = judge(of(known({ isNews: true })), NOW + 7);
    expect(transitions).toMatchObject([{ kind: "updated", alert: { firedAt: NOW, updatedAt: NOW + 7 } }]);
    expect(next.get(print)).toMatchObject({ isNews: false, firedAt: NOW });
  });

  test.each([
    ["recovered where the sender said so", { isResolved: true }, "recovered", "resolved"],
    ["expired where nobody sent it again", { isResolved: false }, "expired", "expired"],
  ] as const)("it is %s, at its end and no earlier", (_, differing, endReason, reason) => {
    const state = of(known({ ...differing, endsAt: NOW + MINUTE }));
    expect(judge(state, NOW + MINUTE - 1).transitions).toEqual([]);
    const { next, transitions, lines } = judge(state, NOW + MINUTE);
    expect(transitions).toMatchObject([
      { kind: "resolved", alert: { id: `external/DiskFull/${print}@${NOW}`, endsAt: NOW + MINUTE, endReason } },
    ]);
    expect(lines).toMatchObject([{ reason }]);
    expect(next.size).toBe(0);
  });

  test("it ends when it ended, not when that was found out, and never before it began", () => {
    const end = (differing: Partial<ExternalAlert>) =>
      judge(of(known(differing)), NOW + 9 * MINUTE).transitions[0]?.alert;
    expect(end({ endsAt: NOW + MINUTE })?.endsAt).toBe(NOW + MINUTE);
    expect(end({ endsAt: NOW - MINUTE, isResolved: true })?.endsAt).toBe(NOW);
  });

  test("it has begun though it is over before anybody looked", () => {
    const { next, transitions } = judge(of(known({ firedAt: undefined })), NOW + 9 * MINUTE);
    expect(transitions.map(({ kind }) => kind)).toEqual(["firing", "resolved"]);
    expect(new Set(transitions.map(({ alert }) => alert.id)).size).toBe(1);
    expect(next.size).toBe(0);
  });

  test("it does not expire while nobody could have heard that it goes on; what the sender said counts", () => {
    const silent = of(known({ endsAt: NOW }));
    expect(isUnevaluated(silent, { now: NOW + MINUTE, deafUntil: NOW + 2 * MINUTE })).toBe(false);
    expect(judge(silent, NOW + MINUTE, NOW + 2 * MINUTE).transitions).toEqual([]);
    expect(judge(silent, NOW + 2 * MINUTE, NOW + 2 * MINUTE).transitions).toHaveLength(1);
    const over = of(known({ endsAt: NOW, isResolved: true }));
    expect(judge(over, NOW + MINUTE, NOW + 2 * MINUTE).transitions).toHaveLength(1);
  });

  test("it begins no later than it was found", () => {
    expect(toAlert(print, known({ startsAt: NOW + MINUTE }), NOW).startsAt).toBe(NOW);
  });

  test.each([
    ["a/b\nc#d\u0000\u202e", "external/a_b c#d/"],
    ["", "external//"],
    ["x".repeat(500), `external/${"x".repeat(99)}…/`],
  ])("a name such as %j makes an identity of one line", (alertname, start) => {
    const { key, ruleId } = toAlert(print, known({ labels: { alertname } }), NOW);
    expect(key).toBe(start + print);
    expect(ruleId).toBe(start.slice(0, -1));
  });
});
