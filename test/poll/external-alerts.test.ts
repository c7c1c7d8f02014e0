import { beforeEach, expect, it } from "vitest";
import type { SentAlert } from "../../src/alerting/external-alerts.ts";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createExternalAlerts, MAX_EXTERNAL_ALERTS } from "../../src/poll/external-alerts.ts";
import type { Store } from "../../src/store/store.ts";
import { rootRoute } from "../http/serve.ts";
import { MINUTE, SECOND, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, commitOf } from "./rig.ts";

const sent = (instance: string, endsAt = T0 + 4 * MINUTE): [string, SentAlert] => {
  const labels = { alertname: "DiskFull", instance };
  const alert = { labels, annotations: {}, startsAt: T0, endsAt, isTimeout: false, generatorUrl: undefined };
  return [fingerprint(labels), alert];
};

describeWithRedis("alerts from outside", () => {
  const testStore = useTestStore();
  const clock = { at: T0 };
  beforeEach(() => {
    clock.at = T0;
  });

  function externalAlertsOf(
    store: Store = testStore().store,
    differing: Partial<Parameters<typeof createExternalAlerts>[0]> = {},
  ) {
    const woken: string[] = [];
    const asked: number[] = [];
    const externalAlerts = createExternalAlerts({
      clock: clockOf(clock),
      log: silentLogger,
      store,
      commit: commitOf({ route: { ...rootRoute, groupBy: ["alertname"] } }, woken),
      commitIfActive: store.shards.commit,
      statusIntervalMs: 30 * SECOND,
      requestEvaluation: async () => void asked.push(clock.at),
      ...differing,
    });
    return { ...externalAlerts, woken, asked };
  }

  const alerts = async () =>
    (await testStore().store.shards.alerts())
      .map(({ labels, state, endReason = "" }) => `${labels.instance} ${state} ${endReason}`.trim())
      .sort();
  const committed = async () =>
    [...(await testStore().replica().externalAlerts.read()).state.values()].map(({ labels }) => labels.instance);

  it("are due in their group once they are judged, and leave nothing behind once their end is settled", async () => {
    const { accept, evaluate, woken, asked } = externalAlertsOf();
    expect(await accept([sent("a"), sent("b")])).toEqual({ outcome: "taken", refused: 0, most: MAX_EXTERNAL_ALERTS });
    expect([asked, woken, await alerts()]).toEqual([[T0], [], []]);
    await evaluate();
    expect([woken, await alerts()]).toEqual([["ops/slack/0"], ["a firing", "b firing"]]);
    const { groups } = testStore().store;
    expect((await groups.nextDue(["ops/slack/0"])).get("ops/slack/0")).toBe(T0 + rootRoute.groupWaitMs);
    await accept([sent("a", T0)]);
    await evaluate();
    expect(await alerts()).toEqual(["a resolved recovered", "b firing"]);
    for (; clock.at < T0 + 4 * MINUTE; clock.at += 30 * SECOND) {
      await evaluate();
      expect(await alerts()).toContain("b firing");
    }
    await evaluate();
    expect(await alerts()).toContain("b resolved expired");
    expect(await committed()).toEqual([]);
    const ended = await testStore().store.episodes.endedSince(T0);
    expect(ended.map(({ endReason }) => endReason)).toEqual(["recovered", "expired"]);
    const lines = await testStore().store.log.read([{ kind: "external", id: sent("b")[0] }], 0);
    expect(lines.map(({ reason }) => reason)).toEqual(["firing", "expired"]);
  });

  it("sent to many replicas at once are all taken, and each fires once", async () => {
    const replicas = Array.from({ length: 4 }, () => externalAlertsOf(testStore().replica()));
    await Promise.all(
      replicas.flatMap(({ accept, evaluate }, i) => [
        ...["a", "b", "c"].map((name) => accept([sent(name), sent(`${name}${i}`)])),
        evaluate(),
      ]),
    );
    await Promise.all(replicas.map(({ evaluate }) => evaluate()));
    expect(await committed()).toHaveLength(15);
    expect(await alerts()).toHaveLength(15);
    const lines = await testStore().store.log.read([{ kind: "external", id: sent("a")[0] }], 0);
    expect(lines.map(({ reason }) => reason)).toEqual(["firing"]);
  });

  it("are judged only by whom the configuration in force is at; who is not gives up soon", async () => {
    let tried = 0;
    const commitIfActive = async () => ({ outcome: "lost" as const, tried: tried++ });
    const old = externalAlertsOf(testStore().store, { commitIfActive });
    await old.accept([sent("a")]);
    await old.evaluate();
    expect(tried).toBeGreaterThan(0);
    expect(await alerts()).toEqual([]);
    await externalAlertsOf(testStore().replica()).evaluate();
    expect(await alerts()).toEqual(["a firing"]);
  });

  /** Somebody is there in time, takes what these send, and is away from then on. */
  async function begun(...instances: string[]) {
    const before = externalAlertsOf();
    await before.accept(instances.map((instance) => sent(instance)));
    await before.evaluate();
  }

  it("do not expire for five minutes after everybody was away, and then they do", async () => {
    await begun("a", "over", "again");
    clock.at = T0 + 10 * MINUTE;
    const after = externalAlertsOf(testStore().replica());
    await after.begin(T0 + MINUTE);
    await after.evaluate();
    expect(await alerts()).toEqual(["a firing", "again firing", "over firing"]);
    await after.accept([sent("over", clock.at), sent("again", T0 + 20 * MINUTE)]);
    for (; clock.at < T0 + 15 * MINUTE; clock.at += 30 * SECOND) {
      await after.evaluate();
      expect(await alerts()).toEqual(["a firing", "again firing", "over resolved recovered"]);
    }
    await after.evaluate();
    expect(await alerts()).toEqual(["a resolved expired", "again firing", "over resolved recovered"]);
  });

  it.each(["a second replica starts", "the configuration is loaded anew"])(
    "do not expire either where, after everybody was away, %s",
    async (what) => {
      await begun("a");
      const awakeAt = T0 + 10 * MINUTE;
      clock.at = awakeAt;
      const store = testStore().replica();
      const first = externalAlertsOf(store);
      await first.begin(T0 + MINUTE);
      await first.evaluate();
      clock.at += 20 * SECOND;
      const next = externalAlertsOf(what === "a second replica starts" ? testStore().replica() : store);
      await next.begin(awakeAt);
      for (; clock.at < awakeAt + 5 * MINUTE; clock.at += 20 * SECOND) {
        await next.evaluate();
        expect(await alerts()).toEqual(["a firing"]);
      }
      await next.evaluate();
      expect(await alerts()).toEqual(["a resolved expired"]);
    },
  );

  it.each([
    ["somebody was there all the time, whoever it was", T0 + 4 * MINUTE - 30 * SECOND],
    ["nobody ever was there", undefined],
  ])("expire at once where %s", async (_, awakeAt) => {
    await begun("a");
    clock.at = T0 + 4 * MINUTE;
    const after = externalAlertsOf(testStore().replica());
    await after.begin(awakeAt);
    await after.evaluate();
    expect(await alerts()).toEqual(["a resolved expired"]);
  });

  it("expire in time though somebody whose clock was wrong said that nobody could hear", async () => {
    clock.at = T0 + 30 * 24 * 60 * MINUTE;
    await externalAlertsOf().begin(T0);
    clock.at = T0;
    const { accept, evaluate, begin } = externalAlertsOf();
    await begin(T0 - 30 * SECOND);
    await accept([sent("a", T0 + SECOND)]);
    await evaluate();
    clock.at += SECOND;
    await evaluate();
    expect(await alerts()).toEqual(["a resolved expired"]);
  });

  it("beyond two thousand are refused and counted; a hundred that end make room", async () => {
    const { accept, evaluate } = externalAlertsOf();
    const many = Array.from({ length: MAX_EXTERNAL_ALERTS }, (_, i) => sent(String(i)));
    expect(await accept(many)).toMatchObject({ refused: 0 });
    expect(await accept([sent("one more"), sent("0")])).toMatchObject({ refused: 1 });
    await accept(many.slice(0, 100).map(([, { labels }]) => sent(labels.instance ?? "", T0)));
    await evaluate();
    expect(await accept([sent("one more")])).toMatchObject({ refused: 0 });
  });

  it("of another format are left alone", async () => {
    const { redis, prefix, replica } = testStore();
    await redis.hset(`{${prefix}}:external`, "n", "x", "d", '{"v":99,"a":[]}');
    await expect(replica().externalAlerts.read()).rejects.toMatchObject({ code: "unreadable" });
  });

  it("are neither read nor parsed again while nobody writes", async () => {
    const store = testStore().replica();
    await externalAlertsOf().accept([sent("a")]);
    const { state } = await store.externalAlerts.read();
    expect((await store.externalAlerts.read()).state).toBe(state);
    await externalAlertsOf().accept([sent("b")]);
    expect((await store.externalAlerts.read()).state).not.toBe(state);
  });
});
