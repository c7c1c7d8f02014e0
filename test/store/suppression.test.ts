/** What is held is looked at again when its holder is gone, whatever happens between a decision and its record. */

import { expect, it } from "vitest";
import type { StoredAcknowledgement } from "../../src/alerting/acknowledgement.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { SuppressedState, Suppression } from "../../src/alerting/model.ts";
import { needsUpdate } from "../../src/alerting/needs-update.ts";
import { endSilence, type Silence } from "../../src/alerting/silence.ts";
import type { Settlement } from "../../src/store/groups.ts";
import { releasing } from "../../src/store/releases.ts";
import { createTransact, newId } from "../../src/store/transact.ts";
import { aSilence } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { shardCommit } from "../support/shard-patch.ts";
import {
  changeHead,
  claimed,
  commit,
  ends,
  fires,
  firing,
  groups,
  HOUR,
  LEASE,
  MINUTE,
  SECOND,
  shards,
  silences,
  slack,
  T0,
  type TestStore,
  to,
  useTestStore,
  WAIT,
} from "./fixtures.ts";

const shop = firing("shop");
const camera = firing("camera");
const quiet = { sent: false, notified: [], over: [], unnotified: [] };

const waiting = new Map([[camera.id, { isCovered: true }]]);
const SHOP: Suppression = { reason: "inhibited", by: shop.id };
const suppressedState = ({ by = [SHOP], unnotified = waiting }: Partial<SuppressedState> = {}) => ({
  causes: by,
  known: new Map([...unnotified].map(([id, one]) => [id, { waiting: one }] as const)),
});

const silence = (more: Partial<Silence> = {}): Silence =>
  aSilence({
    id: "5bd3a7a0-0000-4000-8000-000000000000",
    matchers: parseMatchers('location="Leeds", severity=~"c.*"'),
    startsAt: T0,
    endsAt: T0 + HOUR,
    updatedAt: T0,
    ...more,
  });
const ack = { author: "dana", comment: "on my way", at: T0 };
const acknowledge = (store: TestStore["store"], after: StoredAcknowledgement = ack, isEarlier = false) => {
  const by = { actor: { via: "token", name: "oncall" } } as const;
  const entry = { ...by, at: after.at, action: "acknowledged", outcome: "done", target: camera.id } as const;
  const line = { subject: camera.subject, ruleId: camera.ruleId, at: after.at, reason: "ack_set" };
  return store.acks.change(camera.id, after.at, () => ({ after, entry, line, isEarlier }));
};
const SILENCED: Suppression = { reason: "silenced", by: silence().id, until: silence().endsAt };
const bySilence = suppressedState({ by: [SILENCED] });

/** The shop and its camera fire; the camera's group was looked at, and held, at T0 + 30 s. */
async function suppressed(what = suppressedState()) {
  await commit(T0, fires(shop), fires(camera, to(slack.id)));
  await claimed(T0 + WAIT, "t");
  const nextAt = T0 + WAIT + 5 * MINUTE;
  expect(await settle({ now: T0 + WAIT, ...quiet, nextAt, ...what })).toBe(nextAt);
}

/** The turn that claimed as `t` settles. */
const settle = (outcome: Settlement) => groups.settle(slack, "t", [{ group: "g", settle: outcome }]);

describeWithRedis("a suppressed alert", () => {
  const testStore = useTestStore();

  it("is due at once when the alert that inhibits it resolves", async () => {
    await suppressed();
    expect(await commit(T0 + MINUTE, ends(shop, T0 + MINUTE))).toEqual(new Map([[slack.id, T0 + MINUTE]]));
    expect(await claimed(T0 + MINUTE, "t")).toMatchObject({
      dueSince: new Map([[camera.id, T0 + MINUTE]]),
      groupIntervalMs: 5 * MINUTE,
      suppressedBefore: waiting,
    });
  });

  it("waits for the group's interval where the group was notified when the alert that inhibits it resolves", async () => {
    await suppressed();
    await changeHead(testStore(), slack.id, "g", { sentAt: T0 });
    const end = T0 + MINUTE;
    expect(await commit(end, ends(shop, end))).toEqual(new Map([[slack.id, T0 + 5 * MINUTE]]));
  });

  it("is looked at after a reload, and waits for the group's interval all the same", async () => {
    await suppressed();
    await changeHead(testStore(), slack.id, "g", { sentAt: T0 });
    await commit(T0 + MINUTE, ends(shop, T0 + MINUTE));
    const now = T0 + 2 * MINUTE;
    await groups.reroute([{ id: camera.id, to: [to(slack.id)] }], [slack.id], now);
    expect(await claimed(now, "t")).toMatchObject({ dueSince: new Map([[camera.id, T0 + 5 * MINUTE]]) });
  });

  it("is due once somebody reconciles where the process that ended its cause died", async () => {
    await suppressed();
    const { redis, store } = testStore();
    const [transact, id] = [createTransact(redis, store.keys), newId()];
    await transact.transact({
      id,
      checks: [],
      writes: releasing(store.keys, id, { causes: [shop.id], isPaced: false }),
    });
    const at = T0 + MINUTE;
    expect(await store.releases.reconcile(at)).toEqual(new Map([[slack.id, at]]));
    expect(await store.releases.reconcile(at + 1)).toEqual(new Map());
    expect(await redis.exists(store.keys.released)).toBe(0);
  });

  it("that is stale is due once its shard is read, also before that it is stale was stored, and stays late", async () => {
    const late = new Map([[camera.id, { isCovered: false, lateFrom: T0 - HOUR }]]);
    const stale = suppressedState({ by: [{ reason: "stale", by: "shard:7", goodAt: 0 }], unnotified: late });
    const dueSince = new Map([[camera.id, T0 - HOUR]]);
    await suppressed(stale);
    const state = { sweptAt: T0 + MINUTE, recordings: new Map(), locations: new Map() };
    expect(await shards.commitShard(7, shardCommit("", state))).toMatchObject({
      wake: new Map([[slack.id, T0 + MINUTE]]),
    });
    expect(await claimed(T0 + MINUTE, "t")).toMatchObject({ dueSince });
    const outcome = { now: T0 + MINUTE, ...quiet, nextAt: T0 + HOUR, ...stale };
    expect(await settle(outcome)).toBe(T0 + MINUTE);
    expect(await claimed(T0 + MINUTE, "t2")).toMatchObject({ dueSince });
    const readThen = suppressedState({ by: [{ reason: "stale", by: "shard:7", goodAt: T0 + MINUTE }] });
    const again = { ...outcome, ...readThen };
    expect(await groups.settle(slack, "t2", [{ group: "g", settle: again }]), "it was not read since").toBe(T0 + HOUR);
  });

  it("an acknowledgement during a send brings the group's root up to date right after it", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    const rooted = { ...quiet, nextAt: T0 + HOUR, conversation: '{"id":"c"}', shown: "x" };
    await claimed(T0 + WAIT, "t");
    expect(await settle({ now: T0 + WAIT, ...rooted })).toBe(T0 + HOUR);
    await claimed(T0 + HOUR, "t");
    await acknowledge(testStore().store, { ...ack, at: T0 + HOUR + 1 });
    expect(await settle({ ...rooted, now: T0 + HOUR + 2, nextAt: T0 + 2 * HOUR })).toBe(T0 + HOUR + 2);
  });

  it("is not due for the end of another, nor twice for the same", async () => {
    await suppressed();
    const other = firing("other");
    await commit(T0 + MINUTE, fires(other), ends(other, T0 + MINUTE));
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, T0 + WAIT + 5 * MINUTE]]));
    await commit(T0 + MINUTE, ends(shop, T0 + MINUTE));
    await claimed(T0 + MINUTE, "t");
    await settle({ now: T0 + MINUTE, ...quiet, nextAt: T0 + HOUR });
    expect(await commit(T0 + 2 * MINUTE, ends(shop, T0 + 2 * MINUTE))).toEqual(new Map());
  });

  it("is due at once when its suppression ended between the decision and the settle", async () => {
    await commit(T0, fires(shop), fires(camera, to(slack.id)));
    await claimed(T0 + WAIT, "t");
    await commit(T0 + WAIT + 1, ends(shop, T0 + WAIT + 1));
    const now = T0 + WAIT + 2;
    expect(await settle({ now, ...quiet, nextAt: now + 5 * MINUTE, ...suppressedState() })).toBe(now);
  });

  it("that resolves together with its inhibitor is due since that moment, which is not late", async () => {
    await suppressed();
    const at = T0 + MINUTE;
    await commit(at, ends(shop, at), ends(camera, at));
    expect(await claimed(at, "t")).toMatchObject({
      dueSince: new Map([[camera.id, at]]),
      alerts: [{ endsAt: at }],
      suppressedBefore: waiting,
    });
  });

  it("is late from when the clock ends its suppression, and no sooner", async () => {
    await silences.write([silence()], T0);
    const until = silence().endsAt;
    const unnotified = new Map([[camera.id, { isCovered: true, lateFrom: until }]]);
    await suppressed(suppressedState({ by: [SILENCED], unnotified }));
    await commit(T0 + MINUTE, ends(camera, T0 + MINUTE));
    const { dueSince } = await claimed(T0 + MINUTE + WAIT, "t");
    expect(dueSince).toEqual(new Map([[camera.id, until]]));
  });

  it("is due at once when its silence is ended or changed, also between the decision and its record", async () => {
    await silences.write([silence()], T0);
    await suppressed(bySilence);
    const at = T0 + MINUTE;
    expect(await silences.write([endSilence(silence(), at)], at)).toEqual(new Map([[slack.id, at]]));
    await claimed(at, "t");
    expect(await settle({ now: at, ...quiet, nextAt: at + HOUR, ...bySilence })).toBe(at);
  });

  it("stays due as before where its silence was made longer and still suppresses it", async () => {
    await silences.write([silence()], T0);
    await suppressed(bySilence);
    const at = T0 + MINUTE;
    expect(await silences.write([silence({ endsAt: T0 + 2 * HOUR })], at)).toEqual(new Map([[slack.id, at]]));
    await claimed(at, "t");
    const nextAt = at + 5 * MINUTE;
    expect(await settle({ now: at, ...quiet, nextAt, ...bySilence })).toBe(nextAt);
  });

  it("is not due again and again where its silence was ended by one and kept on by another at once", async () => {
    await silences.write([silence()], T0);
    await suppressed(bySilence);
    const at = T0 + MINUTE;
    await silences.write([endSilence(silence(), at)], at);
    await silences.write([silence({ endsAt: T0 + 2 * HOUR })], at);
    await claimed(at, "t");
    const nextAt = at + 5 * MINUTE;
    expect(await settle({ now: at, ...quiet, nextAt, ...bySilence })).toBe(nextAt);
  });

  it("that a message of unknown outcome was about is known until it was notified", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await claimed(T0 + WAIT, "t");
    const at = T0 + WAIT + SECOND;
    const entry = { alert: camera, notifiedAt: at, groupId: "g" };
    const unsure = { ...entry, unsure: [{ id: "c", openedAt: T0 }] };
    const intent = { messageId: "m", at, askAt: at, isSummary: false, groups: {} };
    await groups.intend(slack, { token: "t", ms: LEASE }, intent);
    await groups.settle(slack, "t", [{ group: "g", postpone: { now: at, at, unsure: [unsure] } }], { intent: "m" });
    const known = new Map([[camera.id, unsure]]);
    expect(await claimed(at, "t")).toMatchObject({ unsure: known });
    const suppressedToo = new Map([[camera.id, { ...unsure, waiting: { isCovered: true } }]]);
    await settle({ now: at, ...quiet, nextAt: at + 1, ...suppressedState(), known: suppressedToo });
    expect(await claimed(at + 1, "t")).toMatchObject({ unsure: suppressedToo, suppressedBefore: waiting });
    // Its intent is not there any more: it is known what was notified.
    await groups.settle(slack, "t", [{ group: "g", postpone: { now: at + 1, at: at + 1, unsure: [entry] } }], {
      intent: "m",
    });
    expect(await claimed(at + 1, "t")).toMatchObject({ unsure: suppressedToo });
    await settle({ now: at + 1, ...quiet, notified: [entry], nextAt: at + 2 });
    expect(await claimed(at + 2, "t")).toMatchObject({ unsure: new Map(), notified: new Map([[camera.id, entry]]) });
  });

  it("leaves nothing behind once all is over", async () => {
    await suppressed();
    await acknowledge(testStore().store);
    const at = T0 + MINUTE;
    await commit(at, ends(camera, at), ends(shop, at));
    await claimed(at, "t");
    await settle({ now: at, ...quiet, unnotified: [camera.id], nextAt: undefined });
    const left = (await testStore().keys()).filter((key) => !/^log/.test(key));
    expect(left).toEqual(["episodes", `grp:${slack.id}:g`, "integrations", "shard:0"]);
  });
});

describeWithRedis("an acknowledgement", () => {
  const testStore = useTestStore();
  it("is of an episode that fires, and goes with it once its end is not owed anywhere", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    const { store } = testStore();
    expect(await acknowledge(store)).toEqual(new Map());
    expect(await store.acks.read()).toEqual(new Map([[camera.id, ack]]));
    await commit(T0 + 1, ends(camera, T0 + 1));
    expect(await acknowledge(store)).toBeUndefined();
    await claimed(T0 + WAIT, "t");
    await settle({ now: T0 + WAIT, ...quiet, unnotified: [camera.id], nextAt: undefined });
    expect(await store.acks.read()).toEqual(new Map());
  });
});

describeWithRedis("an acknowledgement that ends", () => {
  const testStore = useTestStore();
  const withdrawn = (at: number) => acknowledge(testStore().store, { ...ack, until: at, at }, true);
  const acknowledged = (...unnotified: string[]) =>
    suppressedState({
      by: [{ reason: "acknowledged", by: "dana" }],
      unnotified: new Map(unnotified.map((id) => [id, { isCovered: true }])),
    });

  it("makes what was never notified late, and due at once", async () => {
    await suppressed(acknowledged(camera.id));
    expect(await acknowledge(testStore().store)).toEqual(new Map());
    expect(await withdrawn(T0 + MINUTE)).toEqual(new Map([[slack.id, T0 + MINUTE]]));
    const { dueSince } = await claimed(T0 + MINUTE, "t");
    expect(dueSince).toEqual(new Map([[camera.id, T0 + MINUTE]]));
  });

  it("makes what was notified decided again at once, and nothing late", async () => {
    await suppressed(acknowledged());
    expect(await withdrawn(T0 + MINUTE)).toEqual(new Map([[slack.id, T0 + MINUTE]]));
    await claimed(T0 + MINUTE, "t");
  });

  it("does not shorten group_wait", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await acknowledge(testStore().store);
    await withdrawn(T0 + 1);
    const decision = needsUpdate({ ...(await claimed(T0 + 1, "t")), now: T0 + 1, sendResolved: true });
    expect(decision).toMatchObject({ notify: undefined, nextAt: T0 + WAIT });
    await settle({ now: T0 + 1, ...quiet, nextAt: decision.nextAt });
    expect(await groups.nextDue([slack.id])).toEqual(new Map([[slack.id, T0 + WAIT]]));
  });

  it("is known to a decision that was taken before", async () => {
    await commit(T0, fires(camera, to(slack.id)));
    await acknowledge(testStore().store);
    await claimed(T0 + WAIT, "t");
    await withdrawn(T0 + WAIT + 1);
    const outcome = { now: T0 + WAIT + 2, ...quiet, nextAt: T0 + HOUR, ...acknowledged(camera.id) };
    expect(await settle(outcome)).toBe(T0 + WAIT + 2);
    expect((await claimed(T0 + WAIT + 2, "t")).dueSince).toEqual(new Map([[camera.id, T0 + WAIT + 1]]));
  });
});

describeWithRedis("silences", () => {
  const testStore = useTestStore();

  it("are read as they were written, by every replica, with matchers that match", async () => {
    await silences.write([silence()], T0);
    const [one] = await testStore().replica().silences.read(T0);
    expect(JSON.stringify(one)).toBe(JSON.stringify(silence()));
    expect(one?.matchers.map((matcher) => matcher.matches("critical"))).toEqual([false, true]);
    const [again] = await silences.read(T0);
    expect((await silences.read(T0))[0]).toBe(again);
  });
});
