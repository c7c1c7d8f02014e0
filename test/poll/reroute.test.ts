import { expect, it } from "vitest";
import { destinationsOf } from "../../src/alerting/destinations.ts";
import type { NotificationLogEntry } from "../../src/alerting/notification-log.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRerouting, reroute } from "../../src/poll/reroute.ts";
import { fires, firing, HOUR, integration, rememberer, T0, useRoom } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const old = integration("ops/slack/0");
const added = integration("ops/slack/1");
const route = {
  key: "{}",
  receiver: "ops",
  matchers: [],
  continue: false,
  groupBy: ["location_id"],
  groupWaitMs: 0,
  groupIntervalMs: 0,
  repeatIntervalMs: HOUR,
  routes: [],
};

describeWithRedis("the alerts remembered at a start", () => {
  const room = useRoom();

  function start(integrations: readonly (typeof old)[]) {
    const woken = new Map<string, number>();
    const warned: object[] = [];
    const { shards, groups, log: decisionLog } = room().store;
    const counted: unknown[][] = [];
    const done = reroute({
      clock: { now: () => T0 + HOUR },
      log: Object.assign(Object.create(silentLogger), { warn: (facts: object) => void warned.push(facts) }),
      store: shards,
      groups,
      decisionLog,
      owed: (...count) => void counted.push(count),
      route,
      integrations,
      wake: async (due) => {
        for (const [id, at] of due) woken.set(id, at);
      },
    });
    return done.then(() => ({ woken, warned, counted }));
  }

  it("all get their places, however many, and an alert about an integration never that one", async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => firing(`cam-${i}`));
    const failing = { ...firing("failing"), subject: { kind: "integration" as const, id: added.id } };
    const changes = [...many, failing].map((alert) => fires(alert, ...destinationsOf(alert, route, [old])));
    await rememberer(room())(T0, ...changes);
    const { woken } = await start([old, added]);
    expect(woken).toEqual(new Map([[added.id, T0 + HOUR]]));
    const claim = await room().store.groups.claim(added, "t", T0 + HOUR, 1_000);
    expect(claim.kind === "group" && claim.alerts).toHaveLength(1_200);
  });

  /** An alert that the old integration was told of. */
  async function tellOld(more: Partial<NotificationLogEntry> = {}) {
    const camera = firing("cam");
    await rememberer(room())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    const { groups } = room().store;
    const claim = await groups.claim(old, "t", T0, 1_000);
    if (claim.kind !== "group") throw new Error(claim.kind);
    await groups.settle(old, claim.group, "t", {
      now: T0,
      said: true,
      notified: [{ alert: camera, notifiedAt: T0, groupId: claim.group, ...more }],
      over: [],
      unnotified: [],
      nextAt: T0 + HOUR,
    });
    return camera;
  }

  it("an end that is only to be sent again is owed to nobody", async () => {
    await tellOld({ endNotifiedAt: T0 });
    expect(await start([added])).toMatchObject({ warned: [], counted: [] });
  });

  it("what is owed to an integration that is gone is said by name; where nothing is, nothing is said", async () => {
    const camera = await tellOld();
    expect((await start([old])).warned).toEqual([]);
    const { warned, counted } = await start([added]);
    expect(warned).toEqual([{ integration: old.id, owed: 1, alerts: ["cam"] }]);
    expect(counted).toEqual([["ops", "slack", 1]]);
    const story = await room().store.log.read([camera.subject], 0);
    expect(story).toMatchObject([{ reason: "owed_nowhere", integration: old.id, ruleId: camera.ruleId }]);
  });

  it("nothing remembered is nothing to do", async () => {
    expect(await start([old])).toEqual({ woken: new Map(), warned: [], counted: [] });
    expect(await room().keys()).toEqual([]);
  });

  it("by somebody who did not know yet that another configuration is in force, get their places soon after", async () => {
    const clock = { at: T0 };
    let inForce = true;
    const { shards, groups, log: decisionLog } = room().store;
    const woken: string[] = [];
    const rerouting = createRerouting({
      clock: { now: () => clock.at },
      log: silentLogger,
      store: shards,
      groups,
      decisionLog,
      owed: () => {},
      route,
      integrations: [added],
      statusIntervalMs: 30_000,
      isInForce: async () => inForce,
      wake: async (due) => void woken.push(...due.keys()),
    });
    await rerouting.look();
    await rerouting.begin(new Set());
    const camera = firing("cam");
    await rememberer(room())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    clock.at = T0 + 59_999;
    await rerouting.look();
    expect(woken).toEqual([]);
    clock.at += 1;
    inForce = false;
    await rerouting.look();
    expect(woken).toEqual([]);
    inForce = true;
    await rerouting.look();
    expect(woken).toEqual([added.id]);
    expect([...(await groups.nextDue([old.id, added.id])).keys()]).toEqual([added.id]);
    await rememberer(room(), 1)(clock.at, fires(firing("other"), ...destinationsOf(camera, route, [old])));
    await rerouting.look();
    expect(woken).toEqual([added.id]);
  });
});
