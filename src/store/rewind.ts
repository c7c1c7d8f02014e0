/**
 * The clock all replicas share may go back (an NTP step, another master of Redis): everything due would be late by as
 * much. Where it goes forward, everything is due early once and nothing is put right.
 */

import type { Redis } from "ioredis";
import type { GroupHead } from "../alerting/group.ts";
import type { NotifiedEntry } from "../alerting/model.ts";
import type { Attempt } from "../health/attempt.ts";
import { chunksOf } from "../lib/chunks.ts";
import { type Instant, movedBack } from "../lib/clock.ts";
import { destined, GroupWork } from "./group-work.ts";
import { createJsonHash, scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { timesIn } from "./redis.ts";
import { newId, type Transact } from "./transact.ts";

/** Replicas differ by less; a smaller step delays by no more than this. */
const SKEW_MS = 5_000;
const PAGE = 200;
/** Larger than any duration or count, and sooner than any instant. */
const SOONEST: Instant = Date.UTC(2001, 0);

/** Gives `followClock(now)`, called every second: puts right what is stored where the clock went back meanwhile. */
export function createFollowClock(redis: Redis, keys: Keys, { transact }: Transact) {
  async function rewindGroups(integration: string, groups: readonly string[], now: Instant, ms: number) {
    for (let isDone = false; !isDone; ) {
      const work = new GroupWork(redis, keys);
      const places = groups.map((group) => destined(integration, group));
      await work.load(places);
      for (const place of places) {
        const head = work.head(place);
        if (head) work.put(place, movedBack<GroupHead>(head, now, ms));
      }
      isDone = (await transact(work.transaction())).kind !== "conflict";
    }
  }

  async function rewindIntegration(integration: string, now: Instant, ms: number): Promise<void> {
    for (const key of [keys.due(integration), keys.roots(integration)]) {
      const times = timesIn(await redis.zrange(key, 0, "-1", "WITHSCORES"));
      for (const page of chunksOf(times, PAGE)) {
        const groups = page.map(([group]) => group);
        // Before the index: a group that is looked at in between is put right by its own times.
        await rewindGroups(integration, groups, now, ms);
        await redis.zadd(key, "LT", ...page.flatMap(([group, at]) => [movedBack(at, now, ms), group]));
      }
    }
    const log = keys.notificationLog(integration);
    const moved: { readonly id: string; readonly before: string; readonly after: string }[] = [];
    await scanHash(redis, log, (id, before) => {
      const { alert, ...entry } = JSON.parse(before) as Partial<NotifiedEntry>;
      const after = JSON.stringify({ alert, ...movedBack(entry, now, ms) });
      if (after !== JSON.stringify({ alert, ...entry })) moved.push({ id, before, after });
    });
    for (const { id, before, after } of moved) {
      const checks = [{ place: [log, id] as const, version: before }];
      await transact({ id: newId(), checks, writes: [["HSET", log, id, after]] });
    }
  }

  /** An attempt that lies ahead would pass for a new one: it was made now, and its times are as long before it as they were. */
  async function rewindAttempts(now: Instant): Promise<void> {
    const attempts = createJsonHash<Attempt>(redis, keys.attempts);
    const ahead = [...(await attempts.readAll())].filter(([, { attemptedAt }]) => attemptedAt > now);
    const moved = ahead.map(([id, one]) => [id, movedBack(one, SOONEST, one.attemptedAt - now)] as const);
    await attempts.save(new Map(moved));
  }

  return async (now: Instant): Promise<void> => {
    const ms = Number((await redis.get(keys.clock)) ?? 0) - now;
    if (ms > SKEW_MS) {
      for (const integration of await redis.smembers(keys.integrations)) await rewindIntegration(integration, now, ms);
      await rewindAttempts(now);
      const [state, since] = await redis.hmget(keys.started, "state", "since");
      if (state === "gathering" && Number(since) > now) await redis.hset(keys.started, "since", now);
    }
    await redis.set(keys.clock, now);
  };
}
