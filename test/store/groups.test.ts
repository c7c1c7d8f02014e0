import { expect, it } from "vitest";
import type { NotificationLogEntry } from "../../src/alerting/notification.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  camera,
  claimed,
  ends,
  fires,
  firing,
  HOUR,
  integration,
  LEASE,
  MINUTE,
  over,
  rememberer,
  SECOND,
  slack,
  T0,
  to,
  useRoom,
  WAIT,
} from "./fixtures.ts";

const INTERVAL = 5 * MINUTE;
const mail = integration("ops/email/0/a@example.com");

const record = (alert: Alert, notifiedAt: Instant): NotificationLogEntry => ({
  alert,
  notifiedAt,
  groupId: "g",
});

const nothing = { notified: [], over: [], unnotified: [], nextAt: undefined };

/** Settles as delivery does after a message that named these. */
const sent = (now: Instant, alerts: readonly Alert[], gone: readonly Alert[] = []) => ({
  ...nothing,
  now,
  sent: true,
  notified: alerts.map((alert) => record(alert, now)),
  over: gone.map(({ id }) => id),
  nextAt: alerts.length > 0 ? now + 4 * HOUR : undefined,
});

describeWithRedis("groups that are due", () => {
  const room = useRoom();

  it("a group is due after group_wait, each integration for itself", async () => {
    const commit = rememberer(room());
    const wake = await commit(T0, fires(camera, to(slack.id), to(mail.id, "g", { groupWaitMs: 0 })));
    expect([...wake].sort()).toEqual([
      [mail.id, T0],
      [slack.id, T0 + WAIT],
    ]);
    const { groups } = room().store;
    expect(await groups.claim(slack, "t", T0 + WAIT - 1, LEASE)).toEqual({ kind: "idle", until: T0 + WAIT });
    const claim = await claimed(room(), T0 + WAIT);
    expect(claim).toMatchObject({
      group: "g",
      labels: { location_id: "g" },
      repeatIntervalMs: 4 * HOUR,
      dueSince: T0 + WAIT,
      alerts: [camera],
      lost: [],
    });
  });

  it("a later alert never pushes the due time back", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(slack.id)));
    const wake = await commit(T0 + 20 * SECOND, fires(firing("other", T0 + 20 * SECOND), to(slack.id)));
    expect(wake.get(slack.id)).toBe(T0 + WAIT);
    expect((await claimed(room(), T0 + WAIT)).alerts).toHaveLength(2);
  });

  it("one claim at a time: a second one, of whatever group, is busy until the lease is over", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(slack.id, "a")), fires(firing("b"), to(slack.id, "b")));
    const { groups } = room().store;
    const claims = await Promise.all(
      ["x", "y", "z"].map((token) => groups.claim(slack, token, T0 + MINUTE, LEASE)),
    );
    expect(claims.map(({ kind }) => kind).sort()).toEqual(["busy", "busy", "group"]);
    const busy = claims.find(({ kind }) => kind === "busy");
    expect(busy).toMatchObject({ until: expect.any(Number) });
    expect(Number((busy as { until: number }).until)).toBeGreaterThan(T0 + MINUTE + LEASE - 2 * SECOND);
    expect(
      (await claimed(room(), T0 + MINUTE, "m", { ...mail, id: slack.id, endpoint: "e" }).catch(
        String,
      )) as unknown,
    ).toContain("busy");
  });

  it("a claim asked again because its reply was lost gives the same group", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(slack.id, "a")));
    await commit(T0 + SECOND, fires(firing("b"), to(slack.id, "b")));
    const first = await claimed(room(), T0 + MINUTE, "t1");
    expect(await claimed(room(), T0 + MINUTE, "t1")).toEqual(first);
    expect(first.group).toBe("a");
  });

  it("a crash under a claim leaves the group due when the lease is over, and still waiting since then", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(room(), T0 + WAIT, "dead");
    await room().endLease(slack.id);
    const { groups } = room().store;
    const next = T0 + WAIT + LEASE;
    expect(await groups.claim(slack, "t2", next - 1, LEASE)).toEqual({ kind: "idle", until: next });
    expect((await claimed(room(), next, "t2")).dueSince).toBe(T0 + WAIT);
  });

  it("what was told is remembered and the group armed for its reminder", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(slack.id)));
    const now = T0 + WAIT;
    await claimed(room(), now);
    const { groups } = room().store;
    expect(await groups.settle(slack, "g", "t1", sent(now, [camera]))).toBe(now + 4 * HOUR);
    expect(await groups.notified(slack.id)).toEqual([record(camera, now)]);
    const reminder = await claimed(room(), now + 4 * HOUR, "t2");
    expect(reminder.dueSince).toBeUndefined();
    expect(reminder.notified.get(camera.id)).toEqual(record(camera, now));
  });

  it("the told record and the alert stay until the end is told; then nothing of them is left", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(room(), T0 + WAIT);
    const { groups, shards } = room().store;
    await groups.settle(slack, "g", "t1", sent(T0 + WAIT, [camera]));
    const end = T0 + 2 * MINUTE;
    const wake = await commit(end, ends(camera, end));
    expect(wake.get(slack.id)).toBe(T0 + WAIT + INTERVAL);
    expect(await shards.alerts()).toEqual([over(camera, end)]);
    const at = T0 + WAIT + INTERVAL;
    const claim = await claimed(room(), at, "t2");
    expect(claim.alerts).toEqual([over(camera, end)]);
    expect(claim.notified.get(camera.id)).toBeDefined();
    expect(await groups.settle(slack, "g", "t2", sent(at, [], [camera]))).toBeUndefined();
    expect(await groups.notified(slack.id)).toEqual([]);
    expect(await shards.alerts()).toEqual([]);
    expect(await room().keys()).toEqual([`grp:${slack.id}:g`, "incidents", "integrations", "shard:0"]);
    expect(await room().redis.pttl(`{${room().prefix}}:grp:${slack.id}:g`)).toBeGreaterThan(INTERVAL);
  });

  it("group_interval counts from the last message, also over a time in which the group was empty", async () => {
    const commit = rememberer(room());
    const { groups } = room().store;
    await commit(T0, fires(camera, to(slack.id, "g", { groupWaitMs: 0 })));
    await claimed(room(), T0);
    await groups.settle(slack, "g", "t1", sent(T0, [camera]));
    await commit(T0 + MINUTE, ends(camera, T0 + MINUTE));
    await claimed(room(), T0 + INTERVAL, "t2");
    await groups.settle(slack, "g", "t2", sent(T0 + INTERVAL, [], [camera]));
    const again = firing("cam", T0 + INTERVAL + SECOND);
    const wake = await commit(again.firedAt, fires(again, to(slack.id, "g", { groupWaitMs: 0 })));
    expect(wake.get(slack.id)).toBe(T0 + 2 * INTERVAL);
    expect(await room().redis.pttl(`{${room().prefix}}:grp:${slack.id}:g`)).toBe(-1);
  });

  it("what becomes due during a send is due group_interval after it, not lost in the reminder", async () => {
    const commit = rememberer(room());
    const { groups } = room().store;
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(room(), T0 + WAIT);
    await commit(T0 + WAIT + SECOND, ends(camera, T0 + WAIT + SECOND));
    const now = T0 + WAIT + 2 * SECOND;
    expect(await groups.settle(slack, "g", "t1", sent(now, [camera]))).toBe(now + INTERVAL);
    expect((await claimed(room(), now + INTERVAL, "t2")).dueSince).toBe(now + INTERVAL);
  });

  it("a settle sent twice pushes nothing back that became due between, and brings nothing back", async () => {
    const commit = rememberer(room());
    const { groups } = room().store;
    await commit(T0, fires(camera, to(slack.id, "g", { groupIntervalMs: 0 })));
    await claimed(room(), T0 + WAIT);
    const outcome = sent(T0 + WAIT, [camera]);
    await groups.settle(slack, "g", "t1", outcome);
    const end = T0 + MINUTE;
    await commit(end, ends(camera, end));
    expect(await groups.settle(slack, "g", "t1", outcome)).toBeUndefined();
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, end]]));
    expect((await claimed(room(), end, "t2")).dueSince).toBe(end);
    await groups.settle(slack, "g", "t2", sent(end, [], [camera]));
    await groups.settle(slack, "g", "t1", outcome);
    expect(await groups.notified(slack.id)).toEqual([]);
    expect(await groups.nextDue([slack.id])).toEqual(new Map());
  });

  it("a settle after its lease was taken over writes down what was told and leaves the timers alone", async () => {
    const commit = rememberer(room());
    const { groups } = room().store;
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(room(), T0 + WAIT, "slow");
    await room().endLease(slack.id);
    const later = T0 + WAIT + LEASE;
    await claimed(room(), later, "quick");
    expect(await groups.settle(slack, "g", "slow", sent(later, [camera]))).toBeUndefined();
    expect(await groups.notified(slack.id)).toHaveLength(1);
    expect(await groups.claim(slack, "third", later, LEASE)).toMatchObject({ kind: "busy" });
    await groups.postpone(slack, "g", "slow", { now: later, at: later + HOUR });
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, later + LEASE]]));
  });

  it("an alert in two groups of one integration is told in one and leaves both with its end", async () => {
    const commit = rememberer(room());
    const { groups } = room().store;
    const places = [to(slack.id, "a"), to(slack.id, "b", { groupWaitMs: MINUTE })];
    await commit(T0, fires(camera, ...places));
    await claimed(room(), T0 + WAIT);
    await groups.settle(slack, "a", "t1", sent(T0 + WAIT, [camera]));
    const other = await claimed(room(), T0 + MINUTE, "t2");
    expect([other.group, other.notified.has(camera.id)]).toEqual(["b", true]);
    await groups.settle(slack, "b", "t2", { ...nothing, now: T0 + MINUTE, sent: false, nextAt: T0 + HOUR });
    await commit(T0 + 10 * MINUTE, ends(camera, T0 + 10 * MINUTE));
    const end = await claimed(room(), T0 + 10 * MINUTE, "t3");
    await groups.settle(slack, end.group, "t3", sent(T0 + 10 * MINUTE, [], [camera]));
    const rest = await claimed(room(), T0 + 11 * MINUTE, "t4");
    expect([rest.group === end.group, rest.alerts, rest.lost]).toEqual([false, [], []]);
    await groups.settle(slack, rest.group, "t4", { ...nothing, now: T0 + 11 * MINUTE, sent: false });
    expect(await room().keys()).toEqual([
      `grp:${slack.id}:a`,
      `grp:${slack.id}:b`,
      "incidents",
      "integrations",
      "shard:0",
    ]);
  });

  it("what is left untold in one group stays a member of the other", async () => {
    const commit = rememberer(room());
    const { groups } = room().store;
    await commit(T0, fires(camera, to(slack.id, "a"), to(slack.id, "b")));
    await commit(T0 + SECOND, ends(camera, T0 + SECOND));
    const first = await claimed(room(), T0 + WAIT);
    const quiet = { ...nothing, now: T0 + WAIT, sent: false, unnotified: [camera.id] };
    await groups.settle(slack, first.group, "t1", quiet);
    const second = await claimed(room(), T0 + WAIT, "t2");
    expect(second.alerts).toHaveLength(1);
    await groups.settle(slack, second.group, "t2", quiet);
    expect(await room().store.shards.alerts()).toEqual([]);
  });
});

describeWithRedis("a receiver that is dead for good", () => {
  const room = useRoom();
  const WEEK = 7 * 24 * HOUR;

  it("is kept a week of what began and ended untold, and for ever the ends it is owed", async () => {
    const commit = rememberer(room());
    const { groups, shards } = room().store;
    await commit(T0, fires(firing("told"), to(slack.id, "g", { groupWaitMs: 0 })));
    await claimed(room(), T0);
    await groups.settle(slack, "g", "t1", sent(T0, [firing("told")]));
    const flap = async (at: Instant) => {
      const brief = firing("brief", at);
      await commit(at, fires(brief, to(slack.id)));
      await commit(at + SECOND, ends(brief, at + SECOND));
    };
    const due = T0 + INTERVAL;
    await flap(T0 + SECOND);
    await flap(due + WEEK - 2 * SECOND);
    expect(await shards.alerts()).toHaveLength(3);
    await flap(due + WEEK + SECOND);
    expect(await shards.alerts()).toHaveLength(3);
    await commit(due + 2 * WEEK, ends(firing("told"), due + 2 * WEEK));
    const { alerts } = await claimed(room(), due + 2 * WEEK, "t2");
    expect(alerts.map(({ key, state }) => `${key} ${state}`).sort()).toEqual([
      "brief resolved",
      "brief resolved",
      "told resolved",
    ]);
  });
});

describeWithRedis("an endpoint in trouble", () => {
  const room = useRoom();
  const shared = { endpoint: "hook" };
  const first = integration("ops/slack/0", shared);
  const second = integration("dev/slack/0", shared);

  async function due(...who: string[]) {
    await rememberer(room())(
      T0,
      fires(
        camera,
        ...who.flatMap((id) => [to(id, "a", { groupWaitMs: 0 }), to(id, "b", { groupWaitMs: 0 })]),
      ),
    );
  }

  const failure = (scope: "endpoint" | "integration" | "message") => ({
    code: "server_error" as const,
    detail: "It is down.",
    scope,
  });

  it("rests for every integration that uses it, and is forgotten with the first message accepted", async () => {
    await due(first.id, second.id);
    const { groups } = room().store;
    const { group } = await claimed(room(), T0, "t1", first);
    await groups.postpone(first, group, "t1", { now: T0, at: T0 + MINUTE, failure: failure("endpoint") });
    for (const who of [first, second]) {
      expect(await groups.claim(who, "t2", T0 + 1, LEASE)).toEqual({ kind: "backoff", until: T0 + MINUTE });
      expect(await groups.trouble(who)).toEqual({ since: T0, code: "server_error", detail: "It is down." });
    }
    const again = await claimed(room(), T0 + MINUTE, "t3", second);
    expect(again.failures).toBe(1);
    await groups.settle(second, again.group, "t3", sent(T0 + MINUTE, [camera]));
    expect(await groups.trouble(first)).toBeUndefined();
    expect((await claimed(room(), T0 + MINUTE, "t4", first)).failures).toBe(0);
  });

  it("counts failures side by side as one, and rests as long as the longest of them asks for", async () => {
    await due(first.id, second.id);
    const { groups } = room().store;
    const fail = (who: typeof first, group: string, token: string, now: Instant, at: Instant) =>
      groups.postpone(who, group, token, { now, at, failure: failure("endpoint") });
    const one = await claimed(room(), T0, "t1", first);
    const other = await claimed(room(), T0 + 10, "t2", second);
    await fail(first, one.group, "t1", T0 + 20, T0 + MINUTE);
    await fail(second, other.group, "t2", T0 + 30, T0 + SECOND);
    const resting = await groups.claim(first, "t3", T0 + 2 * SECOND, LEASE);
    expect(resting).toEqual({ kind: "backoff", until: T0 + MINUTE });
    const next = await claimed(room(), T0 + MINUTE, "t4", second);
    expect(next.failures).toBe(1);
    await fail(second, next.group, "t4", T0 + MINUTE + 1, T0 + 2 * MINUTE);
    expect((await claimed(room(), T0 + 2 * MINUTE, "t5", first)).failures).toBe(2);
  });

  it("one refused recipient rests alone", async () => {
    await due(first.id, second.id);
    const { groups } = room().store;
    const { group } = await claimed(room(), T0, "t1", first);
    await groups.postpone(first, group, "t1", { now: T0, at: T0 + MINUTE, failure: failure("integration") });
    expect(await groups.claim(first, "t2", T0 + 1, LEASE)).toMatchObject({ kind: "backoff" });
    await claimed(room(), T0 + 1, "t3", second);
    expect(await groups.trouble(second)).toBeUndefined();
  });

  it("one refused message rests alone, keeps since when, and is counted by its group", async () => {
    await due(first.id);
    const { groups } = room().store;
    const { group } = await claimed(room(), T0, "t1", first);
    await groups.postpone(first, group, "t1", { now: T0, at: T0 + MINUTE, failure: failure("message") });
    const other = await claimed(room(), T0 + 1, "t2", first);
    expect([other.group === group, other.failures, other.groupFailures]).toEqual([false, 0, 0]);
    await groups.settle(first, other.group, "t2", sent(T0 + 1, [camera]));
    expect((await claimed(room(), T0 + MINUTE, "t3", first)).groupFailures).toBe(1);
    const later = { now: T0 + MINUTE, at: T0 + 2 * MINUTE, failure: failure("message") };
    await groups.postpone(first, group, "t3", later);
    expect(await groups.trouble(first)).toMatchObject({ since: T0 });
    await groups.postpone(first, group, "t3", later);
    expect((await claimed(room(), T0 + 2 * MINUTE, "t4", first)).groupFailures).toBe(2);
    await groups.settle(first, group, "t4", sent(T0 + 2 * MINUTE, [camera]));
    expect(await groups.trouble(first)).toBeUndefined();
  });

  it("a rest asked for meanwhile by another message outlasts an acceptance", async () => {
    await due(first.id, second.id);
    const { groups } = room().store;
    const slow = await claimed(room(), T0, "slow", first);
    const { group } = await claimed(room(), T0, "t1", second);
    await groups.postpone(second, group, "t1", { now: T0, at: T0 + MINUTE, failure: failure("endpoint") });
    await groups.settle(first, slow.group, "slow", sent(T0 + SECOND, [camera]));
    expect(await groups.claim(second, "t2", T0 + 2 * SECOND, LEASE)).toEqual({
      kind: "backoff",
      until: T0 + MINUTE,
    });
  });

  it("a pace token is one message per step at the endpoint, and who waits for it keeps its place", async () => {
    const paced = { ...first, paceMs: SECOND };
    await due(first.id);
    const { groups } = room().store;
    expect(await groups.pace(paced, T0)).toBe(0);
    expect(await groups.pace(paced, T0 + 400)).toBe(600);
    expect(await groups.claim(paced, "t1", T0 + 400, LEASE)).toEqual({ kind: "pace", until: T0 + SECOND });
    expect((await claimed(room(), T0 + SECOND, "t2", paced)).group).toBe("a");
    expect(await groups.pace(paced, T0 + SECOND)).toBe(0);
    expect(await groups.pace({ ...second, paceMs: SECOND }, T0 + SECOND)).toBe(SECOND);
    expect(await groups.pace(slack, T0)).toBe(0);
  });

  it("a pace token from a clock far ahead does not hold the endpoint", async () => {
    const paced = { ...first, paceMs: SECOND };
    const { groups } = room().store;
    expect(await groups.pace(paced, T0 + HOUR)).toBe(0);
    expect(await groups.pace(paced, T0)).toBe(0);
  });
});
