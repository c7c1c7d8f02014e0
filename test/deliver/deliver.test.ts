import { describe, expect, it, vi } from "vitest";
import type {
  Notification,
  NotificationLogEntry,
  NotifyErrorCode,
  NotifyErrorScope,
} from "../../src/alerting/model.ts";
import type { Annotate } from "../../src/deliver/annotate.ts";
import { createDeliver, LEASE_MS } from "../../src/deliver/deliver.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import { SEND_DEADLINE_MS } from "../../src/deliver/send.ts";
import { toNotification } from "../../src/deliver/to-notification.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Logger } from "../../src/lib/log.ts";
import type { Claim, Claimed, ClaimedStorm, GroupOutcome } from "../../src/store/groups.ts";
import type { Store } from "../../src/store/store.ts";
import { firing, HOUR, integration, MINUTE, over, SECOND, T0 } from "../store/fixtures.ts";

const slack = integration("ops/slack/0");
const camera = firing("cam");

const notified = (alert: Alert, notifiedAt: number): NotificationLogEntry => ({
  alert,
  notifiedAt,
  firstNotifiedAt: notifiedAt,
  groupId: "g",
});

function claimOf(more: Partial<Claimed> = {}): Claimed {
  return {
    kind: "group",
    group: "g",
    labels: {},
    repeatIntervalMs: 4 * HOUR,
    groupIntervalMs: 5 * MINUTE,
    dueSince: T0,
    groupFailures: 0,
    failures: 0,
    alerts: [camera],
    notified: new Map(),
    lost: [],
    suppressedBefore: new Map(),
    maybeNotified: [],
    stormGroups: undefined,
    ...more,
  };
}

const idle: Claim = { kind: "idle", until: undefined };

interface Script {
  readonly claims: readonly Claim[];
  readonly who?: typeof slack;
  /** What each send in turn does; accepted where there is none. */
  readonly sends?: readonly ((n: Notification, options: { plain?: boolean }) => void | Promise<void>)[];
  /** Of the first message, ms. */
  readonly paceWait?: number;
  /** Of the messages in turn, ms. */
  readonly paceWaits?: readonly number[];
  readonly annotate?: Annotate;
  /** Ids of recordings whose alerts are routed elsewhere now. */
  readonly routedElsewhere?: readonly string[];
  /** How long Redis keeps a claim waiting. */
  readonly claimTakesMs?: number;
  /** How often in a row something ended while a message was prepared. */
  readonly endings?: number;
  readonly settle?: Store["groups"]["settle"];
}

/** A delivery with a scripted store: what it did, call by call. */
function stage(script: Script) {
  const { who = slack } = script;
  let now = T0;
  const claims = [...script.claims];
  const sends = [...(script.sends ?? [])];
  const paceWaits = [...(script.paceWaits ?? [script.paceWait ?? 0])];
  let endings = script.endings ?? 0;
  const calls: unknown[][] = [];
  const leases: number[] = [];
  const sent: { notification: Notification; plain: boolean; signal: AbortSignal }[] = [];
  const logged: { level: string; msg: string; fields: object }[] = [];
  const line = (level: string) => (fields: object, msg: string) => void logged.push({ level, msg, fields });
  const log = Object.assign(
    {},
    ...["debug", "info", "warn", "error"].map((level) => ({ [level]: line(level) })),
  ) as Logger;
  const groups = {
    async claim(_who, _token, _now, leaseMs) {
      leases.push(leaseMs);
      now += script.claimTakesMs ?? 0;
      return claims.shift() ?? idle;
    },
    settle:
      script.settle ??
      (async (_who, group, _token, outcome) => {
        calls.push(["settle", group, outcome]);
        return outcome.nextAt;
      }),
    async postpone(_who, group, _token, input) {
      calls.push(["postpone", group, input]);
    },
    async settleAll(_who, _token, endings, after) {
      calls.push(["settleAll", endings, after]);
      return undefined;
    },
    pace: async () => paceWaits.shift() ?? 0,
    hasEnded: async () => endings-- > 0,
    paged: async () => [],
  } satisfies Parameters<typeof createDeliver>[0]["groups"];
  const { deliver, stop } = createDeliver({
    clock: { now: () => now },
    log,
    groups,
    senders: new Map([
      [
        who.id,
        {
          integration: who,
          async send(notification, { signal, plain = false }) {
            sent.push({ notification, plain, signal });
            await sends.shift()?.(notification, { plain });
          },
        },
      ],
    ]),
    externalUrl: "https://watch.example.com",
    stormMs: 30 * SECOND,
    ...(script.annotate ? { annotate: script.annotate } : {}),
    isRouted: ({ labels: { recording_id } }) => !script.routedElsewhere?.includes(recording_id ?? ""),
    toRefusal: (thrown) => thrown as NotifyRefusal,
    wake: async (due) => void calls.push(["wake", Object.fromEntries(due)]),
    notified: (_who, reason, latency) => void calls.push(["notified", reason, latency]),
    failed: (_who, code) => void calls.push(["failed", code]),
    suppressed: (_who, why) => void calls.push(["suppressed", why]),
  });
  return {
    deliver: () => deliver(who.id),
    deliverOther: () => deliver("nobody/slack/0"),
    stop,
    calls,
    leases,
    sent,
    logged,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const refuse =
  (code: NotifyErrorCode, more: Partial<NotifyRefusal> = {}) =>
  (): never => {
    throw {
      code,
      retryAfterMs: undefined,
      scope: "endpoint" satisfies NotifyErrorScope,
      message: "No.",
      ...more,
    } satisfies NotifyRefusal;
  };

const only = (calls: readonly unknown[][], name: string) =>
  calls.filter(([called]) => called === name).map(([, ...drain]) => drain);

const lineOf = ({ subject, ruleId }: Alert, at: number, reason: string, detail: string) => ({
  subject,
  at,
  ruleId,
  integration: slack.id,
  reason,
  detail,
});

/** How long the first group given back rests, ms. */
function restOf(calls: readonly unknown[][]): number {
  const [, input] = (only(calls, "postpone")[0] ?? []) as [string?, { at: number }?];
  return (input?.at ?? Number.NaN) - T0;
}

it("sends what is new, settles it and schedules the reminder", async () => {
  const run = stage({ claims: [claimOf({ lost: ["gone@1"] })] });
  run.pass(MINUTE);
  await run.deliver();
  expect(run.sent).toHaveLength(1);
  expect(run.sent[0]?.notification).toMatchObject({
    reason: "first",
    receiver: "ops",
    integrationId: slack.id,
    externalUrl: "https://watch.example.com",
    now: T0 + MINUTE,
  });
  const now = T0 + MINUTE;
  expect(run.calls).toEqual([
    ["notified", "first", 60],
    [
      "settle",
      "g",
      {
        now,
        sent: true,
        notified: [notified(camera, now)],
        over: ["gone@1"],
        unnotified: [],
        nextAt: now + 4 * HOUR,
        lines: [lineOf(camera, now, "notified", "first")],
      },
    ],
    ["wake", { [slack.id]: now + 4 * HOUR }],
  ]);
});

it("serves one group after the other until nothing is due", async () => {
  const run = stage({ claims: [claimOf(), claimOf({ group: "h" }), { kind: "idle", until: T0 + HOUR }] });
  await run.deliver();
  expect(run.sent.map(({ notification }) => notification.group.id)).toEqual(["g", "h"]);
  expect(run.calls.at(-1)).toEqual(["wake", { [slack.id]: T0 + HOUR }]);
});

it.for(["busy", "backoff", "gather"] as const)(
  "is %s: looks again when that is over, and sends nothing",
  async (kind) => {
    const run = stage({ claims: [{ kind, until: T0 + 500 }] });
    await run.deliver();
    expect(run.calls).toEqual([["wake", { [slack.id]: T0 + 500 }]]);
    expect(run.sent).toEqual([]);
  },
);

it("nothing new: settles without a message, is due again for the reminder, and gives the reason", async () => {
  const known = claimOf({ notified: new Map([[camera.id, notified(camera, T0 - MINUTE)]]) });
  const run = stage({ claims: [known] });
  await run.deliver();
  expect(run.sent).toEqual([]);
  expect(run.calls).toEqual([
    ["suppressed", "nothing_new"],
    [
      "settle",
      "g",
      { now: T0, sent: false, notified: [], over: [], unnotified: [], nextAt: T0 - MINUTE + 4 * HOUR, lines: [] },
    ],
    ["wake", { [slack.id]: T0 - MINUTE + 4 * HOUR }],
  ]);
});

it("a reminder leaves out what is routed elsewhere now; with nothing else it is not sent", async () => {
  const till = firing("till");
  const repeats = new Map([camera, till].map((alert) => [alert.id, notified(alert, T0 - 4 * HOUR)]));
  const known = claimOf({ alerts: [camera, till], notified: repeats });
  const some = stage({ claims: [known], routedElsewhere: [till.labels.recording_id ?? "?"] });
  await some.deliver();
  expect(some.sent.map(({ notification }) => notification.reason)).toEqual(["reminder"]);
  expect(some.sent[0]?.notification.firing.map(({ id }) => id)).toEqual([camera.id]);
  const none = stage({
    claims: [known],
    routedElsewhere: [camera, till].map(({ labels }) => labels.recording_id ?? "?"),
  });
  await none.deliver();
  expect(none.sent).toEqual([]);
  expect(only(none.calls, "suppressed")).toEqual([["routed_elsewhere"]]);
  expect(only(none.calls, "settle")[0]?.[1]).toMatchObject({ sent: false, over: [], nextAt: T0 + 4 * HOUR });
});

it("over before it was due: leaves this group silently, and stays owed in others", async () => {
  const brief = over(camera, T0 - SECOND);
  const run = stage({ claims: [claimOf({ alerts: [brief] })] });
  await run.deliver();
  expect(run.sent).toEqual([]);
  expect(only(run.calls, "suppressed")).toEqual([["resolved_before_notified"]]);
  expect(only(run.calls, "settle")[0]?.[1]).toMatchObject({ sent: false, over: [], unnotified: [camera.id] });
});

it("fired and resolved while only the receiver failed: notified once, late, and leaves every group", async () => {
  const run = stage({ claims: [claimOf({ alerts: [over(camera, T0 + MINUTE)], dueSince: T0 })] });
  run.pass(10 * MINUTE);
  await run.deliver();
  expect(run.sent[0]?.notification.resolved).toMatchObject([{ id: camera.id, isNew: true }]);
  expect(only(run.calls, "settle")[0]?.[1]).toMatchObject({
    sent: true,
    notified: [],
    over: [camera.id],
    unnotified: [],
  });
});

it("where ends are not sent, they leave without a message", async () => {
  const quiet = { ...slack, sendResolved: false };
  const ended = claimOf({ alerts: [over(camera, T0)], notified: new Map([[camera.id, notified(camera, T0 - HOUR)]]) });
  const run = stage({ who: quiet, claims: [ended] });
  await run.deliver();
  expect(run.sent).toEqual([]);
  expect(only(run.calls, "suppressed")).toEqual([["send_resolved_off"]]);
  expect(only(run.calls, "settle")[0]?.[1]).toMatchObject({ over: [camera.id], unnotified: [] });
});

it("without a pace token the group is postponed until there is one, and decided again then", async () => {
  const late = claimOf({ alerts: [camera, firing("other")] });
  const run = stage({ claims: [claimOf(), { kind: "pace", until: T0 + 20 }, late], paceWait: 20 });
  const began = performance.now();
  await run.deliver();
  expect(performance.now() - began).toBeGreaterThanOrEqual(35);
  expect(only(run.calls, "postpone")).toEqual([["g", { now: T0, at: T0 + 20 }]]);
  expect(run.sent.map(({ notification }) => notification.firing.length)).toEqual([2]);
});

it("waits no longer for a pace token once it is stopped", async () => {
  const run = stage({ claims: [{ kind: "pace", until: T0 + HOUR }] });
  const delivered = run.deliver();
  run.stop();
  await delivered;
  expect(run.sent).toEqual([]);
});

describe("a storm", () => {
  const shops = (count: number, more: Partial<Claimed> = {}) =>
    Array.from({ length: count }, (_, i) =>
      claimOf({ group: `g${i}`, alerts: [firing(`cam${i}`)], stormGroups: 10, ...more }),
    );
  const storm = (groups: readonly Claimed[], more: Partial<ClaimedStorm> = {}): ClaimedStorm => ({
    kind: "storm",
    groups,
    due: groups.length,
    isAll: true,
    leaseMs: 20_000,
    ...more,
  });
  const endings = (calls: readonly unknown[][]) => (only(calls, "settleAll")[0] ?? []) as [GroupOutcome[], object];

  it("is one message; every group of it is settled on its own, all in one call", async () => {
    const run = stage({ claims: [storm(shops(11))] });
    await run.deliver();
    expect(run.sent).toHaveLength(1);
    expect(run.sent[0]?.notification).toMatchObject({ reason: "first", groups: 11, group: { labels: {} } });
    expect(run.sent[0]?.notification.firing).toHaveLength(11);
    const [ended, after] = endings(run.calls);
    expect(after).toEqual({ now: T0, gatherMs: 30 * SECOND });
    expect(ended).toHaveLength(11);
    expect(ended[3]).toMatchObject({
      group: "g3",
      settle: {
        sent: true,
        notified: [{ alert: { id: firing("cam3").id }, notifiedAt: T0, firstNotifiedAt: T0, groupId: "g3" }],
      },
    });
    expect(only(run.calls, "notified")).toEqual([["first", 0]]);
  });

  it("of groups with almost nothing to send is none: the others are settled, the first is sent alone", async () => {
    const quiet = shops(10).map((claim) => ({ ...claim, alerts: [] }));
    const speaking = shops(12).slice(10);
    const run = stage({ claims: [storm([...quiet, ...speaking])] });
    await run.deliver();
    expect(run.sent.map(({ notification }) => notification.group.id)).toEqual(["g10"]);
    expect(run.sent[0]?.notification.groups).toBeUndefined();
    const [ended, after] = endings(run.calls);
    expect(after).toMatchObject({ gatherMs: 0 });
    expect(ended.filter((one) => "settle" in one && !one.settle.sent)).toHaveLength(10);
    expect(ended.filter((one) => "postpone" in one)).toEqual([{ group: "g11", postpone: { now: T0, at: T0 } }]);
  });

  it("that is refused is given back whole, and counts as one failure of the endpoint", async () => {
    const run = stage({ claims: [storm(shops(11))], sends: [refuse("server_error")] });
    await run.deliver();
    const [ended, after] = endings(run.calls);
    expect(after).toMatchObject({ gatherMs: 0 });
    const postponed = ended.flatMap((one) => ("postpone" in one ? [one.postpone] : []));
    expect(postponed).toHaveLength(11);
    expect(postponed.filter(({ failure }) => failure !== undefined)).toHaveLength(1);
    expect(new Set(postponed.map(({ at }) => at)).size).toBe(1);
  });

  it("of which more is left to claim is followed by that at once", async () => {
    const run = stage({ claims: [storm(shops(11), { isAll: false })] });
    await run.deliver();
    expect(endings(run.calls)[1]).toMatchObject({ gatherMs: 0 });
  });

  it("and its end are one thread, whatever the receiver heard between", () => {
    const groupAt = (alerts: Alert[], resolved: Alert[]) =>
      toNotification(
        slack,
        shops(2).map((claim) => ({ claim })),
        {
          notify: "first",
          firing: alerts.map((alert) => ({ ...alert, fingerprint: "f", isNew: true })),
          resolved: resolved.map((alert) => ({ ...alert, fingerprint: "f", isNew: false })),
        },
        { now: T0, externalUrl: undefined },
      ).group.id;
    expect(groupAt([camera, firing("b", T0 + HOUR)], [])).toBe(groupAt([], [over(camera, T0 + HOUR)]));
    expect(groupAt([camera], [])).not.toBe(groupAt([firing("a", T0 + 48 * HOUR)], []));
  });
});

it("a claim that grew old on its way is given back, not sent under a lease that may be over; the next one is longer", async () => {
  expect(SEND_DEADLINE_MS).toBeLessThan(LEASE_MS);
  const run = stage({ claims: [claimOf(), claimOf(), idle], claimTakesMs: 2_600 });
  await run.deliver();
  expect(only(run.calls, "postpone")).toEqual([["g", { now: T0 + 2_600, at: T0 + 2_600 }]]);
  expect(run.leases.slice(0, 2)).toEqual([LEASE_MS, 2 * LEASE_MS]);
  expect(run.sent).toHaveLength(1);
  expect(only(run.calls, "notified")).toHaveLength(1);
});

it("a message that took 5 s to prepare is prepared again where an alert has ended since, and is sent at last", async () => {
  const claims = [1, 2, 3, 4, 5].map((i) => ({
    kind: "storm" as const,
    groups: [claimOf({ alerts: [firing(`cam${i}`)] }), claimOf({ group: "h" })],
    due: 2,
    isAll: true,
    leaseMs: 20 * SECOND,
  }));
  const sentAfter = async (endings: number, claimTakesMs: number) => {
    const run = stage({ claims, endings, claimTakesMs });
    await run.deliver();
    return run.sent[0]?.notification.firing[0]?.subject.id;
  };
  expect(await sentAfter(0, 6 * SECOND)).toBe("cam1");
  expect(await sentAfter(1, 6 * SECOND)).toBe("cam2");
  expect(await sentAfter(1, 4 * SECOND)).toBe("cam1");
  expect(await sentAfter(9, 6 * SECOND)).toBe("cam5");
});

it("a wait for the pace leaves the lease as long as it had to be", async () => {
  const claims = [1, 2, 3].map((i) => claimOf({ alerts: [firing(`cam${i}`)] }));
  const run = stage({ claims, endings: 1, claimTakesMs: 6 * SECOND, paceWaits: [0, 5, 0] });
  await run.deliver();
  expect(run.leases.slice(0, 3)).toEqual([LEASE_MS, 2 * LEASE_MS, 2 * LEASE_MS]);
});

const RESTS: readonly [NotifyErrorCode, least: number, most: number][] = [
  ["network", 500, 1_000],
  ["timeout", 500, 1_000],
  ["server_error", 500, 1_000],
  ["rate_limited", 500, 1_000],
  ["other", 500, 1_000],
  ["auth", 5_000, 10_000],
  ["not_found", 5_000, 10_000],
  ["recipient_refused", 5_000, 10_000],
];

it.for(RESTS)(
  "%s: rests at first between %i and %i ms, is counted, and nothing is written down as told",
  async ([code, least, most]) => {
    const run = stage({ claims: [claimOf()], sends: [refuse(code)] });
    await run.deliver();
    expect(only(run.calls, "failed")).toEqual([[code]]);
    expect(only(run.calls, "settle")).toEqual([]);
    expect(restOf(run.calls)).toBeGreaterThanOrEqual(least);
    expect(restOf(run.calls)).toBeLessThanOrEqual(most);
    const failure = { code, detail: "No.", scope: "endpoint" };
    expect(only(run.calls, "postpone")).toMatchObject([["g", { failure }]]);
  },
);

it("Retry-After is the shortest wait, however often it failed; the backoff has a cap of minutes", async () => {
  const asked = stage({ claims: [claimOf()], sends: [refuse("rate_limited", { retryAfterMs: 30_000 })] });
  await asked.deliver();
  expect(only(asked.calls, "postpone")[0]?.[1]).toMatchObject({ at: T0 + 30_000 });
  const often = stage({ claims: [claimOf({ failures: 50 })], sends: [refuse("not_found")] });
  await often.deliver();
  expect(restOf(often.calls)).toBeLessThanOrEqual(5 * MINUTE);
  expect(restOf(often.calls)).toBeGreaterThanOrEqual(2.5 * MINUTE);
});

it("the failures of one message count by its group, those of the endpoint by the endpoint", async () => {
  const claim = claimOf({ failures: 0, groupFailures: 8 });
  const one = stage({ claims: [claim], sends: [refuse("server_error", { scope: "message" })] });
  await one.deliver();
  expect(restOf(one.calls)).toBeGreaterThan(30 * SECOND);
  const all = stage({ claims: [claim], sends: [refuse("server_error")] });
  await all.deliver();
  expect(restOf(all.calls)).toBeLessThanOrEqual(SECOND);
});

it("an invalid message is sent once more as plain text within the same deadline", async () => {
  const run = stage({ claims: [claimOf()], sends: [refuse("bad_request", { scope: "message" })] });
  await run.deliver();
  expect(run.sent.map(({ plain }) => plain)).toEqual([false, true]);
  expect(run.sent[0]?.signal).toBe(run.sent[1]?.signal);
  expect(run.sent[0]?.notification.messageId).toBe(run.sent[1]?.notification.messageId);
  expect(only(run.calls, "notified")).toHaveLength(1);
  expect(only(run.calls, "failed")).toEqual([]);
});

it("invalid as plain text too: that group alone backs off, the next one is served", async () => {
  const bad = refuse("bad_request", { scope: "message" });
  const run = stage({ claims: [claimOf(), claimOf({ group: "h" })], sends: [bad, bad] });
  await run.deliver();
  expect(only(run.calls, "postpone")).toMatchObject([["g", { failure: { scope: "message" } }]]);
  expect(only(run.calls, "settle")).toMatchObject([["h", { sent: true }]]);
});

it("a repeated failure is logged once, and its end once", async () => {
  const down = refuse("network");
  const run = stage({ claims: [claimOf(), claimOf(), claimOf()], sends: [down, down] });
  await run.deliver();
  const sent = run.logged.map(({ level, msg }) => `${level}: ${msg}`);
  expect(sent).toEqual([
    "warn: notification failed, retrying",
    "debug: notification failed, retrying",
    "info: notified",
    "info: notifications are accepted again",
  ]);
});

it("one message refused for good is logged once, however many others are accepted", async () => {
  const bad = refuse("bad_request", { scope: "message" });
  const ok = () => {};
  const run = stage({
    claims: [claimOf(), claimOf({ group: "h" }), claimOf(), claimOf({ group: "h" })],
    sends: [bad, bad, ok, bad, bad, ok],
  });
  await run.deliver();
  expect(run.logged.filter(({ level }) => level === "warn")).toHaveLength(1);
  expect(run.logged.filter(({ msg }) => msg === "notifications are accepted again")).toEqual([]);
});

it("an accepted message is settled as soon as Redis takes it, before anything else is claimed", async () => {
  const outcomes: unknown[] = [];
  const settle = vi
    .fn<Store["groups"]["settle"]>()
    .mockRejectedValueOnce(new Error("READONLY You can't write against a read only replica."))
    .mockImplementation(async (_who, group, _token, outcome) => {
      outcomes.push([group, outcome.now]);
      return undefined;
    });
  const run = stage({ claims: [claimOf(), claimOf({ group: "h" })], settle });
  await run.deliver();
  expect(outcomes).toEqual([
    ["g", T0],
    ["h", T0],
  ]);
  expect(run.sent).toHaveLength(2);
  expect(run.logged.filter(({ level }) => level === "error")).toHaveLength(1);
});

it("a group of everything there is does not break what comes after its message", async () => {
  const fleet = Array.from({ length: 150_000 }, (_, i) => firing(`cam-${i}`));
  const run = stage({ claims: [claimOf({ alerts: fleet, notified: new Map([["x@1", notified(camera, T0)]]) })] });
  await run.deliver();
  expect(only(run.calls, "settle")).toHaveLength(1);
  expect(run.logged.filter(({ level }) => level === "error")).toEqual([]);
});

it("a wake-up during a delivery makes it check once more; two at once never send twice", async () => {
  const { promise: sending, resolve: begun } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const run = stage({
    claims: [claimOf(), idle, claimOf({ group: "h" })],
    sends: [
      () => {
        begun();
        return gate;
      },
    ],
  });
  const first = run.deliver();
  await sending;
  await run.deliver();
  expect(run.sent).toHaveLength(1);
  open();
  await first;
  expect(run.sent.map(({ notification }) => notification.group.id)).toEqual(["g", "h"]);
});

it("stopped, it takes no new group; an integration that is not configured is nobody's", async () => {
  const stopped = stage({ claims: [claimOf()] });
  stopped.stop();
  await stopped.deliver();
  await stopped.deliverOther();
  expect([stopped.sent, stopped.calls]).toEqual([[], []]);
});

it("a store that throws ends the run with one line; the lease brings the group back", async () => {
  const run = stage({
    claims: [claimOf({ notified: new Map([[camera.id, notified(camera, T0)]]) })],
    settle: () => Promise.reject(new Error("OOM")),
  });
  await run.deliver();
  expect(run.logged.map(({ level, msg }) => [level, msg])).toEqual([["error", "delivery failed, retrying"]]);
});

it("the summary of a start is a thread of its own, and another message after each start", () => {
  const summary = (dueSince: number) =>
    toNotification(
      slack,
      [{ claim: { group: "started", labels: { complete: "true" }, notified: new Map(), dueSince } }],
      { notify: "started", firing: [], resolved: [], start: { complete: true, unsettled: 0, suppressed: 0 } },
      { now: T0 + HOUR, externalUrl: undefined },
    );
  expect(summary(T0)).toMatchObject({ group: { id: "started", labels: {} }, start: { complete: true } });
  expect(summary(T0).messageId).toBe(summary(T0).messageId);
  expect(summary(T0).messageId).not.toBe(summary(T0 + HOUR).messageId);
});

it("a message's id stays while it is tried again and changes with anything new", () => {
  const isNew = (alert: Alert) => ({ ...alert, fingerprint: "f", isNew: true });
  const idOf = (
    claim: Partial<Pick<Claimed, "group" | "notified">>,
    notify: "first" | "reminder",
    names: string[],
    now: number,
  ) =>
    toNotification(
      slack,
      [{ claim: { group: "g", labels: {}, notified: new Map(), dueSince: undefined, ...claim } }],
      { notify, firing: names.map((name) => isNew(firing(name))), resolved: [] },
      { now, externalUrl: undefined },
    ).messageId;
  const first = idOf({}, "first", ["a", "b"], T0);
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(idOf({}, "first", ["b", "a"], T0 + HOUR)).toBe(first);
  const others = [
    idOf({}, "first", ["a"], T0),
    idOf({ group: "h" }, "first", ["a", "b"], T0),
    idOf({ notified: new Map([["a", notified(camera, T0)]]) }, "reminder", ["a", "b"], T0),
    idOf({ notified: new Map([["a", notified(camera, T0 + HOUR)]]) }, "reminder", ["a", "b"], T0),
  ];
  expect(new Set([first, ...others]).size).toBe(5);
});

describe("what is known of locations", () => {
  const annotate: Annotate = async (alerts) =>
    alerts.map((alert) => ({ ...alert, annotations: { zones: `zones of ${alert.key}` } }));
  const both = [firing("a"), over(firing("b"), T0)];

  it("is sent with firing and resolved alerts, and stored nowhere", async () => {
    const run = stage({ claims: [claimOf({ alerts: both })], annotate });
    await run.deliver();
    const { firing: fires, resolved } = run.sent[0]?.notification ?? {};
    expect(fires?.map(({ annotations }) => annotations.zones)).toEqual(["zones of a"]);
    expect(resolved?.map(({ annotations }) => annotations.zones)).toEqual(["zones of b"]);
    expect(JSON.stringify(run.calls)).not.toContain("zones of");
  });

  const storm = (more: Partial<Claimed>): ClaimedStorm => ({
    kind: "storm",
    groups: ["g", "h"].map((group) => claimOf({ group, alerts: [firing(group)], stormGroups: 1, ...more })),
    due: 2,
    isAll: true,
    leaseMs: 20 * SECOND,
  });
  const zonesIn = async (who: typeof slack) => {
    const run = stage({ claims: [storm({})], annotate, who });
    await run.deliver();
    expect(run.sent).toHaveLength(1);
    return run.sent[0]?.notification.firing.map(({ annotations }) => annotations.zones);
  };

  it("is left out of a summary for people, but not of what a program is sent", async () => {
    expect(await zonesIn(slack)).toEqual([undefined, undefined]);
    expect(await zonesIn(forwarding)).toEqual(["zones of g", "zones of h"]);
  });
});

const forwarding = integration("ops/alertmanager/0", { type: "alertmanager", resendMs: MINUTE });

describe("an integration that forgets", () => {
  const claim = (more: Partial<Claimed> = {}) =>
    claimOf({ repeatIntervalMs: MINUTE, groupIntervalMs: SECOND, ...more });

  it("is sent everything again at its interval, without a line in the decision log and without a latency", async () => {
    const other = firing("other");
    const run = stage({
      who: forwarding,
      claims: [
        claim({ alerts: [camera, other], notified: new Map([camera, other].map((a) => [a.id, notified(a, T0)])) }),
      ],
    });
    run.pass(MINUTE);
    await run.deliver();
    const now = T0 + MINUTE;
    expect(run.sent[0]?.notification).toMatchObject({ reason: "resend" });
    expect(run.sent[0]?.notification.firing).toHaveLength(2);
    expect(only(run.calls, "notified")).toEqual([["resend", undefined]]);
    expect(only(run.calls, "settle")).toMatchObject([
      [
        "g",
        { notified: [{ ...notified(camera, now), firstNotifiedAt: T0 }], over: [], lines: [], nextAt: now + MINUTE },
      ],
    ]);
    expect(run.logged.map(({ level }) => level)).toEqual(["debug"]);
  });

  it("is sent an end, which stays in the group with its time", async () => {
    const ended = over(camera, T0 + SECOND);
    const before = notified(camera, T0);
    const run = stage({
      who: forwarding,
      claims: [claim({ alerts: [ended], notified: new Map([[camera.id, before]]) })],
    });
    run.pass(2 * SECOND);
    await run.deliver();
    const endNotifiedAt = T0 + 2 * SECOND;
    expect(only(run.calls, "notified")).toEqual([["resolved", 1]]);
    expect(only(run.calls, "settle")).toMatchObject([
      ["g", { notified: [{ ...before, endNotifiedAt }], over: [], unnotified: [], nextAt: T0 + MINUTE }],
    ]);
  });

  it("backs off no longer than its interval, however often it failed", async () => {
    const run = stage({ who: forwarding, claims: [claim({ failures: 20 })], sends: [refuse("auth")] });
    await run.deliver();
    expect(restOf(run.calls)).toBeLessThanOrEqual(MINUTE);
  });

  it("is sent many groups at once, and waits for no more of them", async () => {
    const groups = ["g", "h"].map((group) => claim({ group, alerts: [firing(group)], stormGroups: 1 }));
    const run = stage({
      who: forwarding,
      claims: [{ kind: "storm", groups, due: 2, isAll: true, leaseMs: 20 * SECOND }],
    });
    await run.deliver();
    expect(run.sent).toHaveLength(1);
    const [[, after] = []] = only(run.calls, "settleAll") as [GroupOutcome[], { gatherMs: number }][];
    expect(after?.gatherMs).toBe(0);
  });
});

describe("a conversation whose root is edited", () => {
  const chat = integration("ops/chat/0", { conversation: "edits" });
  const conversation = { id: "c0", openedAt: T0, handle: "root" };
  const open = (more: Partial<Claimed> = {}) =>
    claimOf({
      conversation,
      shown: `other ${T0 - HOUR}`,
      notified: new Map([[camera.id, notified(camera, T0)]]),
      ...more,
    });
  const settlement = (run: ReturnType<typeof stage>) => only(run.calls, "settle")[0]?.[1] as object;

  it("is brought up to date by a message that counts as none", async () => {
    const run = stage({ who: chat, claims: [open()] });
    await run.deliver();
    expect(run.sent[0]?.notification).toMatchObject({
      reason: "update",
      trace: [],
      firing: [{ id: camera.id }],
      conversation: { ...conversation, isOver: false },
    });
    expect(settlement(run)).toMatchObject({ sent: false, notified: [], over: [], unnotified: [] });
    expect(settlement(run)).toMatchObject({ shown: expect.stringMatching(/^[0-9a-f]{16} \d+$/) as string });
    expect([...only(run.calls, "notified"), ...only(run.calls, "suppressed")]).toEqual([]);
  });

  it.each([
    ["rate_limited", { rootAt: T0 + 30 * SECOND }],
    ["auth", { rootAt: T0 + 2 * MINUTE }],
    ["bad_request", { shown: expect.stringMatching(/^[0-9a-f]{16} /) as string }],
    ["conversation_gone", { conversation: JSON.stringify({ id: "c0", openedAt: T0 }) }],
  ] as const)("is no trouble where its edit is refused with %s", async (code, expected) => {
    const run = stage({ who: chat, claims: [open()], sends: [refuse(code), refuse(code)] });
    await run.deliver();
    expect(settlement(run)).toMatchObject({ sent: false, ...expected });
    expect([...only(run.calls, "postpone"), ...only(run.calls, "failed")]).toEqual([]);
    expect(run.logged.every(({ level }) => level === "debug")).toBe(true);
  });

  it("is edited every five seconds at most, and waits with the news that is due later", async () => {
    const run = stage({ who: chat, claims: [open({ shown: `other ${T0 - SECOND}` }), open({ newsAt: T0 + MINUTE })] });
    await run.deliver();
    const settled = only(run.calls, "settle").map(([, outcome]) => outcome);
    expect(settled).toMatchObject([{ rootAt: T0 + 4 * SECOND }, { newsAt: T0 + MINUTE, sent: false }]);
    expect(run.sent.map(({ notification }) => notification.reason)).toEqual(["update"]);
  });

  it("is edited alone among groups that were claimed together, which are due again at once", async () => {
    const groups = [open(), claimOf({ group: "h" }), claimOf({ group: "quiet", alerts: [] })];
    const run = stage({ who: chat, claims: [{ kind: "storm", groups, due: 3, isAll: true, leaseMs: 20 * SECOND }] });
    await run.deliver();
    expect(run.sent.map(({ notification }) => notification.reason)).toEqual(["update"]);
    expect(only(run.calls, "settleAll")[0]?.[0]).toMatchObject([
      { group: "g", settle: { sent: false } },
      { group: "quiet", settle: { sent: false } },
      { group: "h", postpone: { at: T0 } },
    ]);
  });

  it("is continued by the repetition of a summary that may have been accepted", async () => {
    const unsure = { stormGroups: 1, unsureSince: T0 - MINUTE, joint: "dead" };
    const groups = [claimOf({ group: "g", stormGroups: 1 }), claimOf({ group: "h", alerts: [firing("h")], ...unsure })];
    const run = stage({ who: chat, claims: [{ kind: "storm", groups, due: 2, isAll: true, leaseMs: 20 * SECOND }] });
    await run.deliver();
    expect(run.sent[0]?.notification.conversation?.id).toBe("dead");
  });

  it("shows ends that are not sent, and is closed with the last of them", async () => {
    const ended = open({ alerts: [over(camera, T0)] });
    const run = stage({ who: { ...chat, sendResolved: false }, claims: [ended] });
    await run.deliver();
    expect(run.sent[0]?.notification).toMatchObject({
      reason: "update",
      resolved: [{ id: camera.id }],
      conversation: { isOver: true },
    });
    expect(settlement(run)).toMatchObject({ over: [camera.id], conversation: "" });
  });

  it("begins again with the same news where its root is gone", async () => {
    const more = open({ alerts: [camera, firing("other")] });
    const run = stage({ who: chat, claims: [more], sends: [refuse("conversation_gone")] });
    await run.deliver();
    expect(run.sent.map(({ notification }) => notification.conversation?.handle)).toEqual(["root", undefined]);
    expect(run.sent[1]?.notification).toMatchObject({ reason: "more", firing: [{}, {}], conversation: { id: "c0" } });
    expect(only(run.calls, "failed")).toEqual([]);
  });
});
