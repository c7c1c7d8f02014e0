import { expect, it } from "vitest";
import type { NotificationLogEntry } from "../../src/alerting/model.ts";
import { destinationsOf } from "../../src/alerting/route.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import { createRerouting } from "../../src/poll/reroute.ts";
import { rootRoute } from "../http/serve.ts";
import { committer, fires, firing, HOUR, integration, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const old = integration("ops/slack/0");
const added = integration("ops/slack/1");
const route = { ...rootRoute, groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: HOUR };

describeWithRedis("the alerts remembered at a start", () => {
  const testStore = useTestStore();

  function start(integrations: readonly (typeof old)[]) {
    const woken = new Map<string, number>();
    const warned: object[] = [];
    const counted: unknown[][] = [];
    const rerouting = createRerouting({
      clock: { now: () => T0 + HOUR },
      log: Object.assign(Object.create(silentLogger), { warn: (facts: object) => void warned.push(facts) }),
      store: testStore().store,
      owed: (...count) => void counted.push(count),
      integrations,
      statusIntervalMs: 30_000,
      isActive: async () => true,
      commit: createCommit({
        log: silentLogger,
        route,
        integrations,
        wake: async (due) => {
          for (const [id, at] of due) woken.set(id, at);
        },
      }),
    });
    return rerouting.begin(new Set()).then(() => ({ woken, warned, counted }));
  }

  it("all get their places, however many, and an alert about an integration never that one", async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => firing(`cam-${i}`));
    const failing = { ...firing("failing"), subject: { kind: "integration" as const, id: added.id } };
    const changes = [...many, failing].map((alert) => fires(alert, ...destinationsOf(alert, route, [old])));
    await committer(testStore())(T0, ...changes);
    const { woken } = await start([old, added]);
    expect(woken).toEqual(new Map([[added.id, T0 + HOUR]]));
    const claim = await testStore().store.groups.claim(added, "t", T0 + HOUR, 1_000);
    expect(claim.kind === "group" && claim.alerts).toHaveLength(1_200);
  });

  /** An alert that the old integration was told of. */
  async function tellOld(more: Partial<NotificationLogEntry> = {}) {
    const camera = firing("cam");
    await committer(testStore())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    const { groups } = testStore().store;
    const claim = await groups.claim(old, "t", T0, 1_000);
    if (claim.kind !== "group") throw new Error(claim.kind);
    await groups.settle(old, claim.group, "t", {
      now: T0,
      sent: true,
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
    const story = await testStore().store.log.read([camera.subject], 0);
    expect(story).toMatchObject([{ reason: "owed_nowhere", integration: old.id, ruleId: camera.ruleId }]);
  });

  it("nothing remembered is nothing to do", async () => {
    expect(await start([old])).toEqual({ woken: new Map(), warned: [], counted: [] });
    expect(await testStore().keys()).toEqual([]);
  });

  it("by somebody who did not know yet that another configuration is in force, get their places soon after", async () => {
    const clock = { at: T0 };
    let isActive = true;
    const { groups } = testStore().store;
    const woken: string[] = [];
    const rerouting = createRerouting({
      clock: { now: () => clock.at },
      log: silentLogger,
      store: testStore().store,
      owed: () => {},
      integrations: [added],
      statusIntervalMs: 30_000,
      isActive: async () => isActive,
      commit: createCommit({
        log: silentLogger,
        route,
        integrations: [added],
        wake: async (due) => void woken.push(...due.keys()),
      }),
    });
    await rerouting.repeatWhenDue();
    await rerouting.begin(new Set());
    const camera = firing("cam");
    await committer(testStore())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    clock.at = T0 + 59_999;
    await rerouting.repeatWhenDue();
    expect(woken).toEqual([]);
    clock.at += 1;
    isActive = false;
    await rerouting.repeatWhenDue();
    expect(woken).toEqual([]);
    isActive = true;
    await rerouting.repeatWhenDue();
    expect(woken).toEqual([added.id]);
    expect([...(await groups.nextDue([old.id, added.id])).keys()]).toEqual([added.id]);
    await committer(testStore(), 1)(clock.at, fires(firing("other"), ...destinationsOf(camera, route, [old])));
    await rerouting.repeatWhenDue();
    expect(woken).toEqual([added.id]);
  });
});
