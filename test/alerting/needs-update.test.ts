import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import type {
  GroupDecision,
  GroupView,
  NotificationLogEntry,
  SuppressionReason,
  Suppressions,
} from "../../src/alerting/model.ts";
import { clearingOf, needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import { offlineAlert, resolvedAlert } from "../support/fixtures.ts";

const NOW = Date.UTC(2026, 2, 2, 8);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SECOND = 1_000;

function firing(name: string, more: Partial<Alert> = {}): Alert {
  const firedAt = NOW - 10 * MINUTE;
  return offlineAlert(name, { startsAt: firedAt - MINUTE, firedAt, ...more });
}

function over(name: string, endsAt: number, more: Partial<Alert> = {}): Alert {
  return resolvedAlert(firing(name), endsAt, more);
}

const notified = (...alerts: [Alert, number][]): Map<string, NotificationLogEntry> =>
  new Map(alerts.map(([alert, notifiedAt]) => [alert.id, { alert, notifiedAt, groupId: "g" }]));

const view = (more: Partial<GroupView>): GroupView => ({
  now: NOW,
  repeatIntervalMs: 4 * HOUR,
  sendResolved: true,
  dueSince: undefined,
  alerts: [],
  notified: new Map(),
  ...more,
});

/** `first +a +b -c` for what is said, `nothing_new (c)` for what is not and what leaves silently. */
function short(decision: GroupDecision): string {
  const name = (id: string) => id.replace(/^.*\//, "").replace(/@.*$/, "");
  if (decision.notify === undefined) {
    return [decision.why, ...decision.settled.map((id) => `(${name(id)})`)].join(" ");
  }
  const { firing, resolved } = decision;
  return [decision.notify, ...firing.map((a) => `+${name(a.id)}`), ...resolved.map((a) => `-${name(a.id)}`)].join(" ");
}

const [a, b] = [firing("a"), firing("b")];
const ago = (ms: number) => NOW - ms;

describe("whether there is something to say", () => {
  const rows: [string, Partial<GroupView>, string][] = [
    ["an empty group says nothing", {}, "empty"],
    ["what fires and was never told is first", { alerts: [a, b] }, "first +a +b"],
    ["what fires beside something told is more", { alerts: [a, b], notified: notified([a, ago(1)]) }, "more +a +b"],
    ["what was told is not told again", { alerts: [a], notified: notified([a, ago(HOUR)]) }, "nothing_new"],
    [
      "an end of something told is told",
      { alerts: [over("a", ago(1))], notified: notified([a, ago(HOUR)]) },
      "resolved -a",
    ],
    [
      "an end is told while others fire",
      { alerts: [over("a", ago(1)), b], notified: notified([a, ago(HOUR)], [b, ago(HOUR)]) },
      "resolved +b -a",
    ],
    [
      "a beginning beside an end is more",
      { alerts: [over("a", ago(1)), b], notified: notified([a, ago(HOUR)]) },
      "more +b -a",
    ],
    [
      "a reminder comes when repeat_interval is over",
      { alerts: [a], notified: notified([a, ago(4 * HOUR)]) },
      "reminder +a",
    ],
    ["and not a moment before", { alerts: [a], notified: notified([a, ago(4 * HOUR - 1)]) }, "nothing_new"],
    [
      "counted from the last message",
      { alerts: [a, b], notified: notified([a, ago(5 * HOUR)], [b, ago(HOUR)]) },
      "nothing_new",
    ],
    ["over before it was due, it is never told", { alerts: [over("a", ago(1))] }, "resolved_before_notified (a)"],
    [
      "over before it was due, though the group was due later",
      { alerts: [over("a", ago(MINUTE + 1))], dueSince: ago(MINUTE) },
      "resolved_before_notified (a)",
    ],
    [
      "over while only the receiver or we were in the way, it is told late",
      { alerts: [over("a", ago(MINUTE))], dueSince: ago(MINUTE) },
      "resolved -a",
    ],
    [
      "also when the problem itself was over earlier, and keep_firing_for ran",
      { alerts: [over("a", ago(2 * MINUTE), { updatedAt: ago(30_000) })], dueSince: ago(MINUTE) },
      "resolved -a",
    ],
    ["told late beside what fires", { alerts: [over("a", ago(1)), b], dueSince: ago(MINUTE) }, "first +b -a"],
    [
      "without send_resolved an end leaves silently",
      { alerts: [over("a", ago(1))], notified: notified([a, ago(HOUR)]), sendResolved: false },
      "send_resolved_off (a)",
    ],
    [
      "without send_resolved what is late leaves silently too",
      { alerts: [over("a", ago(1))], dueSince: ago(MINUTE), sendResolved: false },
      "send_resolved_off (a)",
    ],
    [
      "without send_resolved a beginning is said without the ends",
      { alerts: [over("a", ago(1)), b], notified: notified([a, ago(HOUR)]), sendResolved: false },
      "more +b",
    ],
    ["what was told and has no record is over", { notified: notified([a, ago(HOUR)]) }, "resolved -a"],
  ];
  test.each(rows)("%s", (_, more, expected) => {
    expect(short(needsUpdate(view(more)))).toBe(expected);
  });
});

describe("what is held", () => {
  const suppressions = (more: Partial<Suppressions> = {}): Suppressions => ({
    muted: undefined,
    suppressed: new Map(),
    suppressedBefore: new Map(),
    maybeNotified: new Set(),
    recheckEveryMs: 5 * MINUTE,
    standsFor: new Map(),
    ...more,
  });
  const suppressed = (reason: SuppressionReason, ...alerts: Alert[]) =>
    suppressions({ suppressed: new Map(alerts.map(({ id }) => [id, { reason, by: "x" }])) });
  const muted = suppressions({ muted: { reason: "muted", by: "night", until: NOW + MINUTE } });
  const overlong = over("a", ago(MINUTE));

  const rows: [string, Partial<GroupView>, string][] = [
    ["is not told", { alerts: [a], suppressions: suppressed("inhibited", a) }, "inhibited"],
    [
      "by the first reason of several",
      {
        alerts: [a, b],
        suppressions: suppressions({
          suppressed: new Map([
            [a.id, { reason: "silenced", by: "s" }],
            [b.id, { reason: "inhibited", by: "i" }],
          ]),
        }),
      },
      "inhibited",
    ],
    [
      "while what is not held is told without it",
      { alerts: [a, b], suppressions: suppressed("silenced", a) },
      "first +b",
    ],
    [
      "is not named again, though it was told",
      { alerts: [a, b], notified: notified([a, ago(HOUR)]), suppressions: suppressed("acknowledged", a) },
      "more +b",
    ],
    [
      "gets no reminder",
      { alerts: [a], notified: notified([a, ago(4 * HOUR)]), suppressions: suppressed("acknowledged", a) },
      "acknowledged",
    ],
    [
      "and holds nothing that is not due",
      { alerts: [a], notified: notified([a, ago(HOUR)]), suppressions: suppressed("acknowledged", a) },
      "nothing_new",
    ],
    [
      "is told its end where it may have been told by somebody who died",
      {
        alerts: [overlong],
        suppressions: { ...suppressed("silenced", overlong), maybeNotified: new Set([overlong.id]) },
      },
      "resolved -a",
    ],
    [
      "is told its end where it was told before",
      { alerts: [over("a", ago(1))], notified: notified([a, ago(HOUR)]), suppressions: suppressed("silenced", a) },
      "resolved -a",
    ],
    [
      "is not told its end where it was not, though the group waited",
      { alerts: [overlong], dueSince: ago(MINUTE), suppressions: suppressed("silenced", overlong) },
      "resolved_before_notified (a)",
    ],
    [
      "and let go in the moment it ended it is not told either",
      {
        alerts: [overlong],
        dueSince: ago(MINUTE),
        suppressions: suppressions({ suppressedBefore: new Map([[overlong.id, false]]) }),
      },
      "resolved_before_notified (a)",
    ],
    [
      "but told late when it was let go before it ended",
      {
        alerts: [overlong],
        dueSince: ago(MINUTE + 1),
        suppressions: suppressions({ suppressedBefore: new Map([[overlong.id, false]]) }),
      },
      "resolved -a",
    ],
    ["in a mute time is everything", { alerts: [a], suppressions: muted }, "muted"],
    [
      "in a mute time are ends too",
      { alerts: [over("a", ago(1)), b], notified: notified([a, ago(HOUR)], [b, ago(HOUR)]), suppressions: muted },
      "muted",
    ],
    ["and what has lost its record", { notified: notified([a, ago(HOUR)]), suppressions: muted }, "muted"],
    [
      "what came and went in a mute time is nobody's business",
      { alerts: [over("a", ago(1))], dueSince: ago(MINUTE), suppressions: muted },
      "resolved_before_notified (a)",
    ],
    [
      "a mute time with nothing to say is not the reason",
      { alerts: [a], notified: notified([a, ago(HOUR)]), suppressions: muted },
      "nothing_new",
    ],
  ];
  test.each(rows)("%s", (_, more, expected) => {
    expect(short(needsUpdate(view(more)))).toBe(expected);
  });

  test("is looked at again after group_interval, or when the clock ends the hold", () => {
    expect(needsUpdate(view({ alerts: [a], suppressions: suppressed("inhibited", a) })).nextAt).toBe(NOW + 5 * MINUTE);
    expect(needsUpdate(view({ alerts: [a], suppressions: muted })).nextAt).toBe(NOW + MINUTE);
    expect(needsUpdate(view({ alerts: [a, b], suppressions: suppressed("inhibited", a) })).nextAt).toBe(
      NOW + 5 * MINUTE,
    );
    expect(
      needsUpdate(view({ alerts: [over("a", ago(1))], notified: notified([a, 1]), suppressions: muted })).nextAt,
    ).toBe(NOW + MINUTE);
  });

  test("by two acknowledgements of one person is looked at again when the first of them ends", () => {
    const by = (until: number) => ({ reason: "acknowledged", by: "ana", until }) as const;
    const suppressed = new Map([
      [a.id, by(NOW + MINUTE)],
      [b.id, by(NOW + 2 * MINUTE)],
    ]);
    const alerts = { alerts: [a, b], notified: notified([a, ago(HOUR)], [b, ago(HOUR)]) };
    expect(needsUpdate(view({ ...alerts, suppressions: suppressions({ suppressed }) })).nextAt).toBe(NOW + MINUTE);
  });

  test("is kept with whoever holds it, each once, and late from when the clock ends that", () => {
    const until = NOW + 2 * MINUTE;
    const by = { reason: "silenced", by: "s", until } as const;
    const both = suppressions({ suppressed: new Map([a, b].map(({ id }) => [id, by])) });
    expect(
      needsUpdate(view({ alerts: [a, b], notified: notified([b, ago(1)]), suppressions: both })).suppressedState,
    ).toEqual({ by: [by], unnotified: [[a.id, true]], maybeNotified: [], lateFrom: until });
  });

  test("while it fires on for keep_firing_for, if it was notified or suppressed before; else it is sent", () => {
    const back = { ...a, facts: { ...a.facts, clearing: true } };
    expect(clearingOf(back, true)).toEqual({ reason: "clearing", by: a.id });
    expect([clearingOf(back, false), clearingOf(a, true)]).toEqual([undefined, undefined]);
  });

  /** In `keep_firing_for` since an instant; the cause that suppressed it before covered it or not. */
  const clearing = (since: number, wasCovered: boolean, more: Partial<GroupView> = {}) => {
    const back = firing("a", { updatedAt: since, facts: { ...a.facts, clearing: true } });
    const suppressedBefore = new Map([[back.id, wasCovered]]);
    const suppressions = { ...suppressed("clearing", back), suppressedBefore };
    return needsUpdate(view({ alerts: [back], suppressions, ...more })).suppressedState;
  };

  test("is late while it only fires on for keep_firing_for, where nothing covered it", () => {
    expect(clearing(ago(MINUTE), false)).toMatchObject({ lateFrom: NOW, unnotified: [[a.id, false]] });
    expect(clearing(ago(MINUTE), false, { dueSince: ago(MINUTE) }).lateFrom).toBe(ago(MINUTE));
  });

  test("is not late where its problem was over before its suppression was, which covered it", () => {
    expect(clearing(ago(MINUTE), true)).toMatchObject({ lateFrom: undefined, unnotified: [[a.id, true]] });
    expect(clearing(ago(MINUTE), true, { dueSince: ago(MINUTE) }).lateFrom).toBeUndefined();
    expect(clearing(ago(1), true, { dueSince: ago(MINUTE) }).lateFrom).toBe(ago(MINUTE));
  });

  test.each([
    ["silenced", true],
    ["acknowledged", true],
    ["maintenance", true],
    ["paused", true],
    ["escalation", true],
    ["inhibited", true],
    ["stale", false],
  ] as const)("%s: whether the cause covers it is %s", (reason, isCovered) => {
    const { suppressedState } = needsUpdate(view({ alerts: [a], suppressions: suppressed(reason, a) }));
    expect(suppressedState.unnotified).toEqual([[a.id, isCovered]]);
  });

  test("by an alert that says nothing of it is not covered", () => {
    const by = { reason: "inhibited", by: "x", coversNothing: true } as const;
    const { suppressedState } = needsUpdate(
      view({ alerts: [a], suppressions: suppressions({ suppressed: new Map([[a.id, by]]) }) }),
    );
    expect(suppressedState.unnotified).toEqual([[a.id, false]]);
  });

  test.each([
    ["was covered: the problem's end counts", true, "resolved_before_notified (a)"],
    ["was not covered: the alert's end counts", false, "resolved -a"],
  ])("and over while its group was due, it %s", (_, wasCovered, expected) => {
    const ended = { ...over("a", ago(SECOND)), endsAt: ago(2 * MINUTE) };
    const suppressedBefore = new Map([[ended.id, wasCovered]]);
    const held = suppressions({ suppressedBefore });
    expect(short(needsUpdate(view({ alerts: [ended], dueSince: ago(MINUTE), suppressions: held })))).toBe(expected);
  });

  test("an end waits for others of its summary that fire, for group_interval, unless there is news", () => {
    const waiting = (more: Partial<GroupView>, othersFire = true) =>
      needsUpdate(
        view({
          alerts: [over("a", ago(SECOND))],
          notified: notified([a, ago(HOUR)], [b, ago(HOUR)]),
          dueSince: ago(MINUTE),
          suppressions: suppressions({ othersFire }),
          ...more,
        }),
      );
    const held = { settled: [], nextAt: NOW + 4 * MINUTE, suppressedState: { lateFrom: ago(MINUTE) } };
    const here = { notified: notified([a, ago(HOUR)]) };
    expect(waiting(here)).toMatchObject({ notify: undefined, why: "waits_for_others", ...held });
    expect(short(waiting(here, false))).toBe("resolved -a");
    expect(short(waiting({ ...here, dueSince: ago(5 * MINUTE) }))).toBe("resolved -a");
    expect(short(waiting({ ...here, alerts: [over("a", ago(SECOND)), b] }))).toBe("more +b -a");
    expect(waiting({ alerts: [over("a", ago(SECOND)), b] })).toMatchObject({ why: "waits_for_others" });
  });

  test("is what the one that is told stands for", () => {
    const standsFor = { recordings: 1, locations: 0, names: ["Till"] };
    const decision = needsUpdate(
      view({ alerts: [a], suppressions: suppressions({ standsFor: new Map([[a.id, standsFor]]) }) }),
    );
    expect(decision).toMatchObject({ notify: "first", firing: [{ standsFor }] });
  });
});

describe("what is said", () => {
  test("names what fires longest first, each with its fingerprint and whether it is news", () => {
    const older = firing("c", { startsAt: ago(2 * HOUR) });
    const decision = needsUpdate(view({ alerts: [b, a, older], notified: notified([a, ago(HOUR)]) }));
    expect(decision).toMatchObject({
      notify: "more",
      firing: [
        { ...older, fingerprint: fingerprint(older.labels), isNew: true },
        { ...a, isNew: false },
        { ...b, isNew: true },
      ],
      resolved: [],
      settled: [],
    });
  });

  test("a late one is news, an ordinary end is not", () => {
    const decision = needsUpdate(
      view({
        alerts: [over("a", ago(1)), over("b", ago(1))],
        notified: notified([a, ago(HOUR)]),
        dueSince: ago(MINUTE),
      }),
    );
    if (decision.notify === undefined) throw new Error("said nothing");
    expect(decision.resolved.map(({ key, isNew }) => [key, isNew])).toEqual([
      [a.key, false],
      [b.key, true],
    ]);
  });

  test("what has no record ended as expired, now", () => {
    const decision = needsUpdate(view({ notified: notified([a, ago(HOUR)]) }));
    expect(decision).toMatchObject({
      resolved: [{ id: a.id, state: "resolved", endsAt: NOW, updatedAt: NOW, endReason: "expired", isNew: false }],
      settled: [a.id],
    });
  });

  test("everything that is over is settled, told or not", () => {
    const dropped = over("c", ago(HOUR));
    const decision = needsUpdate(
      view({ alerts: [over("a", ago(1)), dropped, b], notified: notified([a, ago(HOUR)]), dueSince: ago(MINUTE) }),
    );
    expect(decision.settled).toEqual([a.id, dropped.id]);
  });

  test("nothing handed in is changed", () => {
    const alerts = Object.freeze([b, firing("c", { startsAt: 1 }), a].map((alert) => Object.freeze(alert)));
    needsUpdate(view({ alerts }));
    expect(alerts[0]).toBe(b);
  });
});

describe("when to look again", () => {
  const nextAt = (more: Partial<GroupView>) => {
    const decision = needsUpdate(view(more));
    if (decision.notify !== undefined) throw new Error(`said ${decision.notify}`);
    return decision.nextAt;
  };

  test("for the reminder, while something told fires", () => {
    expect(nextAt({ alerts: [a], notified: notified([a, ago(HOUR)]) })).toBe(NOW + 3 * HOUR);
  });

  test("not at all when nothing fires", () => {
    expect(nextAt({})).toBeUndefined();
    expect(nextAt({ alerts: [over("a", ago(1))], notified: notified([a, 1]), sendResolved: false })).toBeUndefined();
  });
});
