/** Examples that tell the story; whatever happens in between is in the property file. */
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import type { GroupDecision, GroupView, SuppressionReason, Suppressions } from "../../src/alerting/model.ts";
import { clearingOf, needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import { offlineAlert, resolvedAlert } from "../support/fixtures.ts";

const NOW = Date.UTC(2026, 2, 2, 8);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const firing = (name: string, more: Partial<Alert> = {}) =>
  offlineAlert(name, { startsAt: NOW - 11 * MINUTE, firedAt: NOW - 10 * MINUTE, ...more });
const over = (name: string, ago: number, more: Partial<Alert> = {}) => resolvedAlert(firing(name), NOW - ago, more);
const [a, b] = [firing("a"), firing("b")];

/** The entries of alerts that were notified so long ago. */
const log = (...of: [Alert, number][]): GroupView["notified"] =>
  new Map(of.map(([alert, ago]) => [alert.id, { alert, notifiedAt: NOW - ago, groupId: "g" }]));
const decide = (more: Partial<GroupView>): GroupDecision =>
  needsUpdate({
    now: NOW,
    repeatIntervalMs: 4 * HOUR,
    sendResolved: true,
    dueSince: new Map(),
    alerts: [],
    notified: new Map(),
    unsure: new Map(),
    ...more,
  });

const suppressions = (more: Partial<Suppressions> = {}): Suppressions => ({
  muted: undefined,
  suppressed: new Map(),
  suppressedBefore: new Map(),
  recheckEveryMs: 5 * MINUTE,
  standsFor: new Map(),
  ...more,
});
const by = (reason: SuppressionReason, ...alerts: Alert[]) =>
  suppressions({ suppressed: new Map(alerts.map(({ id }) => [id, { reason, by: "x" }])) });
const muted = suppressions({ muted: { reason: "muted", by: "night", until: NOW + MINUTE } });
const wasSuppressed = (id: string, isCovered: boolean) =>
  suppressions({ suppressedBefore: new Map([[id, { isCovered }]]) });
/** The alert named a is late from then on. */
const since = (at: number) => new Map([[a.id, at]]);

/** `first +a +b -c` for what is sent, `nothing_new (c)` for what is not and what leaves all the same. */
function short(more: Partial<GroupView>): string {
  const decision = decide(more);
  const name = (id: string) => id.replace(/^.*\//, "").replace(/@.*$/, "");
  if (decision.notify === undefined) return [decision.why, ...decision.settled.map((id) => `(${name(id)})`)].join(" ");
  const { firing, resolved } = decision;
  return [decision.notify, ...firing.map(({ id }) => `+${name(id)}`), ...resolved.map(({ id }) => `-${name(id)}`)].join(
    " ",
  );
}

const long = over("a", MINUTE);
const late = { ...over("a", 1_000), endsAt: NOW - 2 * MINUTE };
const off = { sendResolved: false };

test.each<[string, Partial<GroupView>, string]>([
  ["an empty group", {}, "empty"],
  ["what fires and was never notified", { alerts: [a, b] }, "first +a +b"],
  ["what fires beside what was notified", { alerts: [a, b], notified: log([a, 1]) }, "more +a +b"],
  ["before repeat_interval", { alerts: [a], notified: log([a, 4 * HOUR - 1]) }, "nothing_new"],
  ["at repeat_interval", { alerts: [a], notified: log([a, 4 * HOUR]) }, "reminder +a"],
  ["counted from the last message", { alerts: [a, b], notified: log([a, 5 * HOUR], [b, HOUR]) }, "nothing_new"],
  ["an end", { alerts: [over("a", 1), b], notified: log([a, HOUR], [b, HOUR]) }, "resolved +b -a"],
  ["an end beside a beginning", { alerts: [over("a", 1), b], notified: log([a, HOUR]) }, "more +b -a"],
  [
    "over before it was due",
    { alerts: [over("a", MINUTE + 1)], dueSince: since(NOW - MINUTE) },
    "resolved_before_notified (a)",
  ],
  ["over while only the receiver was in the way", { alerts: [long], dueSince: since(NOW - MINUTE) }, "resolved -a"],
  ["so while keep_firing_for ran", { alerts: [late], dueSince: since(NOW - MINUTE) }, "resolved -a"],
  [
    "an end without send_resolved",
    { alerts: [over("a", 1)], notified: log([a, HOUR]), ...off },
    "send_resolved_off (a)",
  ],
  ["a late one without it", { alerts: [over("a", 1)], dueSince: since(NOW - MINUTE), ...off }, "send_resolved_off (a)"],
  ["a beginning without it", { alerts: [over("a", 1), b], notified: log([a, HOUR]), ...off }, "more +b"],
  ["what was notified and has lost its alert", { notified: log([a, HOUR]) }, "resolved -a"],
  ["suppressed", { alerts: [a], suppressions: by("inhibited", a) }, "inhibited"],
  ["suppressed beside one that is not", { alerts: [a, b], suppressions: by("silenced", a) }, "first +b"],
  ["no reminder", { alerts: [a], notified: log([a, 4 * HOUR]), suppressions: by("acknowledged", a) }, "acknowledged"],
  ["none is due", { alerts: [a], notified: log([a, HOUR]), suppressions: by("acknowledged", a) }, "nothing_new"],
  ["its end", { alerts: [long], notified: log([a, HOUR]), suppressions: by("silenced", long) }, "resolved -a"],
  [
    "its end, where it may have been notified",
    { alerts: [long], unsure: log([long, HOUR]), suppressions: by("silenced", long) },
    "resolved -a",
  ],
  [
    "its end, where it was not notified",
    { alerts: [long], dueSince: since(NOW - MINUTE), suppressions: by("silenced", long) },
    "resolved_before_notified (a)",
  ],
  [
    "its end in the moment in which the suppression ended",
    { alerts: [long], dueSince: since(NOW - MINUTE), suppressions: wasSuppressed(long.id, false) },
    "resolved_before_notified (a)",
  ],
  [
    "its end after that",
    { alerts: [long], dueSince: since(NOW - MINUTE - 1), suppressions: wasSuppressed(long.id, false) },
    "resolved -a",
  ],
  [
    "its problem over before the suppression, which covered it",
    { alerts: [late], dueSince: since(NOW - MINUTE), suppressions: wasSuppressed(late.id, true) },
    "resolved_before_notified (a)",
  ],
  [
    "so where nothing covered it",
    { alerts: [late], dueSince: since(NOW - MINUTE), suppressions: wasSuppressed(late.id, false) },
    "resolved -a",
  ],
  ["in a mute time", { alerts: [a], suppressions: muted }, "muted"],
  ["an end in a mute time", { alerts: [long], notified: log([a, HOUR]), suppressions: muted }, "muted"],
  ["a lost alert in a mute time", { notified: log([a, HOUR]), suppressions: muted }, "muted"],
  [
    "all of it in a mute time",
    { alerts: [long], dueSince: since(NOW - MINUTE), suppressions: muted },
    "resolved_before_notified (a)",
  ],
  ["nothing new in a mute time", { alerts: [a], notified: log([a, HOUR]), suppressions: muted }, "nothing_new"],
])("%s", (_, more, expected) => {
  expect(short(more)).toBe(expected);
});

test("of several reasons the first is named", () => {
  const both = new Map([...by("silenced", a).suppressed, ...by("inhibited", b).suppressed]);
  expect(short({ alerts: [a, b], suppressions: suppressions({ suppressed: both }) })).toBe("inhibited");
});

test("a message has what fires longest first, with what it stands for, and says what is news", () => {
  const older = firing("c", { startsAt: NOW - 2 * HOUR });
  const standsFor = { recordings: 1, locations: 0, names: ["Till"] };
  const alerts = Object.freeze([b, a, older].map((alert) => Object.freeze(alert)));
  const held = suppressions({ standsFor: new Map([[a.id, standsFor]]) });
  expect(decide({ alerts, notified: log([a, HOUR]), suppressions: held })).toMatchObject({
    firing: [
      { ...older, fingerprint: fingerprint(older.labels), isNew: true },
      { ...a, isNew: false, standsFor },
      { ...b, isNew: true },
    ],
    settled: [],
  });
  const dropped = over("c", HOUR);
  const ends = {
    alerts: [over("a", 1), over("b", 1), dropped],
    notified: log([a, HOUR]),
    dueSince: new Map([
      [b.id, NOW - MINUTE],
      [dropped.id, NOW - MINUTE],
    ]),
  };
  expect(decide(ends)).toMatchObject({
    resolved: [
      { key: a.key, isNew: false },
      { key: b.key, isNew: true },
    ],
    settled: [a.id, b.id, dropped.id],
  });
  expect(decide({ notified: log([a, HOUR]) })).toMatchObject({
    resolved: [{ id: a.id, state: "resolved", endsAt: NOW, updatedAt: NOW, endReason: "expired", isNew: false }],
  });
});

test("it is decided again for the reminder, after group_interval, or when the clock ends a suppression", () => {
  const nextAt = (more: Partial<GroupView>) => (decide(more).nextAt ?? Number.NaN) - NOW;
  expect(nextAt({ alerts: [a], notified: log([a, HOUR]) })).toBe(3 * HOUR);
  expect(nextAt({})).toBeNaN();
  expect(nextAt({ alerts: [over("a", 1)], notified: log([a, 1]), ...off })).toBeNaN();
  expect(nextAt({ alerts: [a, b], suppressions: by("inhibited", a) })).toBe(5 * MINUTE);
  expect(nextAt({ alerts: [a], suppressions: muted })).toBe(MINUTE);
  expect(nextAt({ alerts: [over("a", 1)], notified: log([a, 1]), suppressions: muted })).toBe(MINUTE);
  const until = (minutes: number) => ({ reason: "acknowledged", by: "ana", until: NOW + minutes * MINUTE }) as const;
  const suppressed = new Map([
    [a.id, until(1)],
    [b.id, until(2)],
  ]);
  expect(nextAt({ alerts: [a, b], suppressions: suppressions({ suppressed }) })).toBe(MINUTE);
});

describe("what is suppressed", () => {
  const stateOf = (of: Suppressions, more: Partial<GroupView> = {}) =>
    decide({ alerts: [a], suppressions: of, ...more }).suppressedState;

  test("is kept with its suppression, each once, and is late from when the clock ends that", () => {
    const until = NOW + 2 * MINUTE;
    const silenced = { reason: "silenced", by: "s", until } as const;
    const both = suppressions({ suppressed: new Map([a, b].map(({ id }) => [id, silenced])) });
    const unnotified = new Map([[a.id, { isCovered: true, lateFrom: until }]]);
    const state = { by: [silenced], unnotified };
    expect(stateOf(both, { alerts: [a, b], notified: log([b, 1]) })).toEqual(state);
  });

  test.each(["silenced", "acknowledged", "maintenance", "paused", "escalation", "inhibited", "stale"] as const)(
    "%s: it is covered by its cause, unless it was only not read or its cause says nothing of it",
    (reason) => {
      expect(stateOf(by(reason, a)).unnotified).toEqual(new Map([[a.id, { isCovered: reason !== "stale" }]]));
      const nothing = { reason, by: "x", coversNothing: true } as const;
      expect(stateOf(suppressions({ suppressed: new Map([[a.id, nothing]]) })).unnotified).toEqual(
        new Map([[a.id, { isCovered: false }]]),
      );
    },
  );

  test("while it fires on for keep_firing_for it was notified or suppressed before, and is late where nothing covered it", () => {
    const back = firing("a", { updatedAt: NOW - MINUTE, facts: { ...a.facts, clearing: true } });
    expect(clearingOf(back, true)).toEqual({ reason: "clearing", by: a.id });
    expect([clearingOf(back, false), clearingOf(a, true)]).toEqual([undefined, undefined]);
    const clearing = (isCovered: boolean, dueSince?: number, updatedAt = NOW - MINUTE) =>
      stateOf(
        { ...by("clearing", back), ...{ suppressedBefore: new Map([[back.id, { isCovered }]]) } },
        { alerts: [{ ...back, updatedAt }], ...(dueSince && { dueSince: since(dueSince) }) },
      ).unnotified.get(back.id)?.lateFrom;
    expect([clearing(false), clearing(false, NOW - MINUTE)]).toEqual([NOW, NOW - MINUTE]);
    expect([clearing(true), clearing(true, NOW - MINUTE)]).toEqual([undefined, undefined]);
    expect(clearing(true, NOW - MINUTE, NOW - 1)).toBe(NOW - MINUTE);
  });
});

test("an end waits for others of its summary that fire, for group_interval, unless there is news", () => {
  const ended = over("a", 1_000);
  const waiting = (more: Partial<GroupView>, othersFire = true): Partial<GroupView> => ({
    alerts: [ended],
    notified: log([a, HOUR]),
    dueSince: since(NOW - MINUTE),
    suppressions: suppressions({ othersFire }),
    ...more,
  });
  const held = { settled: [], nextAt: NOW + 4 * MINUTE };
  expect(decide(waiting({}))).toMatchObject({ notify: undefined, why: "waits_for_others", ...held });
  expect(short(waiting({}, false))).toBe("resolved -a");
  expect(short(waiting({ dueSince: since(NOW - 5 * MINUTE) }))).toBe("resolved -a");
  expect(short(waiting({ alerts: [ended, b] }))).toBe("more +b -a");
  expect(short(waiting({ alerts: [ended, b], notified: log([a, HOUR], [b, HOUR]) }))).toBe("waits_for_others");
});

describe("what is not due yet", () => {
  const due = (inMs: number, ...of: Alert[]) => ({ dueSince: new Map(of.map(({ id }) => [id, NOW + inMs])) });
  const waits = (nextAt: number) => ({ notify: undefined, why: "nothing_new", settled: [], nextAt });

  test("waits, a beginning or an end, and goes along with what is due", () => {
    expect(decide({ alerts: [a], ...due(1, a) })).toMatchObject(waits(NOW + 1));
    expect(decide({ alerts: [over("a", 1)], notified: log([a, HOUR]), ...due(1, a) })).toMatchObject(waits(NOW + 1));
    expect(short({ alerts: [a, b], ...due(1, a) })).toBe("first +a +b");
    expect(short({ alerts: [a], ...due(0, a) })).toBe("first +a");
    expect(short({ alerts: [a, b], notified: log([b, 4 * HOUR]), ...due(1, a) })).toBe("more +a +b");
    expect(short({ alerts: [a], ...due(10, a), dueBy: NOW + 10 })).toBe("first +a");
  });

  test("what may have been notified ends, also where its alert is lost", () => {
    const unsure = log([a, HOUR]);
    expect(decide({ alerts: [over("a", 1)], unsure, ...due(1, a) })).toMatchObject(waits(NOW + 1));
    expect(short({ unsure })).toBe("resolved -a");
  });

  test("keeps what is late after a suppression", () => {
    const late = { unsure: log([a, HOUR]), suppressions: wasSuppressed(a.id, false) };
    const { unnotified } = decide({ alerts: [over("a", 1)], ...late, ...due(1, a) }).suppressedState;
    expect(unnotified).toEqual(new Map([[a.id, { isCovered: false, lateFrom: NOW + 1 }]]));
  });

  test("an end that is later than a week is nothing any more", () => {
    const old = resolvedAlert(firing("a"), NOW - MINUTE);
    const week = 7 * 24 * HOUR;
    expect(short({ alerts: [old], dueSince: since(NOW - week) })).toBe("resolved -a");
    expect(short({ alerts: [old], dueSince: since(NOW - week - 1) })).toBe("resolved_before_notified (a)");
  });
});
