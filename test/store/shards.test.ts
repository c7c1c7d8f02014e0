import { expect, it, vi } from "vitest";
import type { ShardGroups } from "../../src/health/group-counts.ts";
import { knownOverview, overviewAfter } from "../../src/health/shard-overview.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import { toStoredEpisode } from "../../src/store/episodes.ts";
import { StoreError } from "../../src/store/errors.ts";
import { emptyShard } from "../../src/store/shard-document.ts";
import { aRecordingState } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { patchOf, shardCommit } from "../support/shard-patch.ts";
import { commit, ends, fires, firing, groups, HOUR, MINUTE, over, shards, T0, to, useTestStore } from "./fixtures.ts";

const DAY = 24 * HOUR;
const camera = firing("cam");

const shardOf = (sweptAt: number): ShardState => ({ sweptAt, recordings: new Map(), locations: new Map() });

describeWithRedis("the one atomic write", () => {
  const testStore = useTestStore();

  const write = (expected: string, sweptAt = T0, shard = 3) =>
    shards.commitShard(shard, shardCommit(expected, shardOf(sweptAt)));

  it("stores on what was read, and is refused on anything else, changes and all", async () => {
    const first = await write("");
    if (first.outcome !== "stored") throw new Error("lost");
    const lost = await shards.commitShard(3, {
      ...shardCommit("", shardOf(T0 + 1)),
      changes: [fires(camera, to("ops/slack/0"))],
    });
    expect(lost).toEqual({ outcome: "lost" });
    expect(await shards.alerts()).toEqual([]);
    expect(await testStore().keys()).toEqual(["attempts", "overview", "shard:3"]);
    expect((await shards.read(3)).nonce).toBe(first.nonce);
    expect((await write(first.nonce, T0 + 2)).outcome).toBe("stored");
  });

  it("writes every location of a shard that has more of them than a call takes", async () => {
    const locations = new Map(Array.from({ length: 1_203 }, (_, i) => [`L${i}`, { id: `L${i}`, alerts: undefined }]));
    const state = { ...shardOf(T0), locations };
    await shards.commitShard(3, shardCommit("", state));
    expect((await testStore().replica().shards.read(3)).state.locations).toEqual(locations);
  });

  it("tells of each recording and location whether a shard has it, however many are asked for", async () => {
    const recordings = new Map([["a", aRecordingState("a")]]);
    const locations = new Map([["b", { id: "b", alerts: undefined }]]);
    await shards.commitShard(3, shardCommit("", { ...shardOf(T0), recordings, locations }));
    const recording = (shard: number, id: string) => ({ shard, subject: { kind: "recording", id } }) as const;
    const location = { shard: 3, subject: { kind: "location", id: "b" } } as const;
    const places = [recording(3, "a"), recording(4, "a"), recording(3, "b"), location];
    const many = Array.from({ length: 300 }, () => places).flat();
    expect(await shards.holding(many)).toEqual(many.map((_, i) => i % 4 === 0 || i % 4 === 3));
  });

  it("has what a sweep counts of groups: nothing of one that is refused, of an older version or of a forgotten shard", async () => {
    const countsAt = (at: number) => ({ at, offline: 1, counts: { camera_server: {} } });
    const sweep = async (expected: string, at: number, groups?: ShardGroups) => {
      const committed = await shards.commitShard(3, { ...shardCommit(expected, shardOf(at)), groups });
      return committed.outcome === "stored" ? committed.nonce : committed.outcome;
    };
    const counted = async () => {
      const other = testStore().replica().shards;
      return (await other.groups([3, 4], await other.attempts())).map((one) => one?.at);
    };
    const first = await sweep("", T0, countsAt(T0));
    expect(await sweep("", T0 + 1, countsAt(T0 + 1))).toBe("lost");
    expect(await counted()).toEqual([T0, undefined]);
    const key = testStore().store.keys.shard(3);
    // As a replica does that counts no groups and knows of none.
    const older = await shards.commit({ key, expected: first, document: "{}", now: T0 + 2, changes: [] });
    expect(await counted()).toEqual([T0, undefined]);
    const nonce = older.outcome === "stored" ? older.nonce : "";
    const without = await sweep(nonce, T0 + 3);
    expect(await counted(), "its rule was removed").toEqual([undefined, undefined]);
    const last = await sweep(without, T0 + 4, countsAt(T0 + 4));
    expect(await counted()).toEqual([T0 + 4, undefined]);
    await shards.forgetShard(3, last);
    expect(await testStore().keys()).toEqual([]);
  });

  it("writes and reads what is counted of groups only where it changed, or another replica wrote meanwhile", async () => {
    const { store, replica } = testStore();
    const field = [store.keys.groups, "3"] as const;
    const [other, redis] = [replica().shards, testStore().redis];
    let nonce = "";
    const sweep = async (at: number, groups: Omit<ShardGroups, "at">, by = store) => {
      const counted = { ...groups, at };
      const committed = await by.shards.commitShard(3, { ...shardCommit(nonce, shardOf(at)), groups: counted });
      nonce = committed.outcome === "stored" ? committed.nonce : "lost";
      return JSON.parse((await redis.hget(...field)) ?? "null").at - T0;
    };
    const read = async () => (await other.groups([3], await other.attempts()))[0];
    const quiet = { offline: 0, counts: { camera_server: {} } };
    expect(await sweep(T0, quiet)).toBe(0);
    expect(await sweep(T0 + 1, structuredClone(quiet)), "the same").toBe(0);
    expect(await read()).toEqual({ ...quiet, at: T0 + 1 });
    await store.shards.noteAttempt("shard:3", T0 + 2, "No answer.");
    await redis.hset(...field, "not read again");
    expect(await read()).toEqual({ ...quiet, at: T0 + 1 });
    expect(await sweep(T0 + 3, { ...quiet, offline: 1 })).toBe(3);
    expect(await read()).toEqual({ ...quiet, offline: 1, at: T0 + 3 });
    expect(await sweep(T0 + 4, { ...quiet, offline: 1, gapMs: 9 })).toBe(4);
    const third = replica();
    expect(await sweep(T0 + 5, { ...quiet, offline: 1, gapMs: 9 }, third), "another replica").toBe(5);
    const last = { ...quiet, offline: 1, gapMs: 9 };
    expect(await sweep(T0 + 6, last), "wrote meanwhile").toBe(6);
  });

  it("of two replicas that sweep the same shard one wins", async () => {
    const other = testStore().replica();
    const [a, b] = await Promise.all([shards.read(0), other.shards.read(0)]);
    const outcomes = await Promise.all(
      [testStore().store, other].map(({ shards }, i) =>
        shards.commitShard(0, {
          ...shardCommit([a, b][i]?.nonce ?? "", shardOf(T0 + i)),
          changes: [fires(firing(`cam-${i}`), to("ops/slack/0"))],
        }),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["lost", "stored"]);
    expect(await shards.alerts()).toHaveLength(1);
  });

  it("memory takes a sweep once it is stored; after anything else the shard is read again", async () => {
    const cam = aRecordingState("cam", { readAt: T0, lastSeenAt: T0 });
    const first = { ...shardOf(T0), recordings: new Map([["cam", cam]]) };
    await shards.commitShard(3, shardCommit("", first));
    const before = await shards.read(3);
    const seen = new Map([["cam", { lastSeenAt: T0 + 1, averageQuality: 0.5 }]]);
    const patch = patchOf(before.state, { ...shardOf(T0 + 5), read: seen });
    const sweep = {
      patch,
      overview: overviewAfter(patch, { intervalMs: 5, inventory: { recording: () => undefined } }),
      now: T0 + 5,
      changes: [],
    };
    const broken = fires({ ...camera, id: 1n as never }, to("ops/slack/0"));
    await expect(shards.commitShard(3, { ...sweep, before, changes: [broken] })).rejects.toThrow();
    expect(await shards.commitShard(3, { ...sweep, before: { ...before, nonce: "of another replica" } })).toEqual({
      outcome: "lost",
    });
    expect((await shards.overviews()).get("3")).toMatchObject({ shard: 3, at: T0 });
    expect(before.state.recordings.get("cam")).toMatchObject({ readAt: T0, lastSeenAt: T0 });
    const again = await shards.read(3);
    expect(again).toEqual(before);
    expect(again.state).not.toBe(before.state);
    const { nonce = "" } = { nonce: "", ...(await shards.commitShard(3, { ...sweep, before: again })) };
    const known = knownOverview(3, sweep.overview);
    expect([await shards.overviews(), await shards.overviewsOf([2, 3])]).toEqual([new Map([["3", known]]), [known]]);
    const read = { readAt: T0 + 5, lastSeenAt: T0 + 1, averageQuality: 0.5 };
    for (const one of [shards, testStore().replica().shards])
      expect((await one.read(3)).state.recordings.get("cam")).toMatchObject(read);
    await shards.forgetShard(3, nonce);
    expect([(await shards.overviews()).size, await shards.overviewsOf([3])]).toEqual([0, []]);
  });

  it("keeps its own last write in memory and reads another replica's", async () => {
    const first = await write("");
    if (first.outcome !== "stored") throw new Error("lost");
    const mine = await shards.read(3);
    expect((await shards.read(3)).state).toBe(mine.state);
    const other = testStore().replica().shards;
    await other.commitShard(3, shardCommit(first.nonce, shardOf(T0 + 9)));
    expect((await shards.read(3)).state.sweptAt).toBe(T0 + 9);
    expect((await shards.readAll([3, 4])).map(({ sweptAt }) => sweptAt)).toEqual([T0 + 9, 0]);
  });

  it.each([6, 99])("a document of another format, %d, is refused by name, never guessed at", async (v) => {
    const { redis, store } = testStore();
    await redis.hset(store.keys.shard(1), { n: "x", d: `{"v":${v},"t":0,"l":[],"r":[]}` });
    await expect(store.shards.read(1)).rejects.toThrow(StoreError);
    const message = expect.stringContaining(`has format ${v}`);
    await expect(store.shards.read(1)).rejects.toMatchObject({ code: "unreadable", retryable: false, message });
  });

  it("an emptied Redis is an empty shard, also for a replica that had it in memory", async () => {
    await write("");
    await testStore().redis.del(testStore().store.keys.shard(3));
    expect(await shards.read(3)).toMatchObject({ nonce: "", state: emptyShard });
  });

  it("forgets a shard only as it was left", async () => {
    const { store } = testStore();
    const first = await write("");
    if (first.outcome !== "stored") throw new Error("lost");
    await store.uptime.saveFigures(3, { at: T0, kinds: [DAY], rows: new Map([["cam", { ratios: [1] }]]) });
    for (const kind of ["uptime", "details", "counts"]) await shards.noteAttempt(`${kind}:3`, T0);
    const { redis } = testStore();
    for (const key of [store.keys.groups, store.keys.countsAssessed, store.keys.uptime(3)])
      await redis.hset(key, 3, "");
    const left = async () => [await testStore().keys(), await redis.hlen(store.keys.attempts)];
    await store.shards.forgetShard(3, "another");
    const keys = ["attempts", "counts-assessed", "figures:3", "groups", "overview", "shard:3", "uptime:3"];
    expect(await left()).toEqual([keys, 4]);
    await shards.noteAttempt("shard:4", T0);
    await store.shards.forgetShard(3, first.nonce);
    expect(await left()).toEqual([["attempts"], 1]);
    expect((await store.shards.read(3)).nonce).toBe("");
  });
});

describeWithRedis("alerts and episodes", () => {
  const testStore = useTestStore();

  it("an alert that goes nowhere is kept while it fires and forgotten when it is over", async () => {
    await commit(T0, fires(camera));
    expect(await shards.alerts()).toEqual([camera]);
    await commit(T0 + MINUTE, ends(camera, T0 + MINUTE));
    expect(await shards.alerts()).toEqual([]);
  });

  it("new facts of a firing alert are kept and make nothing due; those of one that is over are no news", async () => {
    const more = { ...camera, facts: { timezone: "UTC", offline: 3, of: 4 } };
    await commit(T0, { kind: "updated", alert: more, to: [] });
    expect(await shards.alerts()).toEqual([]);
    await commit(T0, fires(camera, to("ops/slack/0")));
    const due = await groups.nextDue(["ops/slack/0"]);
    const wake = await commit(T0 + 1, { kind: "updated", alert: more, to: [] });
    expect(wake.size).toBe(0);
    expect(await shards.alerts()).toEqual([more]);
    expect(await groups.nextDue(["ops/slack/0"])).toEqual(due);
  });

  it("an end is due wherever its beginning was sent, whatever the routes are by then", async () => {
    const places = [to("a/slack/0"), to("b/slack/0", "other")];
    await commit(T0, fires(camera, ...places));
    const wake = await commit(T0 + HOUR, ends(camera, T0 + HOUR));
    expect([...wake.keys()].sort()).toEqual(["a/slack/0", "b/slack/0"]);
  });

  it("an ended episode is one row, found by its end", async () => {
    const { episodes } = testStore().store;
    await commit(T0, fires(camera), fires(firing("b")));
    await commit(T0 + HOUR, ends(camera, T0 + HOUR));
    await commit(T0 + 2 * HOUR, ends(firing("b"), T0 + 2 * HOUR));
    const rows = await episodes.endedSince(T0);
    expect(rows).toEqual([over(camera, T0 + HOUR), over(firing("b"), T0 + 2 * HOUR)].map(toStoredEpisode));
    expect(await episodes.endedSince(T0 + HOUR + 1)).toHaveLength(1);
  });

  it("an episode that ended is not ended again, whether or not its end is owed", async () => {
    const { episodes } = testStore().store;
    await commit(T0, fires(camera, to("ops/slack/0")), fires(firing("b")));
    for (const at of [T0 + 1, T0 + 2]) await commit(at, ends(camera, at), ends(firing("b"), at));
    expect((await episodes.endedSince(T0)).map(({ endsAt }) => endsAt)).toEqual([T0 + 1, T0 + 1]);
    expect(await shards.alerts()).toEqual([over(camera, T0 + 1)]);
  });

  it("an episode is replaced by one replica, once, as it was committed, and in its place", async () => {
    const { episodes } = testStore().store;
    await commit(T0, fires(camera), fires(firing("b")));
    await commit(T0, ends(camera, T0), ends(firing("b"), T0));
    const [before, other] = await episodes.endedSince(T0);
    if (!before || !other) throw new Error("no episodes");
    const after = { ...before, uncounted: { estimate: 312, low: 264, high: 369 } };
    const replaced = await Promise.all([0, 1].map(() => episodes.replace(before, after)));
    expect(replaced.sort()).toEqual([false, true]);
    expect(await episodes.replace(before, { ...after, isSettled: true })).toBe(false);
    expect(new Set(await episodes.endedSince(T0))).toEqual(new Set([after, other]));
  });

  it("as many as there may be are read a few at a time: Redis answers nothing else meanwhile", async () => {
    const { redis, store } = testStore();
    const rows = Array.from({ length: 4_500 }, (_, i) =>
      toStoredEpisode({ ...over(camera, T0 + (i >> 2)), id: `a${i}` }),
    );
    const pairs = rows.map((row) => [row.endsAt ?? 0, JSON.stringify(row)] as const);
    await redis.zadd(store.keys.episodes, ...pairs.flat());
    const calls = vi.spyOn(redis, "zrevrangebyscore");
    const found = await store.episodes.endedSince(T0);
    expect(new Set(found.map(({ id }) => id)).size).toBe(4_500);
    expect(found.map(({ endsAt }) => endsAt)).toEqual(rows.map(({ endsAt }) => endsAt));
    const read = await Promise.all(calls.mock.results.map(({ value }) => value as Promise<string[]>));
    expect(Math.max(...read.map((some) => some.length))).toBeLessThanOrEqual(2_000);
    expect(read.length).toBeGreaterThan(1);
  });

  it("episodes are kept for 90 days, and then until the next one ends", async () => {
    await commit(T0, fires(camera), fires(firing("b")), fires(firing("c")));
    await commit(T0, ends(camera, T0));
    await commit(T0 + 90 * DAY, ends(firing("b"), T0 + 90 * DAY));
    expect(await testStore().store.episodes.endedSince(0)).toHaveLength(2);
    await commit(T0 + 90 * DAY + 1, ends(firing("c"), T0 + 90 * DAY + 1));
    const kept = await testStore().store.episodes.endedSince(0);
    expect(kept.map(({ id }) => id)).toEqual(["b", "c"].map((id) => firing(id).id));
  });

  it("no more than 50,000 episodes are kept, the newest", async () => {
    const { redis, store } = testStore();
    const rows = Array.from({ length: 50_000 }, (_, i) => [String(T0 + i), `{"id":"old-${i}"}`]).flat();
    for (let from = 0; from < rows.length; from += 20_000) {
      await redis.call("zadd", store.keys.episodes, ...rows.slice(from, from + 20_000));
    }
    await commit(T0 + DAY, fires(camera), ends(camera, T0 + DAY));
    expect(await redis.zcard(store.keys.episodes)).toBe(50_000);
    expect(await redis.zrange(store.keys.episodes, 0, "0")).toEqual(['{"id":"old-1"}']);
  });
});

describeWithRedis("attempts", () => {
  useTestStore();

  it("a failure keeps when it last went well; a success forgets the failure", async () => {
    await shards.noteAttempt("inventory", T0, "No answer.");
    await shards.noteAttempt("inventory", T0 + 1);
    await shards.noteAttempt("inventory", T0 + 2, "No answer.");
    expect((await shards.attempts()).get("inventory")).toEqual({
      goodAt: T0 + 1,
      attemptedAt: T0 + 2,
      error: "No answer.",
    });
    await shards.noteAttempt("inventory", T0 + 3);
    expect((await shards.attempts()).get("inventory")).toEqual({ goodAt: T0 + 3, attemptedAt: T0 + 3 });
  });

  it("a stored shard is a good attempt, written in the same step", async () => {
    await shards.commitShard(2, shardCommit("", shardOf(T0)));
    expect((await shards.attempts()).get("shard:2")).toEqual({ goodAt: T0, attemptedAt: T0 });
  });
});
