/**
 * The clock all replicas share may go back (an NTP step, another master of Redis): everything due would be late by as
 * much. Where it goes forward, everything is due early once and nothing is put right.
 */

import type { Redis } from "ioredis";
import { rewound, rewoundInstant, rewoundTime } from "../alerting/group.ts";
import type { NotificationLogEntry } from "../alerting/model.ts";
import type { Attempt } from "../health/attempt.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { destined, GroupWork } from "./group-work.ts";
import { createJsonHash, scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { newId, type Transact } from "./transact.ts";

/** Replicas differ by less; a smaller step delays by no more than this. */
const SKEW_MS = 5_000;
const PAGE = 200;

/** Gives `followClock(now)`, called every second: puts right what is stored where the clock went back meanwhile. */
export function createFollowClock(redis: Redis, keys: Keys, { transact }: Transact) {
  async function rewindGroups(integration: string, groups: readonly string[], before: Instant, now: Instant) {
    for (let isDone = false; !isDone; ) {
      const work = new GroupWork(redis, keys);
      const places = groups.map((group) => destined(integration, group));
      await work.load(places);
      for (const place of places) {
        const head = work.head(place);
        if (head) work.put(place, rewound(head, before, now));
      }
      isDone = (await transact(work.transaction(newId()))).kind !== "conflict";
    }
  }

  /** Groups before the index: one that is looked at in between is put right by its own times. */
  async function rewindIndex(integration: string, key: string, before: Instant, now: Instant): Promise<void> {
    const flat = await redis.zrange(key, 0, "-1", "WITHSCORES");
    const times = flat.flatMap((group, i) => (i % 2 === 0 ? [[group, Number(flat[i + 1])] as const] : []));
    for (const page of chunksOf(times, PAGE)) {
      await rewindGroups(
        integration,
        page.map(([group]) => group),
        before,
        now,
      );
      await redis.zadd(key, "LT", ...page.flatMap(([group, at]) => [rewoundTime(at, before, now), group]));
    }
  }

  async function rewindIntegration(integration: string, before: Instant, now: Instant): Promise<void> {
    for (const key of [keys.due(integration), keys.roots(integration)])
      await rewindIndex(integration, key, before, now);
    const log = keys.notificationLog(integration);
    const ahead: [string, string][] = [];
    await scanHash(redis, log, (id, entry) => {
      if (isAhead(entry, now)) ahead.push([id, entry]);
    });
    for (const [id, text] of ahead) {
      const past = (at: Instant | undefined) => rewoundInstant(at, before, now);
      const { notifiedAt, firstNotifiedAt, endNotifiedAt, ...entry } = JSON.parse(text) as NotificationLogEntry;
      const moved = {
        notifiedAt: past(notifiedAt),
        firstNotifiedAt: past(firstNotifiedAt),
        endNotifiedAt: past(endNotifiedAt),
      };
      const checks = [{ place: [log, id] as const, version: text }];
      await transact({ id: newId(), checks, writes: [["HSET", log, id, JSON.stringify({ ...entry, ...moved })]] });
    }
  }

  /** An attempt that lies ahead would pass for a new one. */
  async function rewindAttempts(now: Instant): Promise<void> {
    const attempts = createJsonHash<Attempt>(redis, keys.attempts);
    const ahead = [...(await attempts.readAll())].filter(([, { attemptedAt }]) => attemptedAt > now);
    const moved = ahead.map(([subject, attempt]) => {
      const back = (at: Instant) => Math.max(0, at - (attempt.attemptedAt - now));
      const since = attempt.since && Math.min(attempt.since, now);
      const unread = attempt.unread && mapValues(attempt.unread, back);
      return [subject, { ...attempt, goodAt: back(attempt.goodAt), attemptedAt: now, since, unread }] as const;
    });
    await attempts.save(new Map(moved));
  }

  return async (now: Instant): Promise<void> => {
    const before = Number((await redis.get(keys.clock)) ?? 0);
    if (before - now > SKEW_MS) {
      for (const integration of await redis.smembers(keys.integrations))
        await rewindIntegration(integration, before, now);
      await rewindAttempts(now);
      const [state, since] = await redis.hmget(keys.started, "state", "since");
      if (state === "gathering" && Number(since) > now) await redis.hset(keys.started, "since", now);
    }
    await redis.set(keys.clock, now);
  };
}

function mapValues<T>(all: Readonly<Record<string, T>>, change: (one: T) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(all).map(([key, one]) => [key, change(one)]));
}

function isAhead(entry: string, now: Instant): boolean {
  const { notifiedAt, endNotifiedAt = 0 } = JSON.parse(entry) as NotificationLogEntry;
  return Math.max(notifiedAt, endNotifiedAt) > now;
}
