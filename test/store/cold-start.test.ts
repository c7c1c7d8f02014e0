import { beforeEach, expect, it } from "vitest";
import type { Destination } from "../../src/alerting/route.ts";
import type { Claim } from "../../src/store/groups.ts";
import { aStart } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  camera,
  commit,
  ends,
  fires,
  firing,
  groups,
  HOUR,
  integration,
  LEASE,
  MINUTE,
  SECOND,
  slack,
  T0,
  to,
  useTestStore,
} from "./fixtures.ts";

describeWithRedis("a cold start", () => {
  const testStore = useTestStore();
  beforeEach(() => testStore().redis.del(testStore().store.keys.started));
  const begin = (now = T0) => testStore().store.coldStart.begin(now);
  const sum = (now: number, ...ids: string[]) =>
    testStore().store.coldStart.sum([slack.id], ids, { ...aStart, unsettled: 2 }, now);
  const claim = (now: number) => groups.claim(slack, "t", now, LEASE);
  const whatOf = (found: Claim) =>
    found.kind === "group" ? [found.group, found.alerts.map(({ id }) => id)] : found.kind;
  const settle = (group: string, now: number, unnotified: string[]) =>
    groups.settle(slack, "t", [
      {
        group,
        settle: {
          now,
          sent: true,
          notified: unnotified.map(() => ({ alert: camera, notifiedAt: now, groupId: group })),
          over: [],
          unnotified,
          nextAt: undefined,
        },
      },
    ]);

  it("leaves out of its summary what an integration is only escalated", async () => {
    await begin();
    const own = firing("own");
    const escalated = to(slack.id, "g", { escalateAfterMs: 15 * MINUTE });
    await commit(T0, fires(camera, escalated), fires(own, to(slack.id, "h")));
    await sum(T0 + MINUTE, camera.id, own.id);
    expect(whatOf(await claim(T0 + MINUTE))).toEqual(["started", [own.id]]);
  });

  it("leaves alerts that a reload groups otherwise due since when they were", async () => {
    await begin();
    const all = Array.from({ length: 9 }, (_, i) => firing(`cam-${i}`));
    await commit(T0, ...all.map((one, i) => fires(one, to(slack.id, `g${i}`))));
    await sum(T0 + MINUTE, ...all.map(({ id }) => id));
    const rerouted = all.map(({ id }) => ({ id, to: [to(slack.id, "other")] }));
    await groups.reroute(rerouted, [slack.id], T0 + 2 * MINUTE);
    const { redis, store } = testStore();
    expect(await redis.zcount(store.keys.members(slack.id, "other"), T0, T0)).toBe(all.length);
  });

  it("suppresses everything until there is a summary, then sends that first", async () => {
    expect(await begin()).toEqual({ gathering: "all", since: T0 });
    await commit(T0, fires(camera, to(slack.id, "g", { groupWaitMs: 0 })));
    expect(await claim(T0 + HOUR)).toEqual({ kind: "idle", until: undefined });
    await sum(T0 + MINUTE, camera.id);
    const found = await claim(T0 + MINUTE);
    expect(found).toMatchObject({ group: "started", labels: { facts: expect.stringContaining('"unsettled":2') } });
    expect(whatOf(found)).toEqual(["started", [camera.id]]);
    await settle("started", T0 + MINUTE, [camera.id]);
    const next = await claim(T0 + MINUTE);
    expect(whatOf(next)).toEqual(["g", [camera.id]]);
    expect(next.kind === "group" && [...next.notified.keys()]).toEqual([camera.id]);
  });

  it("is over once its summary was sent: the same Redis is no cold start any more", async () => {
    await begin();
    await sum(T0);
    expect(whatOf(await claim(T0))).toEqual(["started", []]);
    await settle("started", T0, []);
    expect(await claim(T0 + HOUR)).toEqual({ kind: "idle", until: undefined });
    expect(await begin(T0 + HOUR)).toEqual({ gathering: undefined, since: T0 });
    await sum(T0 + HOUR, camera.id);
    expect(await claim(T0 + HOUR)).toEqual({ kind: "idle", until: undefined });
  });

  it("sends its summary again after a crash between sending and settling, and not after that", async () => {
    await begin();
    await sum(T0);
    await claim(T0);
    await testStore().endLease(slack.id);
    expect(whatOf(await claim(T0 + LEASE))).toEqual(["started", []]);
    await settle("started", T0 + LEASE, []);
    expect(await claim(T0 + HOUR)).toEqual({ kind: "idle", until: undefined });
  });

  it("does not repeat its summary when a member resolves during the send; that end is sent by its group", async () => {
    await begin();
    await commit(T0, fires(camera, to(slack.id, "g", { groupWaitMs: 0, groupIntervalMs: SECOND })));
    await sum(T0, camera.id);
    await claim(T0);
    await commit(T0 + SECOND, ends(camera, T0 + SECOND));
    await settle("started", T0 + SECOND, [camera.id]);
    const next = await claim(T0 + MINUTE);
    expect(next).toMatchObject({ group: "g", alerts: [{ state: "resolved" }] });
    expect(next.kind === "group" && next.notified.has(camera.id)).toBe(true);
  });

  it("keeps nobody waiting where it is refused as a message", async () => {
    await begin();
    await commit(T0, fires(camera, to(slack.id, "g", { groupWaitMs: 0 })));
    await sum(T0);
    await claim(T0);
    const failure = { code: "bad_request", detail: "no", scope: "message" } as const;
    await groups.settle(slack, "t", [{ group: "started", postpone: { now: T0, at: T0 + HOUR, failure } }]);
    expect(whatOf(await claim(T0 + SECOND))).toEqual(["g", [camera.id]]);
  });

  it("lets nobody speak in a Redis emptied a moment ago, before anybody has noticed", async () => {
    await commit(T0, fires(camera, to(slack.id, "g", { groupWaitMs: 0 })));
    expect(await claim(T0 + HOUR)).toEqual({ kind: "idle", until: undefined });
    await begin(T0 + HOUR);
    expect(await claim(T0 + HOUR)).toEqual({ kind: "idle", until: undefined });
  });

  it("is made for an integration that is added, once and of what fires, before anything else is sent there", async () => {
    const [other, mine] = [integration("ops/email/0/x"), testStore().store.coldStart];
    await mine.begin(T0, [slack.id]);
    await sum(T0);
    await claim(T0);
    await settle("started", T0, []);
    await commit(T0, fires(camera, to(slack.id)));
    const both = [slack.id, other.id];
    expect(await mine.begin(T0 + HOUR, both)).toEqual({ gathering: "added", since: T0 });
    const places = [to(slack.id), to(other.id, "g", { groupWaitMs: 0 })];
    await groups.reroute([{ id: camera.id, to: places }], both, T0 + HOUR);
    const claimOther = () => groups.claim(other, "t", T0 + 2 * HOUR, LEASE);
    expect(await claimOther()).toEqual({ kind: "idle", until: undefined });
    const added = { ...aStart, added: true };
    const replicas = [testStore().store, testStore().replica()];
    const made = await Promise.all(replicas.map(({ coldStart }) => coldStart.sum(both, [camera.id], added, T0 + HOUR)));
    expect(made.sort()).toEqual([false, true]);
    expect(whatOf(await claimOther())).toEqual(["started", [camera.id]]);
    expect(await claim(T0 + HOUR)).not.toMatchObject({ group: "started" });
    expect(await mine.begin(T0 + HOUR, both)).toEqual({ gathering: undefined, since: T0 });
  });

  it("is not made for an integration that is added, as if all were known, where Redis was emptied meanwhile", async () => {
    const { redis, store } = testStore();
    await begin();
    await sum(T0);
    await store.coldStart.begin(T0, [slack.id, "ops/email/0/x"]);
    await redis.flushdb();
    const added = () => store.coldStart.sum(["ops/email/0/x"], [], { ...aStart, added: true }, T0 + SECOND);
    expect(await added()).toBe(false);
    await begin(T0 + SECOND);
    expect(await added()).toBe(false);
    expect(await sum(T0 + SECOND)).toBe(true);
  });

  it("is made once, though several replicas make it at the same time", async () => {
    const other = integration("ops/email/0/x");
    await begin();
    await commit(T0, fires(camera, to(slack.id)));
    const all = [slack.id, other.id];
    const made = await Promise.all(
      [testStore().store, testStore().replica()].map(({ coldStart }) => coldStart.sum(all, [camera.id], aStart, T0)),
    );
    expect(made.sort()).toEqual([false, true]);
    expect(whatOf(await claim(T0))).toEqual(["started", [camera.id]]);
    expect(whatOf(await groups.claim(other, "t", T0, LEASE))).toEqual(["started", []]);
  });

  it("deletes the summary of an integration that is removed before it was sent, which gets one where it is back", async () => {
    const other = integration("ops/email/0/x");
    await testStore().store.coldStart.begin(T0, [slack.id, other.id]);
    await commit(T0, fires(camera, to(other.id)));
    await sum(T0);
    const reroute = (ids: string[], ...places: Destination[]) =>
      groups.reroute([{ id: camera.id, to: places }], ids, T0 + SECOND);
    await reroute([other.id], to(other.id));
    expect((await testStore().keys()).filter((key) => key.includes("slack"))).toEqual([]);
    expect(await begin()).toEqual({ gathering: undefined, since: T0 });
    const { gathering } = await testStore().replica().coldStart.begin(T0, [slack.id]);
    expect(gathering).toBe("added");
    await testStore().store.coldStart.sum([slack.id], [], { ...aStart, added: true }, T0 + SECOND);
    await claim(T0 + SECOND);
    await settle("started", T0 + SECOND, []);
    await reroute([other.id, slack.id], to(other.id), to(slack.id, "g", { groupWaitMs: 0 }));
    expect(whatOf(await claim(T0 + MINUTE))).toEqual(["g", [camera.id]]);
  });

  it("is made by the active configuration, and not by one that another has overtaken", async () => {
    const { redis, store } = testStore();
    const sumBy = (hash: string) =>
      store.coldStart.sum([slack.id], [camera.id], aStart, T0, store.replicas.checkActive("notify", hash));
    await begin();
    await commit(T0, fires(camera, to(slack.id)));
    await redis.hset(store.keys.active, "notify", "later");
    expect(await sumBy("earlier")).toBe(false);
    expect(await begin()).toMatchObject({ gathering: "all" });
    expect(await sumBy("later")).toBe(true);
    expect(whatOf(await claim(T0))).toEqual(["started", [camera.id]]);
  });

  it("gathers more alerts than one call takes, and the same ones twice", async () => {
    const many = Array.from({ length: 1_100 }, (_, i) => firing(`cam-${i}`));
    await begin();
    await commit(T0, ...many.map((alert) => fires(alert, to(slack.id))));
    const ids = many.map(({ id }) => id);
    await sum(T0, ...ids);
    await sum(T0, ...ids);
    const found = await claim(T0);
    expect(found.kind === "group" && found.alerts.length).toBe(1_100);
  });

  it("keeps its members over a restart, with another configuration too", async () => {
    await begin();
    await commit(T0, fires(camera, to(slack.id)));
    await sum(T0, camera.id);
    await groups.reroute([{ id: camera.id, to: [to(slack.id, "h")] }], [slack.id], T0 + SECOND);
    expect(whatOf(await claim(T0 + SECOND))).toEqual(["started", [camera.id]]);
  });
});
