/** What the daemon commits to Redis: which answers of the service were evaluated, and which alerts there were. */
import { Redis } from "ioredis";
import { z } from "zod";
import type { Instant } from "../../src/lib/clock.ts";
import { keysUnder } from "../../src/store/keys.ts";
import type { Episode } from "./notices.ts";

/** More often than anything is swept. */
const POLL_MS = 200;

const Attempt = z.object({ goodAt: z.number() });
const Labels = z.object({ recording_id: z.string(), location_id: z.string(), location: z.string() });
/** An alert as it is stored, after `F` or `R`. */
const Stored = z.object({ id: z.string(), startsAt: z.number(), endsAt: z.number().optional(), labels: Labels });

const Ended = z.object({ id: z.string(), endsAt: z.number() });
/** An end may be stored so much later. */
const OVERLAP_MS = 300_000;

/** Polls Redis from now on, also after failures. */
export function watchSweeps(url: string) {
  const keys = keysUnder("lenswatch");
  const judged = new Map<string, Instant[]>();
  const shardOf = new Map<string, string>();
  const episodes = new Map<string, Episode>();
  const redis = new Redis(url, { retryStrategy: () => POLL_MS, maxRetriesPerRequest: 0 });
  redis.on("error", () => {});
  let polling = false;
  let endedUntil = OVERLAP_MS;

  async function poll(): Promise<void> {
    const [attempts, assigned, alerts, ended] = await Promise.all([
      redis.hgetall(keys.attempts),
      redis.hgetall(keys.assignments),
      redis.hvals(keys.alerts),
      redis.zrangebyscore(keys.episodes, endedUntil - OVERLAP_MS, "+inf"),
    ]);
    for (const text of alerts) {
      const { data } = Stored.safeParse(JSON.parse(text.slice(1)));
      if (!data) continue;
      const { id, startsAt, endsAt, labels } = data;
      const { recording_id: recordingId, location_id: locationId, location } = labels;
      episodes.set(id, { id, recordingId, locationId, location, startsAt, endsAt });
    }
    // A resolved alert is stored for as long as its end is not notified: milliseconds.
    for (const text of ended) {
      const { id, endsAt } = Ended.parse(JSON.parse(text));
      endedUntil = Math.max(endedUntil, endsAt);
      const known = episodes.get(id);
      if (known) episodes.set(id, { ...known, endsAt });
    }
    for (const [location, shard] of Object.entries(assigned)) shardOf.set(location, shard);
    for (const [subject, text] of Object.entries(attempts)) {
      if (!subject.startsWith("shard:")) continue;
      const { goodAt } = Attempt.parse(JSON.parse(text));
      const known = judged.get(subject) ?? [];
      if (goodAt > (known.at(-1) ?? 0)) known.push(goodAt);
      judged.set(subject, known);
    }
  }

  const timer = setInterval(async () => {
    if (polling) return;
    polling = true;
    await poll().catch(() => {});
    polling = false;
  }, POLL_MS);

  return {
    /** By location: when an answer about it was evaluated and committed, oldest first. */
    byLocation: (): ReadonlyMap<string, readonly Instant[]> =>
      new Map([...shardOf].map(([location, shard]) => [location, judged.get(`shard:${shard}`) ?? []])),
    /** Alerts about recordings that there were, by id. */
    episodes: episodes as ReadonlyMap<string, Episode>,
    close() {
      clearInterval(timer);
      redis.disconnect();
    },
  };
}
