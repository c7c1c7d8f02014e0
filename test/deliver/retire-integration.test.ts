import { expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import type { Sender } from "../../src/deliver/model.ts";
import { retireIntegration } from "../../src/deliver/retire-integration.ts";
import { silentLogger } from "../../src/lib/log.ts";
import {
  committer,
  fires,
  firing,
  HOUR,
  headOf,
  integration,
  MINUTE,
  SECOND,
  T0,
  to,
  useTestStore,
} from "../store/fixtures.ts";
import { PagerDuty } from "../support/pagerduty.ts";
import { describeWithRedis } from "../support/redis.ts";
import { inTurn, Lab, lost } from "./lab.ts";

const gone = integration("ops/slack/0");
const cameras = ["north", "south"].map((name) => firing(name));

describeWithRedis("a removed integration", () => {
  const testStore = useTestStore();

  /** Two groups told of a camera each, their next reminder hours away, and a third not told yet. */
  async function toldOf(): Promise<void> {
    const { groups } = testStore().store;
    const commit = committer(testStore());
    for (const camera of cameras) {
      await commit(T0, fires(camera, to(gone.id, camera.subject.id, { groupWaitMs: 0 })));
      const claim = await groups.claim(gone, camera.id, T0, 1_000);
      if (claim.kind !== "group") throw new Error(claim.kind);
      const notified = [{ alert: camera, notifiedAt: T0, groupId: claim.group }];
      const conversation = JSON.stringify({ id: camera.id, openedAt: T0, handle: "h" });
      const outcome = {
        now: T0,
        sent: true,
        notified,
        over: [],
        unnotified: [],
        nextAt: T0 + HOUR,
        conversation,
        shown: "x",
        rootAt: T0 + MINUTE,
      };
      await groups.settle(gone, camera.id, [{ group: claim.group, settle: outcome }]);
    }
    await commit(T0, fires(firing("untold"), to(gone.id, "untold")));
  }

  function part(
    send: Sender["send"],
    retryAfterMs = 0,
    kind = gone,
    now = () => T0 + 1_000,
    more: Partial<Parameters<typeof retireIntegration>[0]> = {},
  ) {
    return retireIntegration(
      {
        clock: { now },
        log: silentLogger,
        groups: testStore().store.groups,
        conversations: testStore().store.conversations,
        senders: new Map([[gone.id, { integration: { ...kind, paceMs: 0 }, send }]]),
        externalUrl: undefined,
        toRefusal: () => ({ code: "network", retryAfterMs, scope: "endpoint", message: "refused" }),
        notified: () => {},
        failed: () => {},
        suppressed: () => {},
        isActive: () => true,
        ...more,
      },
      gone.id,
      new AbortController().signal,
    );
  }

  it("sends the ends it owes once, also where several replicas retire it at the same time", async () => {
    await toldOf();
    const sent: Notification[] = [];
    const send = async (notification: Notification) => void sent.push(notification);
    expect(await Promise.all([part(send), part(send)])).toEqual([true, true]);
    const ended = sent.flatMap(({ resolved }) => resolved.map(({ id, endReason }) => [id, endReason]));
    expect(ended.sort()).toEqual(cameras.map(({ id }) => [id, "not_sent_here"]).sort());
    expect(sent.flatMap(({ firing }) => firing)).toEqual([]);
    expect(await testStore().store.groups.notified(gone.id)).toEqual([]);
    expect(await testStore().store.shards.alerts()).toHaveLength(3);
  });

  it("sends none while another configuration is active, which may have it again", async () => {
    await toldOf();
    const { redis, store } = testStore();
    const { groups, keys, replicas } = store;
    const said: string[] = [];
    let now = T0 + SECOND;
    const clock = () => (now += 200);
    let knownActive = "ours";
    const isDone = part(async () => void said.push("sent"), 0, gone, clock, {
      isActive: () => knownActive === "ours",
      checkActive: () => replicas.checkActive("notify", "ours"),
      groups: {
        ...groups,
        async intend(...args) {
          const isOurs = await groups.intend(...args);
          if (said.length === 0) knownActive = "later";
          said.push(isOurs ? "intended" : "overtaken");
          return isOurs;
        },
        async owes(id) {
          // It is asked again after each round: the earlier one is active again.
          if (said.length > 0) knownActive = "ours";
          await redis.hset(keys.active, "notify", said.length > 0 ? "ours" : "later");
          return groups.owes(id);
        },
      },
    });
    expect(await isDone).toBe(true);
    expect(said).toEqual(["overtaken", "intended", "sent", "intended", "sent"]);
  });

  it("closes the conversations that are open there", async () => {
    await toldOf();
    const sent: Notification[] = [];
    const send = async (notification: Notification) => void sent.push(notification);
    expect(await part(send, 0, { ...gone, conversation: "edits" })).toBe(true);
    const closed = { reason: "resolved", conversation: { handle: "h", isOver: true }, standing: [] };
    expect(sent).toMatchObject(cameras.map(() => closed));
  });

  it("forgets the conversations of a channel that has none any more", async () => {
    await toldOf();
    expect(await part(async () => undefined)).toBe(true);
    const { redis, store } = testStore();
    const heads = await Promise.all(cameras.map(({ subject: { id } }) => headOf(testStore(), gone.id, id)));
    for (const { conversation, shown } of heads) expect([conversation, shown]).toEqual([undefined, undefined]);
    expect(await redis.zrange(store.keys.due(gone.id), 0, "-1")).toEqual(["untold"]);
  });

  const asked = [0.501, 2].flatMap((minute) => [lost, "killed_after" as const].map((how) => [minute, how] as const));
  it.each(asked)("resolves a page of unknown outcome: minute %d, %o", async (minute, how) => {
    const pager = { ...gone, type: "pagerduty", conversation: "edits", isPager: true } as const;
    const other = integration("other/slack/0");
    const lab = new Lab(testStore(), [pager, other]);
    const pagerDuty = new PagerDuty();
    const take = (n: Notification) => pagerDuty.take(n, lab.now);
    lab.answer = (id, n) => (id === pager.id ? take(n) : undefined);
    const next = inTurn(how);
    lab.how = (id) => (id === pager.id ? next() : "ok");
    const a = await lab.fires("a");
    await lab.until(0.501);
    await lab.ack(a);
    await lab.until(minute);
    await lab.reroute({ ...lab.route, receiver: "other" }, [other]);
    await lab.endLease(pager.id);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    lab.now += MINUTE;
    expect(
      await part(
        async (n) => take(n),
        0,
        pager,
        () => (lab.now += SECOND),
      ),
    ).toBe(true);
    expect([pagerDuty.states(), await testStore().store.groups.owes(pager.id)]).toEqual([[], false]);
  });

  it("that takes nothing any more is not waited for, and stays owed what it is owed", async () => {
    await toldOf();
    const refuse = async () => {
      throw new Error("no");
    };
    expect(await part(refuse, HOUR)).toBe(false);
    expect(await testStore().store.groups.notified(gone.id)).toHaveLength(2);
  });
});
