import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { decideGroup, type GroupDecision, type GroupView } from "../../src/alerting/needs-update.ts";
import type { Told } from "../../src/alerting/notification-log.ts";
import type { HoldReason, Holds } from "../../src/alerting/suppression.ts";
import type { Alert } from "../../src/health/alert.ts";

const NOW = Date.UTC(2026, 2, 2, 8);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function firing(name: string, more: Partial<Alert> = {}): Alert {
  const firedAt = NOW - 10 * MINUTE;
  const key = `RecordingOffline/recording/${name}`;
  return {
    id: `${key}@${firedAt}`,
    key,
    ruleId: "RecordingOffline",
    subject: { kind: "recording", id: name },
    labels: { alertname: "RecordingOffline", recording_id: name },
    annotations: {},
    state: "firing",
    startsAt: firedAt - MINUTE,
    firedAt,
    updatedAt: firedAt,
    facts: { timezone: "UTC" },
    ...more,
  };
}

function over(name: string, endsAt: number, more: Partial<Alert> = {}): Alert {
  return firing(name, { state: "resolved", endsAt, updatedAt: endsAt, endReason: "recovered", ...more });
}

const told = (...alerts: [Alert, number][]): Map<string, Told> =>
  new Map(alerts.map(([alert, toldAt]) => [alert.id, { alert, toldAt, groupId: "g" }]));

const view = (more: Partial<GroupView>): GroupView => ({
  now: NOW,
  repeatIntervalMs: 4 * HOUR,
  sendResolved: true,
  dueSince: undefined,
  alerts: [],
  told: new Map(),
  ...more,
});

/** `first +a +b -c` for what is said, `nothing_new (c)` for what is not and what leaves silently. */
function short(decision: GroupDecision): string {
  const name = (id: string) => id.replace(/^.*\//, "").replace(/@.*$/, "");
  if (decision.say === undefined) {
    return [decision.why, ...decision.settled.map((id) => `(${name(id)})`)].join(" ");
  }
  const { firing, resolved } = decision;
  return [
    decision.say,
    ...firing.map((a) => `+${name(a.id)}`),
    ...resolved.map((a) => `-${name(a.id)}`),
  ].join(" ");
}

const [a, b] = [firing("a"), firing("b")];
const ago = (ms: number) => NOW - ms;

describe("whether there is something to say", () => {
  const rows: [string, Partial<GroupView>, string][] = [
    ["an empty group says nothing", {}, "empty"],
    ["what fires and was never told is first", { alerts: [a, b] }, "first +a +b"],
    ["what fires beside something told is more", { alerts: [a, b], told: told([a, ago(1)]) }, "more +a +b"],
    ["what was told is not told again", { alerts: [a], told: told([a, ago(HOUR)]) }, "nothing_new"],
    [
      "an end of something told is told",
      { alerts: [over("a", ago(1))], told: told([a, ago(HOUR)]) },
      "resolved -a",
    ],
    [
      "an end is told while others fire",
      { alerts: [over("a", ago(1)), b], told: told([a, ago(HOUR)], [b, ago(HOUR)]) },
      "resolved +b -a",
    ],
    [
      "a beginning beside an end is more",
      { alerts: [over("a", ago(1)), b], told: told([a, ago(HOUR)]) },
      "more +b -a",
    ],
    [
      "a reminder comes when repeat_interval is over",
      { alerts: [a], told: told([a, ago(4 * HOUR)]) },
      "reminder +a",
    ],
    ["and not a moment before", { alerts: [a], told: told([a, ago(4 * HOUR - 1)]) }, "nothing_new"],
    [
      "counted from the last message",
      { alerts: [a, b], told: told([a, ago(5 * HOUR)], [b, ago(HOUR)]) },
      "nothing_new",
    ],
    ["over before it was due, it is never told", { alerts: [over("a", ago(1))] }, "resolved_before_told (a)"],
    [
      "over before it was due, though the group was due later",
      { alerts: [over("a", ago(MINUTE + 1))], dueSince: ago(MINUTE) },
      "resolved_before_told (a)",
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
      { alerts: [over("a", ago(1))], told: told([a, ago(HOUR)]), sendResolved: false },
      "send_resolved_off (a)",
    ],
    [
      "without send_resolved what is late leaves silently too",
      { alerts: [over("a", ago(1))], dueSince: ago(MINUTE), sendResolved: false },
      "send_resolved_off (a)",
    ],
    [
      "without send_resolved a beginning is said without the ends",
      { alerts: [over("a", ago(1)), b], told: told([a, ago(HOUR)]), sendResolved: false },
      "more +b",
    ],
    ["what was told and has no record is over", { told: told([a, ago(HOUR)]) }, "resolved -a"],
  ];
  test.each(rows)("%s", (_, more, expected) => {
    expect(short(decideGroup(view(more)))).toBe(expected);
  });
});

describe("what is held", () => {
  const holds = (more: Partial<Holds> = {}): Holds => ({
    muted: undefined,
    held: new Map(),
    heldBefore: new Set(),
    maybeTold: new Set(),
    lookEveryMs: 5 * MINUTE,
    standsFor: new Map(),
    ...more,
  });
  const held = (reason: HoldReason, ...alerts: Alert[]) =>
    holds({ held: new Map(alerts.map(({ id }) => [id, { reason, by: "x" }])) });
  const muted = holds({ muted: { reason: "muted", by: "night", until: NOW + MINUTE } });
  const overlong = over("a", ago(MINUTE));

  const rows: [string, Partial<GroupView>, string][] = [
    ["is not told", { alerts: [a], holds: held("inhibited", a) }, "inhibited"],
    [
      "by the first reason of several",
      {
        alerts: [a, b],
        holds: holds({
          held: new Map([
            [a.id, { reason: "silenced", by: "s" }],
            [b.id, { reason: "inhibited", by: "i" }],
          ]),
        }),
      },
      "inhibited",
    ],
    ["while what is not held is told without it", { alerts: [a, b], holds: held("silenced", a) }, "first +b"],
    [
      "is not named again, though it was told",
      { alerts: [a, b], told: told([a, ago(HOUR)]), holds: held("acknowledged", a) },
      "more +b",
    ],
    [
      "gets no reminder",
      { alerts: [a], told: told([a, ago(4 * HOUR)]), holds: held("acknowledged", a) },
      "acknowledged",
    ],
    [
      "and holds nothing that is not due",
      { alerts: [a], told: told([a, ago(HOUR)]), holds: held("acknowledged", a) },
      "nothing_new",
    ],
    [
      "is told its end where it may have been told by somebody who died",
      { alerts: [overlong], holds: { ...held("silenced", overlong), maybeTold: new Set([overlong.id]) } },
      "resolved -a",
    ],
    [
      "is told its end where it was told before",
      { alerts: [over("a", ago(1))], told: told([a, ago(HOUR)]), holds: held("silenced", a) },
      "resolved -a",
    ],
    [
      "is not told its end where it was not, though the group waited",
      { alerts: [overlong], dueSince: ago(MINUTE), holds: held("silenced", overlong) },
      "resolved_before_told (a)",
    ],
    [
      "and let go in the moment it ended it is not told either",
      { alerts: [overlong], dueSince: ago(MINUTE), holds: holds({ heldBefore: new Set([overlong.id]) }) },
      "resolved_before_told (a)",
    ],
    [
      "but told late when it was let go before it ended",
      { alerts: [overlong], dueSince: ago(MINUTE + 1), holds: holds({ heldBefore: new Set([overlong.id]) }) },
      "resolved -a",
    ],
    ["in a mute time is everything", { alerts: [a], holds: muted }, "muted"],
    [
      "in a mute time are ends too",
      { alerts: [over("a", ago(1)), b], told: told([a, ago(HOUR)], [b, ago(HOUR)]), holds: muted },
      "muted",
    ],
    ["and what has lost its record", { told: told([a, ago(HOUR)]), holds: muted }, "muted"],
    [
      "what came and went in a mute time is nobody's business",
      { alerts: [over("a", ago(1))], dueSince: ago(MINUTE), holds: muted },
      "resolved_before_told (a)",
    ],
    [
      "a mute time with nothing to say is not the reason",
      { alerts: [a], told: told([a, ago(HOUR)]), holds: muted },
      "nothing_new",
    ],
  ];
  test.each(rows)("%s", (_, more, expected) => {
    expect(short(decideGroup(view(more)))).toBe(expected);
  });

  test("is looked at again after group_interval, or when the clock ends the hold", () => {
    expect(decideGroup(view({ alerts: [a], holds: held("inhibited", a) })).nextAt).toBe(NOW + 5 * MINUTE);
    expect(decideGroup(view({ alerts: [a], holds: muted })).nextAt).toBe(NOW + MINUTE);
    expect(decideGroup(view({ alerts: [a, b], holds: held("inhibited", a) })).nextAt).toBe(NOW + 5 * MINUTE);
    expect(decideGroup(view({ alerts: [over("a", ago(1))], told: told([a, 1]), holds: muted })).nextAt).toBe(
      NOW + MINUTE,
    );
  });

  test("is kept with whoever holds it, each once, and late from when the clock ends that", () => {
    const until = NOW + 2 * MINUTE;
    const by = { reason: "silenced", by: "s", until } as const;
    const both = holds({ held: new Map([a, b].map(({ id }) => [id, by])) });
    expect(decideGroup(view({ alerts: [a, b], told: told([b, ago(1)]), holds: both })).kept).toEqual({
      by: [by],
      untold: [a.id],
      maybeTold: [],
      lateFrom: until,
    });
  });

  test("is what the one that is told stands for", () => {
    const standsFor = { recordings: 1, locations: 0, names: ["Till"] };
    const decision = decideGroup(
      view({ alerts: [a], holds: holds({ standsFor: new Map([[a.id, standsFor]]) }) }),
    );
    expect(decision).toMatchObject({ say: "first", firing: [{ standsFor }] });
  });
});

describe("what is said", () => {
  test("names what fires longest first, each with its fingerprint and whether it is news", () => {
    const older = firing("c", { startsAt: ago(2 * HOUR) });
    const decision = decideGroup(view({ alerts: [b, a, older], told: told([a, ago(HOUR)]) }));
    expect(decision).toMatchObject({
      say: "more",
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
    const decision = decideGroup(
      view({
        alerts: [over("a", ago(1)), over("b", ago(1))],
        told: told([a, ago(HOUR)]),
        dueSince: ago(MINUTE),
      }),
    );
    if (decision.say === undefined) throw new Error("said nothing");
    expect(decision.resolved.map(({ key, isNew }) => [key, isNew])).toEqual([
      [a.key, false],
      [b.key, true],
    ]);
  });

  test("what has no record ended as expired, now", () => {
    const decision = decideGroup(view({ told: told([a, ago(HOUR)]) }));
    expect(decision).toMatchObject({
      resolved: [
        { id: a.id, state: "resolved", endsAt: NOW, updatedAt: NOW, endReason: "expired", isNew: false },
      ],
      settled: [a.id],
    });
  });

  test("everything that is over is settled, told or not", () => {
    const dropped = over("c", ago(HOUR));
    const decision = decideGroup(
      view({ alerts: [over("a", ago(1)), dropped, b], told: told([a, ago(HOUR)]), dueSince: ago(MINUTE) }),
    );
    expect(decision.settled).toEqual([a.id, dropped.id]);
  });

  test("nothing handed in is changed", () => {
    const alerts = Object.freeze([b, firing("c", { startsAt: 1 }), a].map((alert) => Object.freeze(alert)));
    decideGroup(view({ alerts }));
    expect(alerts[0]).toBe(b);
  });
});

describe("when to look again", () => {
  const nextAt = (more: Partial<GroupView>) => {
    const decision = decideGroup(view(more));
    if (decision.say !== undefined) throw new Error(`said ${decision.say}`);
    return decision.nextAt;
  };

  test("for the reminder, while something told fires", () => {
    expect(nextAt({ alerts: [a], told: told([a, ago(HOUR)]) })).toBe(NOW + 3 * HOUR);
  });

  test("not at all when nothing fires", () => {
    expect(nextAt({})).toBeUndefined();
    expect(nextAt({ alerts: [over("a", ago(1))], told: told([a, 1]), sendResolved: false })).toBeUndefined();
  });
});
