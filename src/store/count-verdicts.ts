/** The verdicts on the counts of each shard, and on those of the whole fleet, for sweeps and the exposition. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { SiteAssessment } from "../counts/evaluate.ts";
import type { DroppedTogether, SubjectVerdict } from "../counts/verdict.ts";
import type { Instant } from "../lib/clock.ts";
import { mapYielding } from "../lib/yield.ts";
import { readDocument, type Versioned } from "./documents.ts";
import type { Keys } from "./keys.ts";

/** The count of a location in the last local hour that is over; undefined: not known. */
export interface CountedHour {
  readonly locationId: string;
  readonly hour: Instant;
  readonly expected?: number | undefined;
  readonly counted?: number | undefined;
}

interface AssessedShard {
  readonly at: Instant;
  /** By the key of their condition. */
  readonly rules: Readonly<Record<string, readonly SiteAssessment[]>>;
  readonly hours: readonly CountedHour[];
}

export interface JudgedCounts {
  readonly at: Instant;
  /** By the key of their condition. */
  readonly rules: Readonly<
    Record<string, { readonly verdicts: readonly SubjectVerdict[]; readonly together: readonly DroppedTogether[] }>
  >;
  readonly hours: readonly CountedHour[];
}

const NONE: JudgedCounts = { at: 0, rules: {}, hours: [] };

export function createCountVerdictStore(redis: Redis, keys: Keys) {
  const decode = (text: string) => JSON.parse(text) as JudgedCounts;
  let known: Versioned<JudgedCounts> = { nonce: "", state: NONE };
  return {
    async saveAssessed(shard: number, assessed: AssessedShard): Promise<void> {
      await redis.hset(keys.countsAssessed, String(shard), JSON.stringify(assessed));
    },

    /** By shard. */
    async assessed(): Promise<Map<number, AssessedShard>> {
      const rows = Object.entries(await redis.hgetall(keys.countsAssessed));
      // For a large fleet tens of megabytes.
      return new Map(
        await mapYielding(rows, ([shard, text]) => [Number(shard), JSON.parse(text) as AssessedShard] as const),
      );
    },

    async saveJudged(judged: JudgedCounts): Promise<void> {
      await redis.hset(keys.countsJudged, { n: randomUUID(), d: JSON.stringify(judged) });
    },

    /** Reads what another replica wrote. */
    async refreshJudged(): Promise<JudgedCounts> {
      known = await readDocument(redis, keys.countsJudged, { decode, empty: NONE, known });
      return known.state;
    },

    /** Deletes what counts show and come to, and the usual entries: where none are read, all of it grows old. */
    async forgetAll(): Promise<void> {
      await redis.unlink(keys.countsAssessed, keys.countsJudged, keys.usualEntries);
    },
  };
}
