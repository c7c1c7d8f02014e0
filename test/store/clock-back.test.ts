import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { createLease } from "../../src/store/replicas.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  camera,
  claimed,
  commit,
  committer,
  ends,
  fires,
  firing,
  groups,
  HOUR,
  LEASE,
  MINUTE,
  SECOND,
  sentOf,
  shards,
  slack,
  T0,
  type TestStore,
  to,
  useTestStore,
} from "./fixtures.ts";

/** When the clock goes back; everything before happened by the clock as it was. */
const T = T0 + 6 * HOUR;
const at = to(slack.id);
const failure = { code: "server_error", detail: "503", scope: "endpoint" } as const;

interface Scene {
  readonly testStore: TestStore;
  readonly commit: ReturnType<typeof committer>;
}

async function notify({ testStore }: Scene, now: Instant, alerts: readonly Alert[]): Promise<void> {
  await claimed(now, "told");
  await testStore.store.groups.settle(slack, "told", [{ group: "g", settle: sentOf(now, alerts) }]);
}

/** The camera's alert fires. */
async function fire(commit: Scene["commit"], firedAt: Instant): Promise<Alert> {
  const alert = firing("cam", firedAt);
  await commit(firedAt, fires(alert, at));
  return alert;
}

/** The endpoint refuses a message, which is tried again `until` then. */
async function refuse({ testStore }: Scene, until: Instant): Promise<void> {
  const now = T - 10 * SECOND;
  await claimed(now, "refused");
  await testStore.store.groups.settle(slack, "refused", [{ group: "g", postpone: { now, at: until, failure } }]);
}

/** Why a message is sent then, and how many alerts it names; undefined where nothing is due or nothing is sent. */
async function served({ testStore: { store } }: Scene, now: Instant) {
  const token = `at ${now}`;
  const claim = await store.groups.claim(slack, token, now, LEASE);
  if (claim.kind !== "group") return undefined;
  const decision = needsUpdate({ ...claim, now, sendResolved: true });
  if (decision.notify !== undefined)
    return { reason: decision.notify, firing: decision.firing.length, resolved: decision.resolved.length };
  const { nextAt, settled: unnotified } = decision;
  await store.groups.settle(slack, token, [
    { group: claim.group, settle: { now, sent: false, notified: [], over: [], unnotified, nextAt } },
  ]);
  return undefined;
}

interface Case {
  readonly name: string;
  prepare(scene: Scene): Promise<unknown>;
  /** How long after T it is due. */
  readonly inMs: number;
  readonly message: Awaited<ReturnType<typeof served>>;
}

const cases: Case[] = [
  {
    name: "a new outage that waits for group_wait",
    prepare: ({ commit }) => fire(commit, T - 10 * SECOND),
    inMs: 20 * SECOND,
    message: { reason: "first", firing: 1, resolved: 0 },
  },
  {
    name: "a second outage that waits for group_interval",
    async prepare(scene) {
      await notify(scene, T - MINUTE, [await fire(scene.commit, T - 2 * MINUTE)]);
      await scene.commit(T, fires(firing("second", T), at));
    },
    inMs: 4 * MINUTE,
    message: { reason: "more", firing: 2, resolved: 0 },
  },
  {
    name: "an end that is owed",
    async prepare(scene) {
      const alert = await fire(scene.commit, T - 3 * MINUTE);
      await notify(scene, T - 2 * MINUTE, [alert]);
      await scene.commit(T - MINUTE, ends(alert, T - MINUTE));
    },
    inMs: 3 * MINUTE,
    message: { reason: "resolved", firing: 0, resolved: 1 },
  },
  {
    name: "a reminder",
    prepare: async (scene) => notify(scene, T - 5 * MINUTE, [await fire(scene.commit, T - 6 * MINUTE)]),
    inMs: 4 * HOUR - 5 * MINUTE,
    message: { reason: "reminder", firing: 1, resolved: 0 },
  },
  {
    name: "an endpoint in backoff",
    async prepare(scene) {
      await fire(scene.commit, T - MINUTE);
      await refuse(scene, T + 110 * SECOND);
    },
    inMs: 110 * SECOND,
    message: { reason: "first", firing: 1, resolved: 0 },
  },
  {
    name: "an outage that ended while only its receiver failed",
    async prepare(scene) {
      const alert = await fire(scene.commit, T - 40 * MINUTE);
      await scene.commit(T - 5 * MINUTE, ends(alert, T - 5 * MINUTE));
      await refuse(scene, T + MINUTE);
    },
    inMs: MINUTE,
    message: { reason: "resolved", firing: 0, resolved: 1 },
  },
  {
    name: "an outage that ended within group_wait",
    async prepare({ commit }) {
      await commit(T - 5 * SECOND, ends(await fire(commit, T - 20 * SECOND), T - 5 * SECOND));
    },
    inMs: 10 * SECOND,
    message: undefined,
  },
];

describeWithRedis("when the clock goes back", () => {
  const testStore = useTestStore();

  async function goBack(ms: number): Promise<Instant> {
    const { followClock } = testStore().store;
    await followClock(T);
    await followClock(T - ms);
    return T - ms;
  }

  describe.each([10 * MINUTE, HOUR])("by %d ms", (ms) => {
    it.each(cases)("$name is served when it would have been", async ({ prepare, inMs, message }) => {
      const scene = { testStore: testStore(), commit: committer(testStore()) };
      await prepare(scene);
      const now = await goBack(ms);
      // Two replicas find it at once: then it may be earlier.
      if (ms === HOUR) {
        await testStore().redis.set(testStore().store.keys.clock, T);
        await testStore().replica().followClock(now);
      } else if (message) expect(await served(scene, now + inMs - SECOND)).toBeUndefined();
      expect(await served(scene, now + inMs)).toEqual(message);
    });

    it("a claim whose replica died is over when it would have been", async () => {
      await commit(T - MINUTE, fires(camera, at));
      await claimed(T, "died");
      const { keys } = testStore().store;
      await testStore().redis.pexpire(keys.claim(slack.id), LEASE + ms);
      const now = await goBack(ms);
      const { kind, until } = (await groups.claim(slack, "next", now, LEASE)) as { kind: string; until: Instant };
      expect(kind).toBe("busy");
      expect(until).toBeLessThanOrEqual(now + LEASE);
      await testStore().endLease(slack.id);
      expect((await claimed(now + LEASE, "next")).alerts).toEqual([camera]);
    });

    it("what one replica does in each interval goes on", async () => {
      const { redis, store } = testStore();
      const lease = createLease(redis, store.keys.heartbeat);
      await lease(MINUTE);
      await redis.pexpire(store.keys.heartbeat, MINUTE + ms);
      expect(await lease(MINUTE)).toBe(false);
      expect(await redis.pttl(store.keys.heartbeat)).toBeLessThanOrEqual(MINUTE);
    });
  });

  it("an attempt that would lie ahead was made now, and what it was good for or did not read is as old as it was", async () => {
    const { redis, store } = testStore();
    const ago = fc.nat(20 * HOUR);
    const attempt = fc
      .record({ attempted: ago, good: ago, unread: fc.array(ago, { maxLength: 3 }), known: fc.nat(1_000) })
      .map(({ attempted, good, unread, known }): Attempt => {
        const goodAt = T - attempted - good;
        const read = unread.map((ms, i) => [`r${i}`, ms === 0 ? 0 : goodAt - ms] as const);
        return { goodAt, attemptedAt: T - attempted, since: T - 40 * HOUR, known, unread: Object.fromEntries(read) };
      });
    await fc.assert(
      fc.asyncProperty(attempt, fc.integer({ min: 6 * SECOND, max: 10 * HOUR }), async (before, ms) => {
        await redis.hset(store.keys.attempts, "shard:0", JSON.stringify(before));
        const now = await goBack(ms);
        const after = (await shards.attempts()).get("shard:0");
        const isAhead = before.attemptedAt > now;
        const aged = (at: Instant) => (at && isAhead ? at - before.attemptedAt + now : at);
        expect(after).toEqual({
          ...before,
          goodAt: aged(before.goodAt),
          attemptedAt: aged(before.attemptedAt),
          since: aged(before.since ?? 0),
          unread: Object.fromEntries(Object.entries(before.unread ?? {}).map(([id, at]) => [id, aged(at)])),
        });
      }),
      { numRuns: 60 },
    );
  });

  it("to what it was before it went forward, nothing waits longer than its own timer", async () => {
    const scene = { testStore: testStore(), commit: committer(testStore()) };
    await scene.commit(T - 2 * MINUTE, fires(camera, at));
    await notify(scene, T - MINUTE, [camera]);
    await scene.commit(T, fires(firing("second", T), at));
    await scene.commit(T + HOUR, fires(firing("other", T + HOUR), to(slack.id, "other")));
    await testStore().store.followClock(T + HOUR + SECOND);
    await testStore().store.followClock(T);
    expect(await served(scene, T + 29 * SECOND)).toEqual({ reason: "first", firing: 1, resolved: 0 });
  });
});

describeWithRedis("when the clock goes forward", () => {
  const testStore = useTestStore();

  it("what waits is due at once and only once, a reminder early by as much and not again", async () => {
    const scene = { testStore: testStore(), commit: committer(testStore()) };
    await scene.commit(T - 10 * MINUTE, fires(camera, at));
    await notify(scene, T - 9 * MINUTE, [camera]);
    await testStore().store.followClock(T);
    await testStore().store.followClock(T + HOUR);
    expect(await served(scene, T + HOUR)).toBeUndefined();
    await scene.commit(T + HOUR, ends(camera, T + HOUR));
    expect(await served(scene, T + HOUR)).toEqual({ reason: "resolved", firing: 0, resolved: 1 });
  });
});
