import { describe, expect, it } from "vitest";
import type { Destination } from "../../src/alerting/route.ts";
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
  SECOND,
  sentOf,
  T0,
  type TestStore,
  to,
  useTestStore,
  WAIT,
} from "./fixtures.ts";

const old = integration("ops/slack/0");
const added = integration("new/slack/0");

async function tell(now: number): Promise<void> {
  const { alerts } = await claimed(now, "t", old);
  await groups.settle(old, "t", [{ group: "g", settle: sentOf(now, alerts) }]);
}

const dueAt = async (testStore: TestStore, id: string) => (await testStore.store.groups.nextDue([id])).get(id);
const places = async (testStore: TestStore, id = camera.id) =>
  (await testStore.redis.smembers(`{${testStore.prefix}}:in:${id}`)).map((place) => place.replace("\n", " ")).sort();

describeWithRedis("another configuration after a restart", () => {
  const testStore = useTestStore();

  const reroute = (now: number, here: readonly { id: string }[], ...wanted: Destination[]) =>
    groups.reroute(
      [{ id: camera.id, to: wanted }],
      here.map(({ id }) => id),
      now,
      // By the configuration that they were routed by before.
      { place: [testStore().store.keys.active, "poll"], version: "" },
    );

  it("a new integration is notified of what fires already, after its group_wait; the others get nothing again", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await tell(T0 + WAIT);
    const now = T0 + HOUR;
    const wake = await reroute(now, [old, added], to(old.id), to(added.id));
    expect(wake).toEqual(new Map([[added.id, now + WAIT]]));
    expect(await dueAt(testStore(), old.id)).toBe(T0 + WAIT + 4 * HOUR);
    const claim = await groups.claim(added, "t", now + WAIT, LEASE);
    expect(claim).toMatchObject({ kind: "group", alerts: [camera] });
  });

  it("is harmless when repeated", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await tell(T0 + WAIT);
    await reroute(T0 + HOUR, [old, added], to(old.id), to(added.id));
    const keys = await testStore().keys();
    expect(await reroute(T0 + HOUR + 1, [old, added], to(old.id), to(added.id))).toEqual(new Map());
    expect(await dueAt(testStore(), added.id)).toBe(T0 + HOUR + WAIT);
    expect(await testStore().keys()).toEqual(keys);
  });

  it("an alert leaves a group it is not routed to any more where nothing was notified", async () => {
    await commit(T0, fires(camera, to(old.id), to(added.id)));
    await reroute(T0 + SECOND, [old, added], to(old.id));
    expect(await places(testStore())).toEqual([`${old.id} g`]);
  });

  it("an integration that was notified keeps the alert, and gets its end", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await tell(T0 + WAIT);
    await reroute(T0 + HOUR, [old, added], to(added.id));
    expect(await places(testStore())).toEqual([`${added.id} g`, `${old.id} g`]);
    const wake = await commit(T0 + 2 * HOUR, ends(camera, T0 + 2 * HOUR));
    expect(wake.get(old.id)).toBe(T0 + 2 * HOUR);
  });

  it("another group_by moves the alert to its new group and repeats nothing", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await tell(T0 + WAIT);
    await reroute(T0 + HOUR, [old], to(old.id, "other"));
    expect(await places(testStore())).toEqual([`${old.id} other`]);
    const claim = await claimed(T0 + HOUR + WAIT, "t", old);
    expect([claim.group, [...claim.notified.keys()]]).toEqual(["other", [camera.id]]);
  });

  describe("while a message is under way", () => {
    const now = T0 + WAIT;
    /** Claims, lets `meanwhile` happen, and writes down that the message was accepted. */
    async function sending(meanwhile: () => Promise<unknown>): Promise<void> {
      await groups.claim(old, "t", now, LEASE);
      await meanwhile();
      await groups.settle(old, "t", [{ group: "g", settle: sentOf(now, [camera]) }]);
      expect(await groups.notified(old.id)).toHaveLength(1);
      await groups.settle(old, "t", [{ group: "g", settle: sentOf(now, [camera]) }]);
    }

    it("and another group_by moves its alert, the notification log keeps its entry", async () => {
      await commit(T0, fires(camera, to(old.id)));
      await sending(() => reroute(now, [old], to(old.id, "other")));
      expect(await places(testStore())).toEqual([`${old.id} other`]);
      const claim = await claimed(now + WAIT, "t2", old);
      expect([claim.group, [...claim.notified.keys()]]).toEqual(["other", [camera.id]]);
    });

    it("and no route leads there any more, its end is owed there", async () => {
      await commit(T0, fires(camera, to(old.id)));
      await sending(() => reroute(now, [old, added], to(added.id)));
      expect(await places(testStore())).toEqual([`${added.id} g`, `${old.id} g`]);
      const wake = await commit(T0 + HOUR, ends(camera, T0 + HOUR));
      expect(wake.get(old.id)).toBe(T0 + HOUR);
      expect((await claimed(T0 + HOUR, "t2", old)).alerts).toMatchObject([{ state: "resolved" }]);
    });

    it("and no route leads there any more, an end that comes meanwhile is owed group_interval later", async () => {
      await commit(T0, fires(camera, to(old.id)));
      await sending(async () => {
        await reroute(now, [old]);
        await commit(now, ends(camera, now));
      });
      const due = now + 5 * MINUTE;
      expect(await groups.claim(old, "t2", now, LEASE)).toEqual({ kind: "idle", until: due });
      expect([...(await claimed(due, "t2", old)).notified.keys()]).toEqual([camera.id]);
    });

    it("and its integration goes, its end is owed there", async () => {
      await commit(T0, fires(camera, to(old.id)));
      await sending(() => reroute(now, [added], to(added.id)));
      expect(await groups.notified(old.id)).toHaveLength(1);
      expect((await groups.knownIntegrations()).sort()).toEqual([added.id, old.id].sort());
      expect(await places(testStore())).toEqual([`${added.id} g`, `${old.id} g`]);
      const { redis, prefix } = testStore();
      expect(await redis.pttl(`{${prefix}}:grp:${old.id}:g`), "what is owed does not expire").toBe(-1);
    });

    it.each([
      ["and no route leads there any more, nothing is known there of what it found suppressed", added, []],
      ["and another group_by moves its alert, what it found suppressed stays known", old, [camera.id]],
    ])("%s", async (_, receiver, known) => {
      await commit(T0, fires(camera, to(old.id)));
      await groups.claim(old, "t", now, LEASE);
      await reroute(now, [old, added], to(receiver.id, "other"));
      const suppressed = new Map([[camera.id, { waiting: { isCovered: true } }]]);
      const settle = { now, sent: false, notified: [], known: suppressed, over: [], unnotified: [], nextAt: undefined };
      await groups.settle(old, "t", [{ group: "g", settle }]);
      const { redis, store } = testStore();
      expect(await redis.hkeys(store.keys.notificationLog(old.id))).toEqual(known);
    });

    it("and no route leads there any more, an end among hundreds of alerts is owed", async () => {
      const others = Array.from({ length: 250 }, (_, i) => firing(`cam${i}`));
      await commit(T0, ...[camera, ...others].map((alert) => fires(alert, to(old.id))));
      await groups.claim(old, "t", now, LEASE);
      await reroute(now, [old]);
      await commit(now, ends(camera, now));
      await groups.settle(old, "t", [{ group: "g", settle: sentOf(now, [camera, ...others]) }]);
      expect(await dueAt(testStore(), old.id)).toBe(now);
    });

    it("and no route leads there any more, a claim that is over brings nothing back", async () => {
      await commit(T0, fires(camera, to(old.id)));
      await groups.claim(old, "t", now, LEASE);
      await testStore().endLease(old.id);
      await groups.claim(old, "t2", now + LEASE, LEASE);
      await reroute(now + LEASE, [old, added], to(added.id));
      await groups.settle(old, "t", [{ group: "g", settle: sentOf(now, [camera]) }]);
      expect(await places(testStore())).toEqual([`${added.id} g`]);
    });

    it("and its integration is removed and its sender dies, nothing of it is kept for ever", async () => {
      await commit(T0, fires(camera, to(old.id)));
      await groups.claim(old, "t", now, LEASE);
      await reroute(now, [added]);
      await testStore().endLease(old.id);
      await reroute(now + HOUR, [added]);
      expect((await testStore().keys()).filter((key) => key.includes(old.id))).toEqual([]);
      expect(await groups.knownIntegrations()).toEqual([]);
    });
  });

  it("a shorter repeat_interval checks at once whether a reminder is due", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await tell(T0 + WAIT);
    const hourly = to(old.id, "g", { repeatIntervalMs: HOUR });
    const wake = await groups.reroute([{ id: camera.id, to: [hourly] }], [old.id], T0 + 2 * HOUR);
    expect(wake).toEqual(new Map([[old.id, T0 + 2 * HOUR]]));
    const claim = await groups.claim(old, "t", T0 + 2 * HOUR, LEASE);
    expect(claim).toMatchObject({ repeatIntervalMs: HOUR });
  });

  it("an alert that ended meanwhile goes nowhere new", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await commit(T0 + MINUTE, ends(camera, T0 + MINUTE));
    expect(await reroute(T0 + HOUR, [old, added], to(old.id), to(added.id))).toEqual(new Map());
    expect(await places(testStore())).toEqual([`${old.id} g`]);
  });

  it("nothing is kept of a removed integration that was never notified", async () => {
    await commit(T0, fires(camera, to(old.id)));
    const failure = { code: "not_found", detail: "Gone.", scope: "integration" } as const;
    await groups.claim(old, "t", T0 + WAIT, LEASE);
    await groups.settle(old, "t", [{ group: "g", postpone: { now: T0 + WAIT, at: T0 + HOUR, failure } }]);
    await reroute(T0 + HOUR, [added]);
    expect(await testStore().keys()).toEqual(["alerts", "shard:0"]);
    await commit(T0 + 2 * HOUR, ends(camera, T0 + 2 * HOUR));
    expect(await testStore().keys()).toEqual(["episodes", "shard:0"]);
  });

  it("an end owed to a removed integration is kept for its return", async () => {
    await commit(T0, fires(camera, to(old.id)));
    await tell(T0 + WAIT);
    await reroute(T0 + HOUR, [added]);
    await commit(T0 + 2 * HOUR, ends(camera, T0 + 2 * HOUR));
    await reroute(T0 + 3 * HOUR, [added]);
    expect(await groups.knownIntegrations()).toEqual([old.id]);
    expect(await groups.notified(old.id)).toHaveLength(1);
    const claim = await groups.claim(old, "t", T0 + 4 * HOUR, LEASE);
    expect(claim).toMatchObject({ kind: "group", alerts: [{ state: "resolved" }] });
  });
});
