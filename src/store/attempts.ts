/** What requests to the service came to, by subject; and what sweeps counted by label. */
import type { Redis } from "ioredis";
import type { Attempt } from "../health/attempt.ts";
import type { ShardGroups } from "../health/group-counts.ts";
import type { Instant } from "../lib/clock.ts";
import type { CommitInput } from "./commit.ts";
import { createJsonHash, createParsedHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

export function createAttemptStore(redis: Redis, keys: Keys) {
  const hash = createJsonHash<Attempt>(redis, keys.attempts);
  const groups = createJsonHash<ShardGroups>(redis, keys.groups);
  let counted = new Map<number, ShardGroups>();
  return {
    /**
     * Stores the result of a request to the service, good or bad, without touching any document. A failure is ignored
     * where a request made later was answered well meanwhile.
     */
    async noteAttempt(
      subject: string,
      now: Instant,
      error?: string,
      askedAt = now,
      more: Pick<Attempt, "known" | "absent" | "fault"> = {},
    ): Promise<void> {
      const known = (await hash.read([subject])).get(subject);
      if (error !== undefined && known && known.goodAt > askedAt) return;
      const goodAt = error === undefined ? now : (known?.goodAt ?? 0);
      const before = error === undefined ? undefined : { ...known, fault: undefined };
      await hash.save(new Map([[subject, { ...before, goodAt, attemptedAt: now, error, ...more }]]));
    },

    /** The part of a commit that stores a good attempt. */
    noting: (subject: string, attempt: Attempt): Pick<CommitInput, "writes" | "read"> => ({
      writes: [["HSET", keys.attempts, subject, JSON.stringify(attempt)]],
      read: subject,
    }),

    /** All attempts by subject: `shard:<n>`, `inventory`, `uptime:<n>`, `counts:<n>`, `fleet`, `health`, `directory`. */
    attempts: createParsedHash(redis, keys.attempts, (text) => JSON.parse(text) as Attempt),
    attemptsOf: hash.read,

    /** Gives what the last good sweep of each of these shards counted by label; those written since the last time are read. */
    async groups(
      shards: readonly number[],
      attempts: ReadonlyMap<string, Attempt>,
    ): Promise<(ShardGroups | undefined)[]> {
      const attemptOf = (shard: number) => attempts.get(`shard:${shard}`);
      const isKnown = (shard: number) => counted.get(shard)?.at === (attemptOf(shard)?.groupsAt ?? Number.NaN);
      const read = await groups.read(shards.filter((shard) => !isKnown(shard)).map(String));
      counted = new Map(
        shards.flatMap((shard) => {
          const one = isKnown(shard) ? counted.get(shard) : read.get(String(shard));
          return one ? [[shard, one] as const] : [];
        }),
      );
      return shards.map((shard) => {
        const one = counted.get(shard);
        return one && { ...one, at: attemptOf(shard)?.goodAt ?? one.at };
      });
    },
  };
}
