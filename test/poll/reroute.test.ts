import { expect, it } from "vitest";
import type { NotifiedEntry } from "../../src/alerting/model.ts";
import { destinationsOf } from "../../src/alerting/route.ts";
import { createRetirements } from "../../src/app/retirements.ts";
import type { Runtime } from "../../src/app/runtime.ts";
import type { Setup } from "../../src/app/setup.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRerouting } from "../../src/poll/reroute.ts";
import type { Check } from "../../src/store/transact.ts";
import { rootRoute } from "../http/serve.ts";
import { committer, fires, firing, HOUR, integration, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, commitOf } from "./rig.ts";

const old = integration("ops/slack/0");
const added = integration("ops/slack/1");
const route = { ...rootRoute, groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: HOUR };

describeWithRedis("the alerts remembered at a start", () => {
  const testStore = useTestStore();

  function rerouting(integrations: readonly (typeof old)[], clock: { at: number }, check?: Check) {
    const told = { woken: [] as string[], warned: [] as object[], counted: [] as unknown[][] };
    const log = Object.assign(Object.create(silentLogger), { warn: (facts: object) => void told.warned.push(facts) });
    const owed = (...count: unknown[]) => void told.counted.push(count);
    const deps = { clock: clockOf(clock), log, store: testStore().store, owed };
    const commit = commitOf({ integrations, route }, told.woken);
    const made = createRerouting({ ...deps, commit, integrations, checkActive: () => check });
    return { ...made, ...told, deps };
  }

  async function start(...integrations: readonly (typeof old)[]) {
    const { begin, deps, ...told } = rerouting(integrations, { at: T0 + HOUR });
    await begin(new Set());
    return { ...told, deps };
  }

  it("all get their places, however many, and an alert about an integration never that one", async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => firing(`cam-${i}`));
    const failing = { ...firing("failing"), subject: { kind: "integration" as const, id: added.id } };
    const changes = [...many, failing].map((alert) => fires(alert, ...destinationsOf(alert, route, [old])));
    await committer(testStore())(T0, ...changes);
    const { woken } = await start(old, added);
    expect(new Set(woken)).toEqual(new Set([old.id, added.id]));
    const claim = await testStore().store.groups.claim(added, "t", T0 + HOUR, 1_000);
    expect(claim.kind === "group" && claim.alerts).toHaveLength(1_200);
  });

  /** An alert that the old integration was told of. */
  async function tellOld(more: Partial<NotifiedEntry> = {}) {
    const camera = firing("cam");
    await committer(testStore())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    const { groups } = testStore().store;
    const claim = await groups.claim(old, "t", T0, 1_000);
    if (claim.kind !== "group") throw new Error(claim.kind);
    await groups.settle(old, "t", [
      {
        group: claim.group,
        settle: {
          now: T0,
          sent: true,
          notified: [{ alert: camera, notifiedAt: T0, groupId: claim.group, ...more }],
          over: [],
          unnotified: [],
          nextAt: T0 + HOUR,
        },
      },
    ]);
    return camera;
  }

  it("an end that is only to be sent again is owed to nobody", async () => {
    await tellOld({ endNotifiedAt: T0 });
    expect(await start(added)).toMatchObject({ warned: [], counted: [] });
  });

  it("what is owed to an integration that is gone is said by name; where nothing is, nothing is said", async () => {
    const camera = await tellOld();
    expect((await start(old)).warned).toEqual([]);
    const { warned, counted } = await start(added);
    expect(warned).toEqual([{ integration: old.id, owed: 1, alerts: ["cam"] }]);
    expect(counted).toEqual([["ops", "slack", 1]]);
    const story = await testStore().store.log.read([camera.subject], 0);
    expect(story).toMatchObject([{ reason: "owed_nowhere", integration: old.id, ruleId: camera.ruleId }]);
  });

  it("what an integration that was removed at a reload could not send is said too", async () => {
    await tellOld();
    const { deps, warned, counted } = await start(old);
    const active = new Set<string>();
    const runtime = {
      ...deps,
      metrics: { resolvedOwed: deps.owed },
      replicas: { active: () => active },
    } as unknown as Runtime;
    const setup = { senders: { list: [old] } } as unknown as Setup;
    const retire = (isConfigured: boolean) =>
      createRetirements(runtime, new AbortController().signal, () => isConfigured).run(setup, [old.id]);
    await retire(false);
    expect(warned, "it may be configured in the active one").toEqual([]);
    active.add("notify");
    for (const isConfigured of [true, false]) await retire(isConfigured);
    expect(warned).toEqual([{ integration: old.id, owed: 1, alerts: ["cam"] }]);
    expect(counted).toEqual([["ops", "slack", 1]]);
  });

  it("nothing remembered is nothing to do", async () => {
    expect(await start(old)).toMatchObject({ woken: [], warned: [], counted: [] });
    expect(await testStore().keys()).toEqual([]);
  });

  it("are looked at anew once by each configuration, and are not where it was loaded before", async () => {
    const { groups, replicas } = testStore().store;
    const camera = firing("cam");
    await committer(testStore())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    const load = async (hash: string, at: number) => {
      await testStore().redis.hset(testStore().store.keys.active, "poll", hash);
      await rerouting([old], { at }, replicas.checkActive("poll", hash)).begin(new Set());
      return (await groups.nextDue([old.id])).get(old.id);
    };
    const due = (await groups.nextDue([old.id])).get(old.id);
    const times = [await load("one", T0 - 9), await load("one", T0 - 19), await load("two", T0 - 29)];
    expect([due, ...times]).toEqual([due, T0 - 9, T0 - 9, T0 - 29]);
  });

  it("are left where they are by one that is not active any more, and no evaluation of it is stored", async () => {
    const { groups, shards, keys, replicas } = testStore().store;
    const camera = firing("cam");
    await committer(testStore())(T0, fires(camera, ...destinationsOf(camera, route, [old])));
    await testStore().redis.hset(keys.active, "poll", "later");
    const only = replicas.checkActive("poll", "earlier");
    const { begin, woken } = rerouting([added], { at: T0 + HOUR }, only);
    await begin(new Set());
    expect([woken, [...(await groups.nextDue([old.id, added.id])).keys()]]).toEqual([[], [old.id]]);
    const input = { key: keys.shard(9), expected: "", document: "[]", now: T0, changes: [] };
    expect(await shards.commit({ ...input, only })).toEqual({ outcome: "lost" });
    expect(await shards.commit({ ...input, only: replicas.checkActive("poll", "later") })).toMatchObject({
      outcome: "stored",
    });
  });
});
