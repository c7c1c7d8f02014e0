/**
 * The clock all replicas share may go back (an NTP step, another master of Redis): everything due would be late by as
 * much. Where it goes forward, everything is due early once and nothing is put right.
 */

import type { Redis } from "ioredis";
import type { NotificationLogEntry } from "../alerting/model.ts";
import type { Attempt } from "../health/model.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash, scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

/** Replicas differ by less; a smaller step delays by no more than this. */
const SKEW_MS = 5_000;
const PAGE = 200;

/** Gives `followClock(now)`, called every second: puts right what is stored where the clock went back meanwhile. */
export function createFollowClock(redis: Redis, keys: Keys) {
  const rewind = loadScript(redis, keys, "rewind", "groups");

  async function rewindIntegration(integration: string, before: Instant, now: Instant): Promise<void> {
    const call = (moved: { groups?: readonly string[]; episodes?: readonly string[] }) =>
      rewind(keys.due(integration), { integration, before, now, groups: [], episodes: [], ...moved });
    const groups = await redis.zrange(keys.due(integration), 0, "-1");
    for (const page of chunksOf(groups, PAGE)) await call({ groups: page });
    const ahead: string[] = [];
    await scanHash(redis, keys.notificationLog(integration), (id, entry) => {
      if (isAhead(entry, now)) ahead.push(id);
    });
    for (const page of chunksOf(ahead, PAGE)) await call({ episodes: page });
  }

  /** An attempt that lies ahead would pass for a new one. */
  async function rewindAttempts(now: Instant): Promise<void> {
    const attempts = createJsonHash<Attempt>(redis, keys.attempts);
    const ahead = [...(await attempts.readAll())].filter(([, { attemptedAt }]) => attemptedAt > now);
    const moved = ahead.map(([subject, attempt]) => {
      const since = attempt.since && Math.min(attempt.since, now);
      return [subject, { ...attempt, goodAt: Math.min(attempt.goodAt, now), attemptedAt: now, since }] as const;
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

function isAhead(entry: string, now: Instant): boolean {
  const { notifiedAt, endNotifiedAt = 0 } = JSON.parse(entry) as NotificationLogEntry;
  return Math.max(notifiedAt, endNotifiedAt) > now;
}
