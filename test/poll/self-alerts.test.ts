import { expect, it, vi } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createSelfAlerts } from "../../src/poll/self-alerts.ts";
import { ServiceError } from "../../src/service/service.ts";
import { rule } from "../health/shard-history.ts";
import { rootRoute } from "../http/serve.ts";
import { committer, fires, firing, HOUR, integration, SECOND, slack, T0, to, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, commitOf, STEP } from "./rig.ts";

const INTERVALS = {
  intervalMs: STEP,
  uptimeIntervalMs: HOUR,
  inventoryIntervalMs: HOUR,
  countsIntervalMs: HOUR / 6,
  requestTimeoutMs: 20 * SECOND,
};
const mail = integration("ops/email/0/a@example.com", { type: "email" });
const rules = [
  rule("ServiceUnreachable", { kind: "service", state: "unreachable" }),
  rule("ServicePartlyUnreachable", { kind: "service", state: "partly_unreachable" }),
  rule("NotificationsFailing", { kind: "notifications", state: "failing" }),
];

describeWithRedis("judging the service and the notifications", () => {
  const testStore = useTestStore();

  function judgeOf(integrations = [slack, mail], checkStatus = async () => {}) {
    const { store } = testStore();
    const clock = { at: T0 };
    const assigned = createAssigned();
    assigned.set(new Map([["north", 0]]));
    const woken: string[] = [];
    const judge = createSelfAlerts({
      clock: clockOf(clock),
      store: store.shards,
      selfAlerts: store.selfAlerts,
      inventory: store.inventory,
      groups: store.groups,
      firing: store.firing,
      assigned,
      service: { checkStatus },
      rules,
      ...INTERVALS,
      integrations,
      commit: commitOf({ route: { ...rootRoute, groupBy: [], groupWaitMs: 0 }, integrations }, woken),
    });
    const { noteAttempt } = store.shards;
    /** So many rounds, an interval after one another, before each of which these attempts are noted. */
    const rounds = async (count: number, attempts: Readonly<Record<string, string | undefined>>) => {
      for (let i = 0; i < count; i++, clock.at += STEP) {
        for (const [subject, error] of Object.entries(attempts)) await noteAttempt(subject, clock.at, error);
        await judge();
      }
    };
    return { judge, rounds, clock, woken, store };
  }

  const alerts = async () => (await testStore().store.shards.alerts()).map(({ key, state }) => `${key} ${state}`);

  it("what fires goes on as the same episode where its state was lost", async () => {
    const { rounds, store } = judgeOf();
    await rounds(1, { "shard:0": "No answer.", inventory: undefined });
    const before = (await store.shards.alerts()).map(({ id }) => id);
    await testStore().redis.del(store.keys.fleet);
    await rounds(1, { "shard:0": "No answer.", inventory: undefined });
    expect((await store.shards.alerts()).map(({ id }) => id)).toEqual(before);
    await rounds(1, { "shard:0": undefined, inventory: undefined });
    expect(await store.firing()).toEqual([]);
  });

  it("no shard with a good last sweep is blindness, told to everybody, and over with the next good one", async () => {
    const { rounds, woken } = judgeOf();
    await rounds(1, { "shard:0": "No answer." });
    expect(await alerts(), "not for long enough").toEqual([]);
    await rounds(4, { "shard:0": "No answer." });
    expect(await alerts()).toEqual(["ServiceUnreachable/service/analytics firing"]);
    expect(woken.sort()).toEqual([mail.id, slack.id]);
    await rounds(1, { "shard:0": undefined });
    expect(await alerts()).toEqual(["ServiceUnreachable/service/analytics resolved"]);
  });

  it("asks the service for its health at every evaluation, once at a time, without waiting for it", async () => {
    const asked: PromiseWithResolvers<void>[] = [];
    const { judge, store, clock } = judgeOf([slack], () => {
      const one = Promise.withResolvers<void>();
      asked.push(one);
      return one.promise;
    });
    const health = async () => (await store.shards.attempts()).get("health");
    await judge();
    await judge();
    expect(asked).toHaveLength(1);
    expect(await health()).toBeUndefined();
    asked[0]?.resolve();
    await vi.waitUntil(async () => (await health())?.goodAt === T0);
    clock.at += STEP;
    await judge();
    asked[1]?.reject(new ServiceError("unavailable", "Closed for repairs."));
    await vi.waitUntil(async () => (await health())?.error === "Closed for repairs.");
    expect(await health()).toMatchObject({ goodAt: T0, attemptedAt: T0 + STEP });
    await judge();
    asked[2]?.reject(new ServiceError("closed", "The client was closed."));
    await vi.waitUntil(async () => {
      await judge();
      return asked.length === 4;
    });
    expect((await health())?.error).toBe("Closed for repairs.");
  });

  it("counts of a shard that cannot be read make the service partly unreachable", async () => {
    const { rounds } = judgeOf();
    const good = { "shard:0": undefined, "uptime:0": undefined };
    await rounds(61, { ...good, "counts:0": "You may not read counts." });
    expect(await alerts()).toEqual(["ServicePartlyUnreachable/service/analytics firing"]);
    await rounds(1, { ...good, "counts:0": undefined });
    expect(await alerts()).not.toContain("ServicePartlyUnreachable/service/analytics firing");
  });

  it("a failing integration is told by the others alone, and configured no more it fails no more", async () => {
    const { judge, store, woken } = judgeOf();
    await committer(testStore())(T0, fires(firing("cam"), to(slack.id, "g", { groupWaitMs: 0 })));
    await store.groups.claim(slack, "t", T0, 1_000);
    const failure = { code: "not_found", detail: "It is gone.", scope: "endpoint" } as const;
    await store.groups.settle(slack, "t", [{ group: "g", postpone: { now: T0, at: T0 + HOUR, failure } }]);
    await judge();
    expect(woken).toEqual([mail.id]);
    const failing = (await store.shards.alerts()).find(({ ruleId }) => ruleId === "NotificationsFailing");
    expect(failing).toMatchObject({ subject: { kind: "integration", id: slack.id }, facts: { detail: "It is gone." } });
    const later = judgeOf([mail]);
    later.clock.at += STEP;
    await later.judge();
    expect(await store.episodes.endedSince(0)).toMatchObject([{ endReason: "no_longer_watched" }]);
  });

  it("leaves a trace of each judgement", async () => {
    const { judge, store, clock } = judgeOf();
    await Promise.all([judge(), judge()]);
    clock.at += STEP;
    await judge();
    const fleet = { goodAt: T0 + STEP, attemptedAt: T0 + STEP, since: 0 };
    expect((await store.shards.attempts()).get("fleet")).toEqual(fleet);
  });
});
