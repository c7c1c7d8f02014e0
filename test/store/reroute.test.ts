import { describe, expect, it } from "vitest";
import type { NotificationLogEntry } from "../../src/alerting/notification.ts";
import type { Destination } from "../../src/alerting/route.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  camera,
  ends,
  fires,
  HOUR,
  integration,
  LEASE,
  MINUTE,
  type Room,
  rememberer,
  SECOND,
  T0,
  to,
  useRoom,
  WAIT,
} from "./fixtures.ts";

const old = integration("ops/slack/0");
const added = integration("new/slack/0");

async function tell(room: Room, now: number, who = old, group = "g"): Promise<void> {
  const { groups } = room.store;
  const claim = await groups.claim(who, "t", now, LEASE);
  if (claim.kind !== "group" || claim.group !== group) throw new Error(JSON.stringify(claim));
  const notified: NotificationLogEntry[] = claim.alerts.map((alert) => ({
    alert,
    notifiedAt: now,
    groupId: group,
  }));
  const outcome = { now, sent: true, notified, over: [], unnotified: [], nextAt: now + 4 * HOUR };
  await groups.settle(who, group, "t", outcome);
}

const dueAt = async (room: Room, id: string) => (await room.store.groups.nextDue([id])).get(id);
const places = async (room: Room, id = camera.id) =>
  (await room.redis.smembers(`{${room.prefix}}:in:${id}`)).map((place) => place.replace("\n", " ")).sort();

describeWithRedis("another configuration after a restart", () => {
  const room = useRoom();

  const reroute = (now: number, here: readonly { id: string }[], ...wanted: Destination[]) =>
    room().store.groups.reroute(
      [{ id: camera.id, to: wanted }],
      here.map(({ id }) => id),
      now,
    );

  it("an integration that is new hears of what fires already, after its group_wait; the others hear nothing again", async () => {
    await rememberer(room())(T0, fires(camera, to(old.id)));
    await tell(room(), T0 + WAIT);
    const now = T0 + HOUR;
    const wake = await reroute(now, [old, added], to(old.id), to(added.id));
    expect(wake).toEqual(new Map([[added.id, now + WAIT]]));
    expect(await dueAt(room(), old.id)).toBe(T0 + WAIT + 4 * HOUR);
    const claim = await room().store.groups.claim(added, "t", now + WAIT, LEASE);
    expect(claim).toMatchObject({ kind: "group", alerts: [camera], dueSince: now + WAIT });
  });

  it("is harmless when repeated", async () => {
    await rememberer(room())(T0, fires(camera, to(old.id)));
    await tell(room(), T0 + WAIT);
    await reroute(T0 + HOUR, [old, added], to(old.id), to(added.id));
    const keys = await room().keys();
    expect(await reroute(T0 + HOUR + 1, [old, added], to(old.id), to(added.id))).toEqual(new Map());
    expect(await dueAt(room(), added.id)).toBe(T0 + HOUR + WAIT);
    expect(await room().keys()).toEqual(keys);
  });

  it("a place no route leads to any more is left where nothing was told", async () => {
    await rememberer(room())(T0, fires(camera, to(old.id), to(added.id)));
    await reroute(T0 + SECOND, [old, added], to(old.id));
    expect(await places(room())).toEqual([`${old.id} g`]);
  });

  it("who was told keeps the place, and is told the end", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(old.id)));
    await tell(room(), T0 + WAIT);
    await reroute(T0 + HOUR, [old, added], to(added.id));
    expect(await places(room())).toEqual([`${added.id} g`, `${old.id} g`]);
    const wake = await commit(T0 + 2 * HOUR, ends(camera, T0 + 2 * HOUR));
    expect(wake.get(old.id)).toBe(T0 + 2 * HOUR);
  });

  it("another group_by moves the alert to its new group and tells nothing again", async () => {
    await rememberer(room())(T0, fires(camera, to(old.id)));
    await tell(room(), T0 + WAIT);
    await reroute(T0 + HOUR, [old], to(old.id, "other"));
    expect(await places(room())).toEqual([`${old.id} other`]);
    const { groups } = room().store;
    const claim = await groups.claim(old, "t", T0 + HOUR + WAIT, LEASE);
    if (claim.kind !== "group") throw new Error(claim.kind);
    expect([claim.group, [...claim.notified.keys()]]).toEqual(["other", [camera.id]]);
  });

  describe("while a message is under way", () => {
    const now = T0 + WAIT;
    /** Claims, lets `meanwhile` happen, and writes down that the message was accepted. */
    async function sending(meanwhile: () => Promise<unknown>): Promise<void> {
      const { groups } = room().store;
      await groups.claim(old, "t", now, LEASE);
      await meanwhile();
      const notified: NotificationLogEntry[] = [{ alert: camera, notifiedAt: now, groupId: "g" }];
      const outcome = { now, sent: true, notified, over: [], unnotified: [], nextAt: now + 4 * HOUR };
      await groups.settle(old, "g", "t", outcome);
      await groups.settle(old, "g", "t", outcome);
    }
    const claimed = async (at: number) => {
      const claim = await room().store.groups.claim(old, "t2", at, LEASE);
      if (claim.kind !== "group") throw new Error(JSON.stringify(claim));
      return claim;
    };

    it("and another group_by moves its alert, what was told stays told", async () => {
      await rememberer(room())(T0, fires(camera, to(old.id)));
      await sending(() => reroute(now, [old], to(old.id, "other")));
      expect(await places(room())).toEqual([`${old.id} other`]);
      const claim = await claimed(now + WAIT);
      expect([claim.group, [...claim.notified.keys()]]).toEqual(["other", [camera.id]]);
    });

    it("and no route leads there any more, its end is owed there", async () => {
      const commit = rememberer(room());
      await commit(T0, fires(camera, to(old.id)));
      await sending(() => reroute(now, [old, added], to(added.id)));
      expect(await places(room())).toEqual([`${added.id} g`, `${old.id} g`]);
      const wake = await commit(T0 + HOUR, ends(camera, T0 + HOUR));
      expect(wake.get(old.id)).toBe(T0 + HOUR);
      expect((await claimed(T0 + HOUR)).alerts).toMatchObject([{ state: "resolved" }]);
    });

    it("and no route leads there any more, an end that comes meanwhile is owed at once", async () => {
      const commit = rememberer(room());
      await commit(T0, fires(camera, to(old.id)));
      await sending(async () => {
        await reroute(now, [old]);
        await commit(now, ends(camera, now));
      });
      expect(await dueAt(room(), old.id)).toBe(now);
      expect([...(await claimed(now)).notified.keys()]).toEqual([camera.id]);
    });

    it("and its integration goes, its end is owed there", async () => {
      await rememberer(room())(T0, fires(camera, to(old.id)));
      await sending(() => reroute(now, [added], to(added.id)));
      const { groups } = room().store;
      expect(await groups.notified(old.id)).toHaveLength(1);
      expect((await groups.knownIntegrations()).sort()).toEqual([added.id, old.id].sort());
      expect(await places(room())).toEqual([`${added.id} g`, `${old.id} g`]);
    });

    it("and its integration goes with who sends it, nothing of it is kept for ever", async () => {
      await rememberer(room())(T0, fires(camera, to(old.id)));
      await room().store.groups.claim(old, "t", now, LEASE);
      await reroute(now, [added]);
      const { redis, prefix } = room();
      expect(await redis.pttl(`{${prefix}}:grp:${old.id}:g`)).toBeGreaterThan(0);
      expect(await dueAt(room(), old.id)).toBeUndefined();
    });
  });

  it("a shorter repeat_interval looks at once whether a reminder is due", async () => {
    await rememberer(room())(T0, fires(camera, to(old.id)));
    await tell(room(), T0 + WAIT);
    const hourly = to(old.id, "g", { repeatIntervalMs: HOUR });
    expect(await reroute(T0 + 2 * HOUR, [old], hourly)).toEqual(new Map([[old.id, T0 + 2 * HOUR]]));
    const claim = await room().store.groups.claim(old, "t", T0 + 2 * HOUR, LEASE);
    expect(claim).toMatchObject({ repeatIntervalMs: HOUR, dueSince: undefined });
  });

  it("a group that lost its due time gets one again", async () => {
    await rememberer(room())(T0, fires(camera, to(old.id)));
    await room().redis.del(`{${room().prefix}}:due:${old.id}`);
    await reroute(T0 + MINUTE, [old], to(old.id));
    expect(await dueAt(room(), old.id)).toBe(T0 + MINUTE + WAIT);
  });

  it("an alert that ended meanwhile goes nowhere new", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(old.id)));
    await commit(T0 + MINUTE, ends(camera, T0 + MINUTE));
    expect(await reroute(T0 + HOUR, [old, added], to(old.id), to(added.id))).toEqual(new Map());
    expect(await places(room())).toEqual([`${old.id} g`]);
  });

  it("of an integration that is gone and was told nothing, nothing is kept", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(old.id)));
    const { groups } = room().store;
    const failure = { code: "not_found", detail: "Gone.", scope: "integration" } as const;
    await groups.claim(old, "t", T0 + WAIT, LEASE);
    await groups.postpone(old, "g", "t", { now: T0 + WAIT, at: T0 + HOUR, failure });
    await reroute(T0 + HOUR, [added]);
    expect(await room().keys()).toEqual(["alerts", "shard:0"]);
    await commit(T0 + 2 * HOUR, ends(camera, T0 + 2 * HOUR));
    expect(await room().keys()).toEqual(["incidents", "shard:0"]);
  });

  it("an end owed to an integration that is gone is kept for its return", async () => {
    const commit = rememberer(room());
    await commit(T0, fires(camera, to(old.id)));
    await tell(room(), T0 + WAIT);
    await reroute(T0 + HOUR, [added]);
    await commit(T0 + 2 * HOUR, ends(camera, T0 + 2 * HOUR));
    await reroute(T0 + 3 * HOUR, [added]);
    const { groups } = room().store;
    expect(await groups.knownIntegrations()).toEqual([old.id]);
    expect(await groups.notified(old.id)).toHaveLength(1);
    const claim = await groups.claim(old, "t", T0 + 4 * HOUR, LEASE);
    expect(claim).toMatchObject({ kind: "group", alerts: [{ state: "resolved" }] });
  });
});
