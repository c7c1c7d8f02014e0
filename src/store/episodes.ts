/** Alerts that fire, and ended episodes: one small row each, sorted by their end, for digests and the API. */
import type { Redis } from "ioredis";
import { fingerprint } from "../alerting/fingerprint.ts";
import { type EndedEpisode, episodeOf } from "../alerting/incident.ts";
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Alert } from "../health/alert.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { createFollower, logging } from "./change-log.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { type Place, type Transact, type Write, writing } from "./transact.ts";

const PAGE = 500;
const EPISODES_KEPT_MS = 90 * 86_400_000;

/** The writes that tell other processes which alerts a transaction changes. */
export function changedAlerts(keys: Keys, id: string, episodes: readonly string[]): Write[] {
  if (episodes.length === 0) return [];
  return logging(keys.alertsLog, id, episodes);
}

/** The writes of ended episodes, for 90 days and no more than EPISODES_KEPT: about 15 MB. */
export function endedEpisodes(keys: Keys, episodes: readonly StoredEpisode[], now: Instant): Write[] {
  if (episodes.length === 0) return [];
  return [
    ["ZADD", keys.episodes, ...episodes.flatMap((one) => [one.endsAt ?? now, JSON.stringify(one)])],
    ["ZREMRANGEBYSCORE", keys.episodes, "-inf", `(${now - EPISODES_KEPT_MS}`],
    ["ZREMRANGEBYRANK", keys.episodes, 0, -(EPISODES_KEPT + 1)],
  ];
}

/**
 * Gives all alerts that fire: the same list as long as nothing changes, and the same alerts in it. What other processes
 * wrote since the last time is read, no more.
 */
export function createFiringStore(redis: Redis, keys: Keys) {
  let alerts = new Map<string, Alert>();
  let firing: readonly Alert[] = [];

  async function readSome(ids: readonly string[]): Promise<void> {
    for (const page of chunksOf(ids, PAGE)) {
      const texts = await redis.hmget(keys.alerts, ...page);
      for (const [i, id] of page.entries()) keep(id, texts[i]);
    }
  }

  async function readAll(): Promise<void> {
    alerts = new Map();
    await scanHash(redis, keys.alerts, keep);
  }

  function keep(id: string, text: string | null | undefined): void {
    if (text?.startsWith("F")) alerts.set(id, JSON.parse(text.slice(1)) as Alert);
    else alerts.delete(id);
  }

  const { follow } = createFollower<readonly string[]>(redis, keys.alertsLog, async (changes) => {
    await (changes ? readSome([...new Set(changes.flat())]) : readAll());
    firing = [...alerts.values()];
  });
  return async (): Promise<readonly Alert[]> => {
    await follow();
    return firing;
  };
}

/** One episode of an alert, resolved (`endsAt`) or not. */
export interface StoredEpisode extends EndedEpisode {
  readonly ruleId: string;
  readonly alertname: string;
  /** The fingerprint of its labels. */
  readonly fingerprint?: string | undefined;
  /** The name of the maintenance in which it began or ended. */
  readonly planned?: string | undefined;
  /** Visits of its location that were not counted meanwhile, in whole ones; undefined: none, or not known. */
  readonly uncounted?: VisitsLost | undefined;
  /** They were estimated from counts that the service corrects no more. */
  readonly isSettled?: true | undefined;
}

/** An alert as the row of its episode. */
export function toStoredEpisode(alert: Alert): StoredEpisode {
  return {
    ...episodeOf(alert),
    ruleId: alert.ruleId,
    alertname: alert.labels.alertname ?? "",
    fingerprint: fingerprint(alert.labels),
  };
}

/** Redis answers nothing else during a call: so many are read in a few milliseconds. */
const EPISODES_A_CALL = 2_000;

/** The oldest go when there are more. */
export const EPISODES_KEPT = 50_000;

export function createEpisodeStore(redis: Redis, keys: Keys, { change }: Transact) {
  const replaced: Place = [keys.episodeReplaced];
  return {
    /** True where it was still stored as `before`, and is now `after`, which ended at the same time. */
    replace: (before: StoredEpisode, after: StoredEpisode): Promise<boolean> =>
      change([replaced], async (_, id) => {
        const member = JSON.stringify(before);
        const score = await redis.zscore(keys.episodes, member);
        if (score === null) return { writes: [], result: false };
        const writes: Write[] = [
          writing(id, replaced, ""),
          ["ZREM", keys.episodes, member],
          ["ZADD", keys.episodes, score, JSON.stringify(after)],
        ];
        return { writes, result: true };
      }),

    /** Episodes that ended at or after `from`, oldest end first. Open ones are among the alerts. */
    async endedSince(from: Instant): Promise<StoredEpisode[]> {
      const found = new Map<string, StoredEpisode>();
      // From the newest on: what is dropped meanwhile to make room moves nothing that is still to be read.
      for (let offset = 0; offset <= EPISODES_KEPT; offset += EPISODES_A_CALL) {
        const rows = await redis.zrevrangebyscore(keys.episodes, "+inf", from, "LIMIT", offset, EPISODES_A_CALL);
        for (const row of rows) found.set(row, JSON.parse(row) as StoredEpisode);
        if (rows.length < EPISODES_A_CALL) break;
      }
      return [...found.values()].reverse();
    },

    /** The newest that ended at or after `from`; undefined where they are more than `most`. */
    async latest(from: Instant, most: number): Promise<StoredEpisode[] | undefined> {
      const rows = await redis.zrevrangebyscore(keys.episodes, "+inf", from, "LIMIT", 0, most + 1);
      return rows.length > most ? undefined : rows.map((row) => JSON.parse(row) as StoredEpisode);
    },

    /** From when on no episode was dropped to make room; 0 while none was. */
    async completeSince(): Promise<Instant> {
      if ((await redis.zcard(keys.episodes)) < EPISODES_KEPT) return 0;
      const [, end] = await redis.zrangebyscore(keys.episodes, "-inf", "+inf", "WITHSCORES", "LIMIT", 0, 1);
      return Number(end ?? 0);
    },
  };
}
