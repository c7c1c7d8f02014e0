/** Shards, each guarded by a random nonce that is read before the service is asked. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Redis } from "ioredis";
import type { Alert, Subject } from "../health/alert.ts";
import type { Attempt } from "../health/attempt.ts";
import type { ShardGroups } from "../health/group-counts.ts";
import { type KnownOverview, knownOverview, type ShardOverview } from "../health/shard-overview.ts";
import { patched, type ShardPatch } from "../health/shard-patch.ts";
import type { ShardState } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import { unlessThrown } from "../lib/errors.ts";
import { createRecent } from "../lib/recent.ts";
import { createAttemptStore } from "./attempts.ts";
import { type CommitDeps, type CommitInput, type CommitResult, createCommit } from "./commit.ts";
import { StoreError } from "./errors.ts";
import { statesOf } from "./group-work.ts";
import { createParsedHash, scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { decodeHot, decodeShard, encodeSweep, fieldOf, type StoredShard } from "./shard-document.ts";
import { newId, type Write } from "./transact.ts";

/** Shards that other replicas sweep are read now and then. */
const KEPT_MS = 120_000;
/** The event loop stands still for what arrives together. */
const READS_AT_ONCE = 4;
const ASKED_AT_ONCE = 500;

export type ShardCommit = Pick<CommitInput, "now" | "changes" | "lines" | "only"> & {
  /** The shard as it was read, and evaluated. */
  readonly before: StoredShard;
  readonly patch: ShardPatch;
  readonly overview: ShardOverview;
  /** The facts of an attempt beside its time. */
  readonly sweep?: Omit<Attempt, "goodAt" | "attemptedAt"> | undefined;
  readonly groups?: ShardGroups | undefined;
};

export function createShardStore(redis: Redis, keys: Keys, deps: CommitDeps) {
  const { transact } = deps.transact;
  const commit = createCommit(redis, keys, deps);
  const { cache, read, readAll } = createShardReader(redis, keys);

  return {
    ...createAttemptStore(redis, keys),

    /** The write itself, for other documents than shards. */
    commit,

    /** The shard as stored. What this process read or wrote last is not transferred again. */
    read,

    /** All of these shards as stored, in one round trip where no other replica wrote. */
    readAll,

    /**
     * Stores what a sweep changes. `lost`: another replica swept the shard meanwhile, the evaluation is void. Memory takes
     * the patch once it is stored; after anything else the shard is read again.
     */
    async commitShard(
      shard: number,
      { before, patch, overview, sweep, groups, ...input }: ShardCommit,
    ): Promise<CommitResult> {
      const cached = cache.get(shard);
      const known = cached?.nonce === before.nonce ? cached.groups : undefined;
      const fields = encodeSweep(before, patch, randomUUID());
      const [key, subject] = [keys.shard(shard), `shard:${shard}`];
      const isSame = known !== undefined && isDeepStrictEqual(known, groups && { ...groups, at: known.at });
      // The objects of this sweep: those of the next are the same while nothing is wrong.
      const counted = groups && { ...groups, at: isSame ? known.at : groups.at };
      const attempt: Attempt = { goodAt: input.now, attemptedAt: input.now, groupsAt: counted?.at, ...sweep };
      let committed: CommitResult | undefined;
      try {
        committed = await commit({
          ...input,
          key,
          expected: before.nonce,
          document: fields.document,
          read: subject,
          writes: [
            ...(fields.isWhole ? [["DEL", key] as const] : []),
            ["HSET", key, ...fields.more],
            ["HDEL", key, ...fields.gone],
            ["HSET", keys.overview, shard, JSON.stringify(overview)],
            ["HSET", keys.attempts, subject, JSON.stringify(attempt)],
            ...(isSame ? [] : [groupsWrite(keys, shard, groups)]),
          ],
        });
      } finally {
        if (committed?.outcome !== "stored") cache.delete(shard);
      }
      if (committed.outcome === "lost") return committed;
      const [{ nonce }, { cold }] = [committed, fields];
      cache.set(shard, { nonce, cold, state: patched(before.state, patch), groups: counted });
      return committed;
    },

    /** Deletes a shard whose last state, written under this nonce, is empty: document, history, figures, attempts. */
    async forgetShard(shard: number, nonce: string): Promise<void> {
      await transact({
        id: newId(),
        checks: [{ place: [keys.shard(shard), "n"], version: nonce }],
        writes: [
          ["DEL", keys.shard(shard), keys.uptime(shard), keys.figures(shard)],
          ["HDEL", keys.groups, shard],
          ["HDEL", keys.overview, shard],
          ["HDEL", keys.countsAssessed, shard],
          ["HDEL", keys.attempts, ...["shard", "uptime", "details", "counts"].map((kind) => `${kind}:${shard}`)],
        ],
      });
      cache.delete(shard);
    },

    /** The overviews of all shards, each under its number. */
    overviews: createParsedHash(redis, keys.overview, parseOverview),

    /** The overviews of these shards. */
    async overviewsOf(shards: readonly number[]): Promise<KnownOverview[]> {
      const texts = shards.length === 0 ? [] : await redis.hmget(keys.overview, ...shards.map(String));
      return texts.flatMap((text, i) => (text ? parseOverview(text, String(shards[i])) : []));
    },

    /** Tells of each whether the shard has that recording or location. */
    async holding(places: readonly { readonly shard: number; readonly subject: Subject }[]): Promise<boolean[]> {
      const found: boolean[] = [];
      for (const some of chunksOf(places, ASKED_AT_ONCE)) {
        const replies = await pipelined<number>(redis, (batch) => {
          for (const { shard, subject } of some) batch.hexists(keys.shard(shard), fieldOf(subject));
        });
        found.push(...replies.map(Boolean));
      }
      return found;
    },

    /** The episodes, of these, of which nothing is stored. */
    async unstored(episodes: readonly string[]): Promise<ReadonlySet<string>> {
      return new Set(episodes).difference(await statesOf(redis, keys, episodes));
    },

    /** All alerts that fire, and the resolved ones whose end is still owed somewhere. */
    async alerts(): Promise<Alert[]> {
      const alerts = new Map<string, Alert>();
      await scanHash(redis, keys.alerts, (id, text) => alerts.set(id, JSON.parse(text.slice(1)) as Alert));
      return [...alerts.values()];
    },
  };
}

function groupsWrite(keys: Keys, shard: number, groups: ShardGroups | undefined): Write {
  return groups ? ["HSET", keys.groups, shard, JSON.stringify(groups)] : ["HDEL", keys.groups, shard];
}

function parseOverview(text: string, shard: string): KnownOverview {
  return knownOverview(Number(shard), JSON.parse(text) as ShardOverview);
}

/**
 * Reads shards; `cache` holds each as this process read or wrote it last, while it is used. Throws StoreError
 * `unreadable`.
 */
function createShardReader(redis: Redis, keys: Keys) {
  const cache = createRecent<number, StoredShard & { readonly groups?: ShardGroups | undefined }>(KEPT_MS);

  async function read(shard: number): Promise<StoredShard> {
    const known = cache.get(shard);
    if (known && (await redis.hget(keys.shard(shard), "n")) === known.nonce) return known;
    const found = (known && (await readHot(shard, known))) ?? (await readWhole(shard));
    cache.set(shard, found);
    return found;
  }

  async function readWhole(shard: number): Promise<StoredShard> {
    const fields = await redis.hgetall(keys.shard(shard));
    try {
      return decodeShard(fields);
    } catch (thrown) {
      if (thrown instanceof StoreError) throw thrown;
      throw damaged(shard, thrown);
    }
  }

  async function readHot(shard: number, known: StoredShard): Promise<StoredShard | undefined> {
    const [nonce, document] = await redis.hmget(keys.shard(shard), "n", "d");
    // A shard that cannot be decoded is read whole, and refused there.
    return nonce && document ? unlessThrown(() => decodeHot(nonce, document, known)) : undefined;
  }

  async function readAll(shards: readonly number[]): Promise<ShardState[]> {
    const nonces = await pipelined<string | null>(redis, (batch) => {
      for (const shard of shards) batch.hget(keys.shard(shard), "n");
    });
    const states: ShardState[] = [];
    for (const some of chunksOf([...shards.entries()], READS_AT_ONCE)) {
      const reading = some.map(([i, shard]) => {
        const known = cache.get(shard);
        return known && known.nonce === (nonces[i] ?? "") ? known : read(shard);
      });
      states.push(...(await Promise.all(reading)).map(({ state }) => state));
    }
    return states;
  }

  return { cache, read, readAll };
}

function damaged(shard: number, cause: unknown): StoreError {
  const message = `What is stored of shard ${shard} is damaged; restore Redis from a backup, or set another redis.prefix.`;
  return new StoreError("unreadable", message, { cause });
}
