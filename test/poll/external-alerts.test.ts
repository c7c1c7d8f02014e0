import { expect, it } from "vitest";
import type { SentAlert } from "../../src/alerting/external-alerts.ts";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import { createExternalAlerts, MAX_EXTERNAL_ALERTS } from "../../src/poll/external-alerts.ts";
import type { Store } from "../../src/store/store.ts";
import { rootRoute } from "../http/serve.ts";
import { integration, MINUTE, SECOND, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const slack = integration("ops/slack/0");

const sent = (instance: string, differing: Partial<SentAlert> = {}): [string, SentAlert] => {
  const labels = { alertname: "DiskFull", instance };
  return [
    fingerprint(labels),
    {
      labels,
      annotations: {},
      startsAt: T0,
      endsAt: T0 + 4 * MINUTE,
      isTimeout: false,
      generatorUrl: undefined,
      ...differing,
    },
  ];
};

describeWithRedis("alerts from outside", () => {
  const testStore = useTestStore();
  const clock = { at: T0 };

  function externalAlertsOf(
    store: Store = testStore().store,
    differing: Partial<Parameters<typeof createExternalAlerts>[0]> = {},
  ) {
    const woken: string[] = [];
    const asked: number[] = [];
    const externalAlerts = createExternalAlerts({
      clock: { now: () => clock.at },
      log: silentLogger,
      store,
      commit: createCommit({
        log: silentLogger,
        route: { ...rootRoute, groupBy: ["alertname"] },
        integrations: [slack],
        wake: async (due) => void woken.push(...due.keys()),
      }),
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
    clock.at = T0;
    const { accept, evaluate, woken, asked } = externalAlertsOf();
    expect(await accept([sent("a"), sent("b")])).toEqual({ outcome: "taken", refused: 0, most: MAX_EXTERNAL_ALERTS });
    expect([asked, woken, await alerts()]).toEqual([[T0], [], []]);
    await evaluate();
    expect([woken, await alerts()]).toEqual([["ops/slack/0"], ["a firing", "b firing"]]);
    const { groups } = testStore().store;
    expect((await groups.nextDue(["ops/slack/0"])).get("ops/slack/0")).toBe(T0 + rootRoute.groupWaitMs);
    await accept([sent("a", { endsAt: T0 })]);
    await evaluate();
    expect(await alerts()).toEqual(["a resolved recovered", "b firing"]);
    for (clock.at = T0; clock.at < T0 + 4 * MINUTE - 1; clock.at += 30 * SECOND) await evaluate();
    clock.at = T0 + 4 * MINUTE - 1;
    await evaluate();
    expect(await alerts()).toContain("b firing");
    clock.at += 1;
    await evaluate();
    expect(await alerts()).toContain("b resolved expired");
    expect(await committed()).toEqual([]);
    expect((await testStore().store.incidents.endedSince(T0)).map(({ endReason }) => endReason)).toEqual([
      "recovered",
      "expired",
    ]);
    const lines = await testStore().store.log.read([{ kind: "external", id: sent("b")[0] }], 0);
    expect(lines.map(({ reason }) => reason)).toEqual(["firing", "expired"]);
  });

  it("sent to many replicas at once are all taken, and each fires once", async () => {
    clock.at = T0;
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
    clock.at = T0;
    let tried = 0;
    const old = externalAlertsOf(testStore().store, {
      commitIfActive: async () => {
        tried++;
        return { outcome: "lost" };
      },
    });
    await old.accept([sent("a")]);
    await old.evaluate();
    expect(tried).toBeGreaterThan(0);
    expect(await alerts()).toEqual([]);
    await externalAlertsOf(testStore().replica()).evaluate();
    expect(await alerts()).toEqual(["a firing"]);
  });

  it("do not expire for five minutes after everybody was away, and then they do", async () => {
    clock.at = T0;
    const before = externalAlertsOf();
    await before.accept([sent("a"), sent("over"), sent("again")]);
    await before.evaluate();
    clock.at = T0 + 10 * MINUTE;
    const after = externalAlertsOf(testStore().replica());
    await after.begin(T0 + MINUTE);
    await after.evaluate();
    expect(await alerts()).toEqual(["a firing", "again firing", "over firing"]);
    await after.accept([sent("over", { endsAt: clock.at }), sent("again", { endsAt: T0 + 20 * MINUTE })]);
    await after.evaluate();
    expect(await alerts()).toContain("over resolved recovered");
    for (; clock.at < T0 + 15 * MINUTE; clock.at += 30 * SECOND) {
      await after.evaluate();
      expect(await alerts()).toContain("a firing");
    }
    await after.evaluate();
    expect(await alerts()).toEqual(["a resolved expired", "again firing", "over resolved recovered"]);
  });

  it.each(["a second replica starts", "the configuration is loaded anew"])(
    "do not expire either where, after everybody was away, %s",
    async (what) => {
      clock.at = T0;
      await externalAlertsOf().accept([sent("a")]);
      await externalAlertsOf().evaluate();
      clock.at = T0 + 10 * MINUTE;
      const store = testStore().replica();
      const first = externalAlertsOf(store);
      await first.begin(T0 + MINUTE);
      await first.evaluate();
      const awakeAt = clock.at;
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

  it("expire at once where somebody was there all the time, whoever it was", async () => {
    clock.at = T0;
    await externalAlertsOf().accept([sent("a")]);
    await externalAlertsOf().evaluate();
    clock.at = T0 + 4 * MINUTE;
    const after = externalAlertsOf(testStore().replica());
    await after.begin(clock.at - 30 * SECOND);
    await after.evaluate();
    expect(await alerts()).toEqual(["a resolved expired"]);
    const never = externalAlertsOf(testStore().replica());
    await never.begin(undefined);
    await never.accept([sent("b", { endsAt: clock.at + 1 })]);
    clock.at += 1;
    await never.evaluate();
    expect(await alerts()).toEqual(["a resolved expired", "b resolved expired"]);
  });

  it("expire in time though somebody whose clock was wrong said that nobody could hear", async () => {
    clock.at = T0 + 30 * 24 * 60 * MINUTE;
    await externalAlertsOf().begin(T0);
    clock.at = T0;
    const { accept, evaluate, begin } = externalAlertsOf();
    await begin(T0 - 30 * SECOND);
    await accept([sent("a", { endsAt: T0 + SECOND })]);
    await evaluate();
    clock.at += SECOND;
    await evaluate();
    expect(await alerts()).toEqual(["a resolved expired"]);
  });

  it("are taken though judging cannot be asked for", async () => {
    clock.at = T0;
    const { accept } = externalAlertsOf(testStore().store, {
      requestEvaluation: () => Promise.reject(new Error("no queue")),
    });
    expect(await accept([sent("a")])).toMatchObject({ outcome: "taken" });
    expect(await committed()).toEqual(["a"]);
  });

  it("beyond two thousand are refused and counted; a hundred that end make room", async () => {
    clock.at = T0;
    const { accept, evaluate } = externalAlertsOf();
    const many = Array.from({ length: MAX_EXTERNAL_ALERTS }, (_, i) => sent(String(i)));
    expect(await accept(many)).toMatchObject({ refused: 0 });
    expect(await accept([sent("one more"), sent("0")])).toMatchObject({ refused: 1 });
    await accept(many.slice(0, 100).map(([, { labels }]) => sent(labels.instance ?? "", { endsAt: T0 })));
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
