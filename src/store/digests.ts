/**
 * The time at which each digest is due, which recipients have it already, what people wrote for the next shift, and the
 * spans of time in which sweeps were made.
 */
import type { Redis } from "ioredis";
import type { ShiftNote } from "../alerting/handover.ts";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

/** The two longest periods of digests, and a week. */
const COVERAGE_KEPT_MS = 70 * 86_400_000;
const MOST_SPANS = 2_000;
const SHIFT_NOTES_KEPT = 200;

/** The time at which a digest is due next; `spec` is what that was computed from. */
export interface DigestDue {
  readonly spec: string;
  readonly dueAt: Instant;
}

/** The span that a digest is about; or one of time in which sweeps followed one another. */
export interface TimeRange {
  readonly from: Instant;
  readonly to: Instant;
}

export function createDigestStore(redis: Redis, keys: Keys) {
  const due = createJsonHash<DigestDue>(redis, keys.digestsDue);
  return {
    /** By name of the digest. */
    schedule: due.readAll,
    reschedule: (name: string, next: DigestDue): Promise<void> => due.save(new Map([[name, next]])),
    unschedule: (name: string): Promise<void> => due.forget([name]),

    /**
     * Claims the sending of a digest to one recipient for `ms`, so that a replica that was frozen meanwhile does not
     * send it a second time. False where another replica has the claim.
     */
    async claim(name: string, period: TimeRange, recipient: string, ms: number): Promise<boolean> {
      return (await redis.set(keys.digestClaim(name, period, recipient), 1, "PX", ms, "NX")) === "OK";
    },
    async release(name: string, period: TimeRange, recipient: string): Promise<void> {
      await redis.del(keys.digestClaim(name, period, recipient));
    },

    /** Recipients whose mail server has accepted the digest of this period: a day and a week may end together. */
    async accepted(name: string, { from, to }: TimeRange): Promise<Set<string>> {
      const fields = (await redis.hkeys(keys.digest(name, to))).map((field) => field.split("\n"));
      return new Set(fields.flatMap(([who = "", since]) => (since === `${from}` ? [who] : [])));
    },
    async accept(name: string, { from, to }: TimeRange, recipient: string, at: Instant, keepSeconds: number) {
      const key = keys.digest(name, to);
      await redis.multi().hset(key, `${recipient}\n${from}`, at).expire(key, keepSeconds).exec();
    },
  };
}

export function createShiftNoteStore(redis: Redis, keys: Keys) {
  return {
    async add(note: ShiftNote): Promise<void> {
      const text = JSON.stringify(note);
      await redis
        .multi()
        .lpush(keys.shiftNotes, text)
        .ltrim(keys.shiftNotes, 0, SHIFT_NOTES_KEPT - 1)
        .exec();
    },

    /** Those of a span of time, oldest first. */
    async read({ from, to }: TimeRange): Promise<ShiftNote[]> {
      const all = (await redis.lrange(keys.shiftNotes, 0, -1)).map((text) => JSON.parse(text) as ShiftNote);
      return all.filter(({ at }) => at >= from && at <= to).reverse();
    },
  };
}

export function createCoverageStore(redis: Redis, keys: Keys) {
  return {
    /**
     * Stores that recordings were read at this moment: extends the newest span where that ended at most `gapMs` ago.
     * Replicas may do it at once: two spans that overlap are the same time.
     */
    async note(at: Instant, gapMs: number): Promise<void> {
      const [start, seen] = await redis.zrevrange(keys.coverage, 0, 0, "WITHSCORES");
      if (start !== undefined && at - Number(seen) <= gapMs) {
        await redis.zadd(keys.coverage, "GT", at, start);
        return;
      }
      await redis
        .multi()
        .zadd(keys.coverage, at, String(Math.floor(at)))
        .zremrangebyscore(keys.coverage, "-inf", at - COVERAGE_KEPT_MS)
        .zremrangebyrank(keys.coverage, 0, -MOST_SPANS - 1)
        .exec();
    },

    /** The spans that reach beyond `since`, oldest end first. */
    async since(since: Instant): Promise<TimeRange[]> {
      const flat = await redis.zrangebyscore(keys.coverage, since, "+inf", "WITHSCORES");
      return flat.flatMap((start, i) => (i % 2 === 0 ? [{ from: Number(start), to: Number(flat[i + 1]) }] : []));
    },
  };
}
