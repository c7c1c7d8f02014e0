import type { Command, Redis } from "ioredis";
import { expect, it, onTestFinished, vi } from "vitest";
import { type GroupHead, released, settingsOf } from "../../src/alerting/group.ts";
import type { NotifiedEntry } from "../../src/alerting/model.ts";
import { needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/log.ts";
import { destined, GroupWork } from "../../src/store/group-work.ts";
import { createStore } from "../../src/store/store.ts";
import { createTransact } from "../../src/store/transact.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  camera,
  claimed,
  commit,
  ends,
  fires,
  firing,
  groups,
  HOUR,
  integration,
  LEASE,
  MINUTE,
  over,
  SECOND,
  sentOf,
  shards,
  slack,
  T0,
  to,
  useTestStore,
  WAIT,
} from "./fixtures.ts";

const INTERVAL = 5 * MINUTE;
const mail = integration("ops/email/0/a@example.com");

const record = (alert: Alert, notifiedAt: Instant): NotifiedEntry => ({ alert, notifiedAt, groupId: "g" });

const nothing = { notified: [], over: [], unnotified: [], nextAt: undefined };

describeWithRedis("groups that are due", () => {
  const testStore = useTestStore();

  it("a group is due after group_wait, each integration for itself", async () => {
    const wake = await commit(T0, fires(camera, to(slack.id), to(mail.id, "g", { groupWaitMs: 0 })));
    expect([...wake].sort()).toEqual([
      [mail.id, T0],
      [slack.id, T0 + WAIT],
    ]);
    expect(await groups.claim(slack, "t", T0 + WAIT - 1, LEASE)).toEqual({ kind: "idle", until: T0 + WAIT });
    const claim = await claimed(T0 + WAIT);
    expect(claim).toMatchObject({
      group: "g",
      labels: { location_id: "g" },
      repeatIntervalMs: 4 * HOUR,
      dueSince: new Map([[camera.id, T0 + WAIT]]),
      alerts: [camera],
      lost: [],
    });
  });

  it("a later alert never pushes the due time back", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await commit(T0 + 20 * SECOND, fires(firing("other", T0 + 20 * SECOND), to(slack.id)));
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, T0 + WAIT]]));
    expect((await claimed(T0 + WAIT)).alerts).toHaveLength(2);
  });

  it("one claim at a time: a second one, of whatever group, is busy until the lease is over", async () => {
    await commit(T0, fires(camera, to(slack.id, "a")), fires(firing("b"), to(slack.id, "b")));
    const claims = await Promise.all(["x", "y", "z"].map((token) => groups.claim(slack, token, T0 + MINUTE, LEASE)));
    expect(claims.map(({ kind }) => kind).sort()).toEqual(["busy", "busy", "group"]);
    const busy = claims.find(({ kind }) => kind === "busy");
    expect(busy).toMatchObject({ until: expect.any(Number) });
    expect(Number((busy as { until: number }).until)).toBeGreaterThan(T0 + MINUTE + LEASE - 2 * SECOND);
    expect(
      (await claimed(T0 + MINUTE, "m", { ...mail, id: slack.id, endpoint: "e" }).catch(String)) as unknown,
    ).toContain("busy");
  });

  it("a claim asked again because its reply was lost gives the same group", async () => {
    await commit(T0, fires(camera, to(slack.id, "a")));
    await commit(T0 + SECOND, fires(firing("b"), to(slack.id, "b")));
    const first = await claimed(T0 + MINUTE, "t1");
    expect(await claimed(T0 + MINUTE, "t1")).toEqual(first);
    expect(first.group).toBe("a");
  });

  it("a crash under a claim leaves the group due when the lease is over, and still waiting since then", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(T0 + WAIT, "dead");
    await testStore().endLease(slack.id);
    const next = T0 + WAIT + LEASE;
    expect(await groups.claim(slack, "t2", next - 1, LEASE)).toEqual({ kind: "idle", until: next });
    expect((await claimed(next, "t2")).dueSince).toEqual(new Map([[camera.id, T0 + WAIT]]));
  });

  it("stores what was notified and makes the group due for its reminder", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    const now = T0 + WAIT;
    await claimed(now);
    expect(await groups.settle(slack, "t1", [{ group: "g", settle: sentOf(now, [camera]) }])).toBe(now + 4 * HOUR);
    expect(await groups.notified(slack.id)).toEqual([record(camera, now)]);
    const reminder = await claimed(now + 4 * HOUR, "t2");
    expect(reminder.notified.get(camera.id)).toEqual(record(camera, now));
  });

  it("the notification log entry and the alert stay until the end is notified, then both are deleted", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(T0 + WAIT);
    await groups.settle(slack, "t1", [{ group: "g", settle: sentOf(T0 + WAIT, [camera]) }]);
    const end = T0 + 2 * MINUTE;
    const wake = await commit(end, ends(camera, end));
    expect(wake.get(slack.id)).toBe(T0 + WAIT + INTERVAL);
    expect(await shards.alerts()).toEqual([over(camera, end)]);
    const at = T0 + WAIT + INTERVAL;
    const claim = await claimed(at, "t2");
    expect(claim.alerts).toEqual([over(camera, end)]);
    expect(claim.notified.get(camera.id)).toBeDefined();
    expect(await groups.settle(slack, "t2", [{ group: "g", settle: sentOf(at, [], [camera]) }])).toBeUndefined();
    expect(await groups.notified(slack.id)).toEqual([]);
    expect(await shards.alerts()).toEqual([]);
    expect(await testStore().keys()).toEqual(["episodes", `grp:${slack.id}:g`, "integrations", "shard:0"]);
    expect(await testStore().redis.pttl(`{${testStore().prefix}}:grp:${slack.id}:g`)).toBeGreaterThan(INTERVAL);
  });

  it("group_interval counts from the last message, also over a time in which the group was empty", async () => {
    await commit(T0, fires(camera, to(slack.id, "g", { groupWaitMs: 0 })));
    await claimed(T0);
    await groups.settle(slack, "t1", [{ group: "g", settle: sentOf(T0, [camera]) }]);
    await commit(T0 + MINUTE, ends(camera, T0 + MINUTE));
    await claimed(T0 + INTERVAL, "t2");
    await groups.settle(slack, "t2", [{ group: "g", settle: sentOf(T0 + INTERVAL, [], [camera]) }]);
    const again = firing("cam", T0 + INTERVAL + SECOND);
    await commit(again.firedAt, fires(again, to(slack.id, "g", { groupWaitMs: 0 })));
    expect(await groups.claim(slack, "t3", again.firedAt, LEASE)).toEqual({ kind: "idle", until: T0 + 2 * INTERVAL });
    expect((await claimed(T0 + 2 * INTERVAL, "t3")).alerts).toEqual([again]);
  });

  it("what becomes due during a send is due group_interval after it, not lost in the reminder", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(T0 + WAIT);
    await commit(T0 + WAIT + SECOND, ends(camera, T0 + WAIT + SECOND));
    const now = T0 + WAIT + 2 * SECOND;
    await groups.settle(slack, "t1", [{ group: "g", settle: sentOf(now, [camera]) }]);
    expect(await groups.claim(slack, "t2", now, LEASE)).toEqual({ kind: "idle", until: now + INTERVAL });
    expect((await claimed(now + INTERVAL, "t2")).dueSince).toEqual(new Map([[camera.id, now + INTERVAL]]));
  });

  it("a settle sent twice pushes nothing back that became due between, and brings nothing back", async () => {
    await commit(T0, fires(camera, to(slack.id, "g", { groupIntervalMs: 0 })));
    await claimed(T0 + WAIT);
    const outcome = sentOf(T0 + WAIT, [camera]);
    await groups.settle(slack, "t1", [{ group: "g", settle: outcome }]);
    const end = T0 + MINUTE;
    await commit(end, ends(camera, end));
    expect(await groups.settle(slack, "t1", [{ group: "g", settle: outcome }])).toBe(end);
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, end]]));
    expect((await claimed(end, "t2")).dueSince).toEqual(new Map([[camera.id, end]]));
    await groups.settle(slack, "t2", [{ group: "g", settle: sentOf(end, [], [camera]) }]);
    await groups.settle(slack, "t1", [{ group: "g", settle: outcome }]);
    expect(await groups.notified(slack.id)).toEqual([]);
    expect(await groups.nextDue([slack.id])).toEqual(new Map());
  });

  it("a settle after its lease was taken over stores what was notified and leaves the timers alone", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(T0 + WAIT, "slow");
    await testStore().endLease(slack.id);
    const later = T0 + WAIT + LEASE;
    await claimed(later, "quick");
    await groups.settle(slack, "slow", [{ group: "g", settle: sentOf(later, [camera]) }]);
    expect(await groups.notified(slack.id)).toHaveLength(1);
    expect(await groups.claim(slack, "third", later, LEASE)).toMatchObject({ kind: "busy" });
    await groups.settle(slack, "slow", [{ group: "g", postpone: { now: later, at: later + HOUR } }]);
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, later + LEASE]]));
  });

  it("an alert in two groups of one integration is notified in one and leaves both with its end", async () => {
    const places = [to(slack.id, "a"), to(slack.id, "b", { groupWaitMs: MINUTE })];
    await commit(T0, fires(camera, ...places));
    await claimed(T0 + WAIT);
    await groups.settle(slack, "t1", [{ group: "a", settle: sentOf(T0 + WAIT, [camera]) }]);
    const other = await claimed(T0 + MINUTE, "t2");
    expect([other.group, other.notified.has(camera.id)]).toEqual(["b", true]);
    await groups.settle(slack, "t2", [
      { group: "b", settle: { ...nothing, now: T0 + MINUTE, sent: false, nextAt: T0 + HOUR } },
    ]);
    await commit(T0 + 10 * MINUTE, ends(camera, T0 + 10 * MINUTE));
    const end = await claimed(T0 + 10 * MINUTE, "t3");
    await groups.settle(slack, "t3", [{ group: end.group, settle: sentOf(T0 + 10 * MINUTE, [], [camera]) }]);
    const rest = await claimed(T0 + 11 * MINUTE, "t4");
    expect([rest.group === end.group, rest.alerts, rest.lost]).toEqual([false, [], []]);
    await groups.settle(slack, "t4", [
      { group: rest.group, settle: { ...nothing, now: T0 + 11 * MINUTE, sent: false } },
    ]);
    expect(await testStore().keys()).toEqual([
      "episodes",
      `grp:${slack.id}:a`,
      `grp:${slack.id}:b`,
      "integrations",
      "shard:0",
    ]);
  });

  it("an episode that a dead process left behind is collected, and no other", async () => {
    const { redis, store } = testStore();
    await commit(T0, fires(camera, to(slack.id)), fires(firing("b"), to(slack.id)));
    await commit(T0 + SECOND, ends(camera, T0 + SECOND));
    await redis.hset(store.keys.alerts, { left: `R${JSON.stringify(over(firing("left"), T0))}` });
    await store.groups.collect(T0);
    expect((await shards.alerts()).map(({ key }) => key).sort()).toEqual(["b", "cam"]);
  });

  it("of a change, the last word about a member counts, and those of one command are written together", () => {
    const { redis, store } = testStore();
    const work = new GroupWork(redis, store.keys, "id");
    const [one, two] = [destined(slack.id, "one"), destined(slack.id, "two")];
    for (const place of [one, two]) work.schedule(place, T0);
    work.schedule(two, T0 + 1);
    work.schedule(one, undefined);
    for (const at of [T0 + 2, T0, T0 + 1]) work.due(two, at);
    const due = store.keys.due(slack.id);
    expect(work.transaction().writes).toEqual([
      ["ZREM", due, "one"],
      ["ZADD", due, T0 + 1, "two"],
      ["HSET", store.keys.changed(slack.id), "two", "id"],
      ["ZADD", due, "LT", T0, "two"],
    ]);
  });

  it("a change of a group that another one overtook is refused", async () => {
    const { redis, store } = testStore();
    await commit(T0, fires(camera, to(slack.id)));
    const place = destined(slack.id, "g");
    const [first, second] = [new GroupWork(redis, store.keys), new GroupWork(redis, store.keys)];
    for (const work of [first, second]) {
      await work.load([place]);
      work.put(place, released(work.head(place) as GroupHead, T0, false));
    }
    const { transact } = createTransact(redis, store.keys);
    expect(await transact(first.transaction())).toEqual({ kind: "stored" });
    expect(await transact(second.transaction())).toMatchObject({ kind: "conflict" });
  });

  it.each(["settle", "postpone"] as const)(
    "an alert that joins while %s ends the claim of an emptied group is due",
    async (end) => {
      const { redis, prefix, store } = testStore();
      await commit(T0, fires(camera, to(slack.id)));
      await claimed(T0 + WAIT, "t");
      const at = T0 + WAIT + SECOND;
      if (end === "settle") await commit(at, ends(camera, at));
      else {
        await commit(at, fires(firing("b", at), to(slack.id)));
        const moved = [camera, firing("b", at)].map(({ id }) => ({ id, to: [to(slack.id, "other")] }));
        await groups.reroute(moved, [slack.id], at);
      }
      const client = redis.duplicate();
      onTestFinished(() => client.disconnect());
      const send = client.sendCommand.bind(client);
      let joins: (() => Promise<unknown>) | undefined = () => commit(at, fires(firing("next", at), to(slack.id)));
      client.sendCommand = async (command: Command, ...rest) => {
        const join = command.name.startsWith("eval") ? joins : undefined;
        if (join) joins = undefined;
        await join?.();
        return send(command, ...rest);
      };
      const { groups: slow } = createStore(client, prefix);
      if (end === "settle") await slow.settle(slack, "t", [{ group: "g", settle: sentOf(at, [], [camera]) }]);
      else await slow.settle(slack, "t", [{ group: "g", postpone: { now: at, at: at + SECOND } }]);
      expect(await redis.zscore(store.keys.due(slack.id), "g")).not.toBeNull();
      expect(await redis.hexists(store.keys.settings(slack.id), "g")).toBe(1);
    },
  );

  it("an alert that leaves one group without a message stays a member of the other", async () => {
    await commit(T0, fires(camera, to(slack.id, "a"), to(slack.id, "b")));
    await commit(T0 + SECOND, ends(camera, T0 + SECOND));
    const first = await claimed(T0 + WAIT);
    const quiet = { ...nothing, now: T0 + WAIT, sent: false, unnotified: [camera.id] };
    await groups.settle(slack, "t1", [{ group: first.group, settle: quiet }]);
    const second = await claimed(T0 + WAIT, "t2");
    expect(second.alerts).toHaveLength(1);
    await groups.settle(slack, "t2", [{ group: second.group, settle: quiet }]);
    expect(await shards.alerts()).toEqual([]);
  });
});

describeWithRedis("a receiver that is dead for good", () => {
  useTestStore();
  const WEEK = 7 * 24 * HOUR;

  it("is sent what fired and resolved within a week, and every end it is owed", async () => {
    await commit(T0, fires(firing("told"), to(slack.id, "g", { groupWaitMs: 0 })));
    await claimed(T0);
    await groups.settle(slack, "t1", [{ group: "g", settle: sentOf(T0, [firing("told")]) }]);
    const flap = async (at: Instant) => {
      const brief = firing("brief", at);
      await commit(at, fires(brief, to(slack.id)));
      await commit(at + SECOND, ends(brief, at + SECOND));
    };
    const now = T0 + 2 * WEEK;
    for (const at of [T0 + INTERVAL, now - WEEK - 1, now - WEEK]) await flap(at);
    await commit(T0 + WEEK, ends(firing("told"), T0 + WEEK));
    await groups.collect(T0 + INTERVAL + SECOND + WEEK + 1);
    const left = [`brief@${now - WEEK - 1}`, `brief@${now - WEEK}`, `told@${T0}`];
    expect((await shards.alerts()).map(({ id }) => id).sort()).toEqual(left);
    const decision = needsUpdate({ ...(await claimed(now, "t2")), now, sendResolved: true });
    expect(decision.notify === "resolved" && decision.resolved.map(({ id }) => id)).toEqual([
      `told@${T0}`,
      `brief@${now - WEEK}`,
    ]);
    expect(decision.settled).toHaveLength(3);
  });
});

describeWithRedis("thousands of roots to edit", () => {
  const testStore = useTestStore();

  it("delay no news, whenever it comes", async () => {
    const { redis, store } = testStore();
    const chat = { ...slack, conversation: "edits" as const };
    const roots = Array.from({ length: 3_000 }, (_, i) => [T0 + (i % 60) * SECOND, `root${i}`] as const);
    const settings = JSON.stringify(settingsOf(to(slack.id)));
    await redis.zadd(store.keys.roots(slack.id), ...roots.flat());
    await redis.hset(store.keys.settings(slack.id), ...roots.flatMap(([, group]) => [group, settings]));
    for (let i = 0; i < 5; i++) {
      const now = T0 + MINUTE + i * INTERVAL;
      expect(await claimed(now, `root ${i}`, chat)).toMatchObject({ isForRoot: true });
      await testStore().endLease(slack.id);
      await commit(now - WAIT, fires(firing(`news${i}`, now - WAIT), to(slack.id, `news${i}`)));
      expect(await claimed(now, `news ${i}`, chat)).toMatchObject({ group: `news${i}`, isForRoot: false });
      await groups.settle(slack, `news ${i}`, [
        { group: `news${i}`, settle: sentOf(now, [firing(`news${i}`, now - WAIT)]) },
      ]);
    }
  });
});

describeWithRedis("an endpoint in trouble", () => {
  useTestStore();
  const shared = { endpoint: "hook" };
  const first = integration("ops/slack/0", shared);
  const second = integration("dev/slack/0", shared);

  async function due(...who: string[]) {
    await commit(
      T0,
      fires(camera, ...who.flatMap((id) => [to(id, "a", { groupWaitMs: 0 }), to(id, "b", { groupWaitMs: 0 })])),
    );
  }

  const failure = (scope: "endpoint" | "integration" | "message") => ({
    code: "server_error" as const,
    detail: "It is down.",
    scope,
  });

  it("backs off for every integration that uses it, until the first message is accepted", async () => {
    await due(first.id, second.id);
    const { group } = await claimed(T0, "t1", first);
    await groups.settle(first, "t1", [{ group, postpone: { now: T0, at: T0 + MINUTE, failure: failure("endpoint") } }]);
    for (const who of [first, second]) {
      expect(await groups.claim(who, "t2", T0 + 1, LEASE)).toEqual({ kind: "backoff", until: T0 + MINUTE });
      const trouble = { since: T0, code: "server_error", detail: "It is down.", endpoint: "hook" };
      expect(await groups.trouble(who, T0 + 1)).toEqual(trouble);
    }
    const again = await claimed(T0 + MINUTE, "t3", second);
    expect(again.failures).toBe(1);
    await groups.settle(second, "t3", [{ group: again.group, settle: sentOf(T0 + MINUTE, [camera]) }]);
    expect(await groups.trouble(first, T0 + MINUTE)).toBeUndefined();
    expect((await claimed(T0 + MINUTE, "t4", first)).failures).toBe(0);
  });

  it("counts failures side by side as one, and backs off for the longest of them", async () => {
    await due(first.id, second.id);
    const fail = (who: typeof first, group: string, token: string, now: Instant, at: Instant) =>
      groups.settle(who, token, [{ group, postpone: { now, at, failure: failure("endpoint") } }]);
    const one = await claimed(T0, "t1", first);
    const other = await claimed(T0 + 10, "t2", second);
    await fail(first, one.group, "t1", T0 + 20, T0 + MINUTE);
    await fail(second, other.group, "t2", T0 + 30, T0 + SECOND);
    const resting = await groups.claim(first, "t3", T0 + 2 * SECOND, LEASE);
    expect(resting).toEqual({ kind: "backoff", until: T0 + MINUTE });
    const next = await claimed(T0 + MINUTE, "t4", second);
    expect(next.failures).toBe(1);
    await fail(second, next.group, "t4", T0 + MINUTE + 1, T0 + 2 * MINUTE);
    expect((await claimed(T0 + 2 * MINUTE, "t5", first)).failures).toBe(2);
  });

  it("one refused recipient backs off alone", async () => {
    await due(first.id, second.id);
    const { group } = await claimed(T0, "t1", first);
    await groups.settle(first, "t1", [
      { group, postpone: { now: T0, at: T0 + MINUTE, failure: failure("integration") } },
    ]);
    expect(await groups.claim(first, "t2", T0 + 1, LEASE)).toMatchObject({ kind: "backoff" });
    await claimed(T0 + 1, "t3", second);
    expect(await groups.trouble(second, T0 + 1)).toBeUndefined();
    expect(await groups.trouble(first, T0 + 1)).not.toHaveProperty("endpoint");
  });

  it("one refused message backs off alone, keeps since when, and is counted by its group", async () => {
    await due(first.id);
    const { group } = await claimed(T0, "t1", first);
    await groups.settle(first, "t1", [{ group, postpone: { now: T0, at: T0 + MINUTE, failure: failure("message") } }]);
    const other = await claimed(T0 + 1, "t2", first);
    expect([other.group === group, other.failures, other.groupFailures]).toEqual([false, 0, 0]);
    await groups.settle(first, "t2", [{ group: other.group, settle: sentOf(T0 + 1, [camera]) }]);
    expect((await claimed(T0 + MINUTE, "t3", first)).groupFailures).toBe(1);
    const later = { now: T0 + MINUTE, at: T0 + 2 * MINUTE, failure: failure("message") };
    await groups.settle(first, "t3", [{ group, postpone: later }]);
    expect(await groups.trouble(first, T0 + MINUTE)).toMatchObject({ since: T0 });
    await groups.settle(first, "t3", [{ group, postpone: later }]);
    expect((await claimed(T0 + 2 * MINUTE, "t4", first)).groupFailures).toBe(2);
    await groups.settle(first, "t4", [{ group, settle: sentOf(T0 + 2 * MINUTE, [camera]) }]);
    expect(await groups.trouble(first, T0 + 2 * MINUTE)).toBeUndefined();
  });

  it("is over once its backoff is and nothing is due, not while something is; the next failure is another", async () => {
    await due(first.id);
    const fail = async (token: string, now: Instant) => {
      const { group } = await claimed(now, token, first);
      await groups.settle(first, token, [{ group, postpone: { now, at: now + MINUTE, failure: failure("endpoint") } }]);
    };
    await fail("t1", T0);
    const isOver = async (now: Instant) => (await groups.trouble(first, now))?.isOver === true;
    expect(await isOver(T0 + HOUR)).toBe(false);
    for (const token of ["t2", "t3"]) {
      const { group } = await claimed(T0 + MINUTE, token, first);
      await groups.settle(first, token, [
        { group, settle: { ...sentOf(T0 + MINUTE, []), sent: false, nextAt: T0 + 4 * HOUR } },
      ]);
    }
    expect([await isOver(T0 + 2 * MINUTE), await isOver(T0 + HOUR)]).toEqual([false, true]);
    await fail("t4", T0 + 4 * HOUR);
    expect(await groups.trouble(second, T0 + 4 * HOUR)).toMatchObject({ since: T0 + 4 * HOUR });
    expect((await claimed(T0 + 5 * HOUR, "t5", first)).failures).toBe(1);
  });

  it("a backoff set meanwhile by another message outlasts an acceptance", async () => {
    await due(first.id, second.id);
    const slow = await claimed(T0, "slow", first);
    const { group } = await claimed(T0, "t1", second);
    await groups.settle(second, "t1", [
      { group, postpone: { now: T0, at: T0 + MINUTE, failure: failure("endpoint") } },
    ]);
    await groups.settle(first, "slow", [{ group: slow.group, settle: sentOf(T0 + SECOND, [camera]) }]);
    expect(await groups.claim(second, "t2", T0 + 2 * SECOND, LEASE)).toEqual({ kind: "backoff", until: T0 + MINUTE });
  });

  it("a pace token is one message per interval at the endpoint, and a group that waits for it stays first", async () => {
    const paced = { ...first, paceMs: SECOND };
    await due(first.id);
    expect(await groups.pace(paced, T0)).toBe(0);
    expect(await groups.pace(paced, T0 + 400)).toBe(600);
    expect(await groups.claim(paced, "t1", T0 + 400, LEASE)).toEqual({ kind: "pace", until: T0 + SECOND });
    expect((await claimed(T0 + SECOND, "t2", paced)).group).toBe("a");
    expect(await groups.pace(paced, T0 + SECOND)).toBe(0);
    expect(await groups.pace({ ...second, paceMs: SECOND }, T0 + SECOND)).toBe(SECOND);
    expect(await groups.pace(slack, T0)).toBe(0);
  });

  it("of two that take a pace token at once, one waits", async () => {
    const both = [first, second].map((one) => groups.pace({ ...one, paceMs: SECOND }, T0));
    expect((await Promise.all(both)).sort()).toEqual([0, SECOND]);
  });

  it("a channel of an endpoint has a pace of its own", async () => {
    await due(first.id, second.id);
    const [one, two] = [
      { ...first, paceMs: SECOND, channel: "#one" },
      { ...second, paceMs: SECOND, channel: "#two" },
    ];
    expect(await groups.pace(one, T0)).toBe(0);
    expect(await groups.claim(one, "t1", T0, LEASE)).toEqual({ kind: "pace", until: T0 + SECOND });
    expect(await groups.claim(two, "t2", T0, LEASE)).toMatchObject({ kind: "group" });
    expect(await groups.pace(two, T0)).toBe(0);
  });

  it("a root that was brought up to date leaves what is due later as it was", async () => {
    await commit(T0, fires(camera, to(slack.id, "a")));
    await claimed(T0 + WAIT, "t1");
    const [soon, nextAt] = [T0 + MINUTE, T0 + HOUR];
    const sent = { now: T0 + WAIT, sent: true, notified: [], over: [], unnotified: [], nextAt, rootAt: soon };
    const root = { ...sent, conversation: '{"id":"c"}', shown: "x" };
    expect(await groups.settle(slack, "t1", [{ group: "a", settle: root }])).toBe(soon);
    expect((await claimed(soon, "t2")).isForRoot).toBe(true);
    const edited = { ...root, now: soon, sent: false, nextAt: undefined, isForRoot: true, rootAt: T0 + 2 * HOUR };
    expect(await groups.settle(slack, "t2", [{ group: "a", settle: edited }])).toBe(nextAt);
    expect(await claimed(nextAt, "t3")).toMatchObject({ isForRoot: false, nextAt });
  });

  it("a group without a root is not due for one, and one with a root for its news first", async () => {
    await commit(T0, fires(camera, to(slack.id, "a")));
    await claimed(T0 + WAIT, "t1");
    const [soon, nextAt] = [T0 + MINUTE, T0 + HOUR];
    const outcome = { now: T0 + WAIT, sent: true, notified: [], over: [], unnotified: [], nextAt, rootAt: soon };
    expect(await groups.settle(slack, "t1", [{ group: "a", settle: outcome }])).toBe(nextAt);
    await claimed(nextAt, "t2");
    const root = { ...outcome, now: nextAt, conversation: '{"id":"c"}', shown: "x" };
    await groups.settle(slack, "t2", [
      { group: "a", settle: { ...root, nextAt: nextAt + HOUR, rootAt: nextAt + MINUTE } },
    ]);
    expect((await claimed(nextAt + HOUR, "t3")).isForRoot).toBe(false);
  });

  it("an episode that leaves the integration brings the roots of its other groups up to date", async () => {
    await commit(T0, fires(camera, to(slack.id, "a", { groupWaitMs: 0 }), to(slack.id, "b")));
    const quiet = { sent: true, notified: [], over: [], unnotified: [], nextAt: T0 + 4 * HOUR };
    await claimed(T0, "t1");
    await groups.settle(slack, "t1", [
      { group: "a", settle: { ...quiet, now: T0, conversation: '{"id":"c"}', shown: "x" } },
    ]);
    await claimed(T0 + WAIT, "t2");
    await groups.settle(slack, "t2", [{ group: "b", settle: { ...quiet, now: T0 + WAIT, over: [camera.id] } }]);
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, T0 + WAIT]]));
    expect((await claimed(T0 + WAIT, "t3")).group).toBe("a");
  });

  it("an episode has ended once it is stored as resolved, or not at all", async () => {
    await commit(T0, fires(camera, to(slack.id, "a")));
    const ongoing = Array.from({ length: 300 }, () => camera.id);
    expect(await groups.hasEnded(ongoing)).toBe(false);
    expect(await groups.hasEnded([...ongoing, "gone@1"])).toBe(true);
    await commit(T0 + SECOND, ends(camera, T0 + SECOND));
    expect(await groups.hasEnded([camera.id])).toBe(true);
  });

  it("a pace token from a clock far ahead does not block the endpoint", async () => {
    const paced = { ...first, paceMs: SECOND };
    expect(await groups.pace(paced, T0 + HOUR)).toBe(0);
    expect(await groups.pace(paced, T0)).toBe(0);
  });
});

describeWithRedis("what may be sent", () => {
  const testStore = useTestStore();
  const intent = { messageId: "m", at: T0, askAt: T0, isSummary: false, groups: {} };

  async function opened(isFailover = false) {
    const { redis, prefix } = testStore();
    const syncing = redis.duplicate();
    onTestFinished(() => syncing.disconnect());
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(T0 + WAIT, "t");
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) } as unknown as NodeJS.WritableStream;
    const log = createLogger({ level: "warn", destination });
    return {
      syncing,
      lines,
      store: createStore(redis, prefix, { syncing, log, failoverLog: isFailover ? log : undefined }),
    };
  }

  /** The disk of the server answers so. */
  function waitsFor(syncing: Redis, reply: Promise<[null, unknown][]>): unknown[] {
    const pipeline = syncing.pipeline.bind(syncing);
    const calls: unknown[] = [];
    vi.spyOn(syncing, "pipeline").mockImplementation((commands) => {
      const batch = pipeline(commands);
      calls.push(vi.spyOn(batch, "call").mock.calls);
      vi.spyOn(batch, "exec").mockReturnValue(reply);
      return batch;
    });
    return calls;
  }

  it("renews the lease for as long as a send may take", async () => {
    const { store } = await opened();
    const { redis } = testStore();
    const key = store.keys.claim(slack.id);
    await redis.pexpire(key, 2_000);
    expect(await store.groups.intend(slack, { token: "another", ms: LEASE }, intent)).toBe(false);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(2_000);
    expect(await store.groups.intend(slack, { token: "t", ms: LEASE }, intent)).toBe(true);
    expect(await redis.pttl(key)).toBeGreaterThan(LEASE - 2_000);
  });

  it("is sent though a slow disk does not have it yet, which is logged once", async () => {
    const { syncing, lines, store } = await opened();
    const calls = waitsFor(
      syncing,
      Promise.resolve([
        [null, 1],
        [null, [0, 0]],
      ]),
    );
    for (const _ of ["", "again"])
      expect(await store.groups.intend(slack, { token: "t", ms: LEASE }, intent, { isSynced: true })).toBe(true);
    expect(calls).toHaveLength(1);
    expect(lines).toEqual([expect.stringContaining("check that disk")]);
  });

  it("is on disk before it is, on a connection of its own, where that is asked for", async () => {
    const { syncing, store } = await opened();
    const waiting = Promise.withResolvers<[]>();
    const calls = waitsFor(syncing, waiting.promise);
    expect(await store.groups.intend(slack, { token: "t", ms: LEASE }, intent)).toBe(true);
    expect(await store.groups.intend(slack, { token: "another", ms: LEASE }, intent, { isSynced: true })).toBe(false);
    expect(calls).toEqual([]);
    let isWritten: boolean | undefined;
    const writing = store.groups.intend(slack, { token: "t", ms: LEASE }, intent, { isSynced: true }).then((is) => {
      isWritten = is;
    });
    await vi.waitFor(() => expect(calls).toEqual([[["WAITAOF", "1", "0", 1_500]]]));
    expect(await store.groups.claim(slack, "t2", T0 + WAIT, LEASE)).toMatchObject({ kind: "busy" });
    expect(isWritten).toBeUndefined();
    waiting.resolve([]);
    await writing;
    expect(isWritten).toBe(true);
  });

  it("is at a replica of Redis as well, where that may replace the master", async () => {
    const { lines, store } = await opened(true);
    expect(await store.groups.intend(slack, { token: "t", ms: LEASE }, intent)).toBe(true);
    expect(lines).toEqual([]);
    expect(await store.groups.intend(slack, { token: "t", ms: LEASE }, intent, { isSynced: true })).toBe(true);
    expect(lines).toEqual([expect.stringContaining("no replica of Redis confirmed a write in time")]);
  });

  it("is sent where the server writes nothing to disk, or cannot say whether it did", async () => {
    const { lines, store } = await opened();
    expect(await store.groups.intend(slack, { token: "t", ms: LEASE }, intent, { isSynced: true })).toBe(true);
    expect(lines).toEqual([]);
  });
});
