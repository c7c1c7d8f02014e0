import { expect, it } from "vitest";
import type { SentAlert } from "../../src/alerting/external-alerts.ts";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { silentLogger } from "../../src/lib/log.ts";
import {
  createExternalAlerts,
  type ExternalAlertsDeps,
  MAX_EXTERNAL_ALERTS,
} from "../../src/poll/external-alerts.ts";
import type { Store } from "../../src/store/store.ts";
import { rootRoute } from "../http/serve.ts";
import { integration, MINUTE, SECOND, T0, useRoom } from "../store/fixtures.ts";
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
  const room = useRoom();
  const clock = { at: T0 };

  function outsideOf(store: Store = room().store, differing: Partial<ExternalAlertsDeps> = {}) {
    const woken: string[] = [];
    const asked: number[] = [];
    const externalAlerts = createExternalAlerts({
      clock: { now: () => clock.at },
      log: silentLogger,
      store,
      commit: store.shards.commit,
      commitEvaluated: store.shards.commit,
      route: { ...rootRoute, groupBy: ["alertname"] },
      integrations: [slack],
      statusIntervalMs: 30 * SECOND,
      encode: store.externalAlerts.encode,
      requestEvaluation: async () => void asked.push(clock.at),
      wake: async (due) => void woken.push(...due.keys()),
      ...differing,
    });
    return { ...externalAlerts, woken, asked };
  }

  const alerts = async () =>
    (await room().store.shards.alerts())
      .map(({ labels, state, endReason = "" }) => `${labels.instance} ${state} ${endReason}`.trim())
      .sort();
  const committed = async () =>
    [...(await room().replica().externalAlerts.read()).state.values()].map(({ labels }) => labels.instance);

  it("are due in their group once they are judged, and leave nothing behind once their end is settled", async () => {
    clock.at = T0;
    const { take, judge, woken, asked } = outsideOf();
    expect(await take([sent("a"), sent("b")])).toEqual({
      outcome: "taken",
      refused: 0,
      most: MAX_EXTERNAL_ALERTS,
    });
    expect([asked, woken, await alerts()]).toEqual([[T0], [], []]);
    await judge();
    expect([woken, await alerts()]).toEqual([["ops/slack/0"], ["a firing", "b firing"]]);
    const { groups } = room().store;
    expect((await groups.nextDue(["ops/slack/0"])).get("ops/slack/0")).toBe(T0 + rootRoute.groupWaitMs);
    await take([sent("a", { endsAt: T0 })]);
    await judge();
    expect(await alerts()).toEqual(["a resolved recovered", "b firing"]);
    for (clock.at = T0; clock.at < T0 + 4 * MINUTE - 1; clock.at += 30 * SECOND) await judge();
    clock.at = T0 + 4 * MINUTE - 1;
    await judge();
    expect(await alerts()).toContain("b firing");
    clock.at += 1;
    await judge();
    expect(await alerts()).toContain("b resolved expired");
    expect(await committed()).toEqual([]);
    expect((await room().store.incidents.endedSince(T0)).map(({ endReason }) => endReason)).toEqual([
      "recovered",
      "expired",
    ]);
    const lines = await room().store.log.read([{ kind: "external", id: sent("b")[0] }], 0);
    expect(lines.map(({ reason }) => reason)).toEqual(["firing", "expired"]);
  });

  it("sent to many replicas at once are all taken, and each fires once", async () => {
    clock.at = T0;
    const replicas = Array.from({ length: 4 }, () => outsideOf(room().replica()));
    await Promise.all(
      replicas.flatMap(({ take, judge }, i) => [
        ...["a", "b", "c"].map((name) => take([sent(name), sent(`${name}${i}`)])),
        judge(),
      ]),
    );
    await Promise.all(replicas.map(({ judge }) => judge()));
    expect(await committed()).toHaveLength(15);
    expect(await alerts()).toHaveLength(15);
    const lines = await room().store.log.read([{ kind: "external", id: sent("a")[0] }], 0);
    expect(lines.map(({ reason }) => reason)).toEqual(["firing"]);
  });

  it("are judged only by whom the configuration in force is at; who is not gives up soon", async () => {
    clock.at = T0;
    let tried = 0;
    const old = outsideOf(room().store, {
      commitEvaluated: async () => {
        tried++;
        return { outcome: "lost" };
      },
    });
    await old.take([sent("a")]);
    await old.judge();
    expect(tried).toBeGreaterThan(0);
    expect(await alerts()).toEqual([]);
    await outsideOf(room().replica()).judge();
    expect(await alerts()).toEqual(["a firing"]);
  });

  it("do not expire for five minutes after everybody was away, and then they do", async () => {
    clock.at = T0;
    const before = outsideOf();
    await before.take([sent("a"), sent("over"), sent("again")]);
    await before.judge();
    clock.at = T0 + 10 * MINUTE;
    const after = outsideOf(room().replica());
    await after.begin(T0 + MINUTE);
    await after.judge();
    expect(await alerts()).toEqual(["a firing", "again firing", "over firing"]);
    await after.take([sent("over", { endsAt: clock.at }), sent("again", { endsAt: T0 + 20 * MINUTE })]);
    await after.judge();
    expect(await alerts()).toContain("over resolved recovered");
    for (; clock.at < T0 + 15 * MINUTE; clock.at += 30 * SECOND) {
      await after.judge();
      expect(await alerts()).toContain("a firing");
    }
    await after.judge();
    expect(await alerts()).toEqual(["a resolved expired", "again firing", "over resolved recovered"]);
  });

  it.each(["a second replica starts", "the configuration is loaded anew"])(
    "do not expire either where, after everybody was away, %s",
    async (what) => {
      clock.at = T0;
      await outsideOf().take([sent("a")]);
      await outsideOf().judge();
      clock.at = T0 + 10 * MINUTE;
      const store = room().replica();
      const first = outsideOf(store);
      await first.begin(T0 + MINUTE);
      await first.judge();
      const awakeAt = clock.at;
      clock.at += 20 * SECOND;
      const next = outsideOf(what === "a second replica starts" ? room().replica() : store);
      await next.begin(awakeAt);
      for (; clock.at < awakeAt + 5 * MINUTE; clock.at += 20 * SECOND) {
        await next.judge();
        expect(await alerts()).toEqual(["a firing"]);
      }
      await next.judge();
      expect(await alerts()).toEqual(["a resolved expired"]);
    },
  );

  it("expire at once where somebody was there all the time, whoever it was", async () => {
    clock.at = T0;
    await outsideOf().take([sent("a")]);
    await outsideOf().judge();
    clock.at = T0 + 4 * MINUTE;
    const after = outsideOf(room().replica());
    await after.begin(clock.at - 30 * SECOND);
    await after.judge();
    expect(await alerts()).toEqual(["a resolved expired"]);
    const never = outsideOf(room().replica());
    await never.begin(undefined);
    await never.take([sent("b", { endsAt: clock.at + 1 })]);
    clock.at += 1;
    await never.judge();
    expect(await alerts()).toEqual(["a resolved expired", "b resolved expired"]);
  });

  it("expire in time though somebody whose clock was wrong said that nobody could hear", async () => {
    clock.at = T0 + 30 * 24 * 60 * MINUTE;
    await outsideOf().begin(T0);
    clock.at = T0;
    const { take, judge, begin } = outsideOf();
    await begin(T0 - 30 * SECOND);
    await take([sent("a", { endsAt: T0 + SECOND })]);
    await judge();
    clock.at += SECOND;
    await judge();
    expect(await alerts()).toEqual(["a resolved expired"]);
  });

  it("are taken though judging cannot be asked for", async () => {
    clock.at = T0;
    const { take } = outsideOf(room().store, {
      requestEvaluation: () => Promise.reject(new Error("no queue")),
    });
    expect(await take([sent("a")])).toMatchObject({ outcome: "taken" });
    expect(await committed()).toEqual(["a"]);
  });

  it("beyond two thousand are refused and counted; a hundred that end make room", async () => {
    clock.at = T0;
    const { take, judge } = outsideOf();
    const many = Array.from({ length: MAX_EXTERNAL_ALERTS }, (_, i) => sent(String(i)));
    expect(await take(many)).toMatchObject({ refused: 0 });
    expect(await take([sent("one more"), sent("0")])).toMatchObject({ refused: 1 });
    await take(many.slice(0, 100).map(([, { labels }]) => sent(labels.instance ?? "", { endsAt: T0 })));
    await judge();
    expect(await take([sent("one more")])).toMatchObject({ refused: 0 });
  });

  it("of another format are left alone", async () => {
    const { redis, prefix, replica } = room();
    await redis.hset(`{${prefix}}:outside`, "n", "x", "d", '{"v":99,"a":[]}');
    await expect(replica().externalAlerts.read()).rejects.toMatchObject({ code: "unreadable" });
  });

  it("are neither read nor parsed again while nobody writes", async () => {
    const store = room().replica();
    await outsideOf().take([sent("a")]);
    const { state } = await store.externalAlerts.read();
    expect((await store.externalAlerts.read()).state).toBe(state);
    await outsideOf().take([sent("b")]);
    expect((await store.externalAlerts.read()).state).not.toBe(state);
  });
});
