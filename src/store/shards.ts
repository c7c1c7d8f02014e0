/** Shards, and the one atomic write of an evaluation, guarded by a random nonce read before the service is asked. */

import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import type { Destination } from "../alerting/route.ts";
import { watchedSince } from "../alerting/stale.ts";
import type { Alert } from "../health/alert.ts";
import type { ShardGroups } from "../health/group-counts.ts";
import type { Attempt } from "../health/model.ts";
import type { ShardState } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { unlessThrown } from "../lib/errors.ts";
import { createRecent } from "../lib/recent.ts";
import { logWrites } from "./decision-log.ts";
import type { Versioned } from "./documents.ts";
import { StoreError } from "./errors.ts";
import { encodeDestination, toWakes } from "./groups.ts";
import { createJsonHash, createParsedHash, scanHash } from "./hash.ts";
import { INCIDENTS_KEPT, toIncident } from "./incidents.ts";
import type { Keys } from "./keys.ts";
import { loadScript, pipelined } from "./redis.ts";
import { decodeMoves, decodeShard, encodeShard, type ShardFields, type StoredShard } from "./shard-document.ts";
import { newId, type Transact } from "./transact.ts";

export type { Attempt };

/** Incidents are kept 90 days, and no more than INCIDENTS_KEPT: about 15 MB. */
const INCIDENTS_KEPT_MS = 90 * 86_400_000;

/** Shards that other replicas sweep are read now and then. */
const KEPT_MS = 120_000;
/** Counts of groups are written again after this long though they stay the same, in case the stored ones were lost. */
const GROUPS_AGAIN_MS = 300_000;
/** The event loop stands still for what arrives together. */
const READS_AT_ONCE = 4;

export interface AlertChange {
  readonly kind: "firing" | "resolved" | "updated";
  readonly alert: Alert;
  /** For `firing`; a resolved alert is due wherever it was sent as firing. */
  readonly to: readonly Destination[];
  /** For `resolved`: the name of the maintenance it began or ended in. */
  readonly planned?: string | undefined;
}

/** The outcome of a commit; `wake` is when something is due, by integration. */
export type CommitResult =
  | { readonly outcome: "stored"; readonly nonce: string; readonly wake: ReadonlyMap<string, Instant> }
  | { readonly outcome: "lost" };

interface CommitInput {
  readonly key: string;
  readonly expected: string;
  readonly document: string;
  /** Other fields of the key, if it has any. */
  readonly fields?: Pick<ShardFields, "isWhole" | "more"> | undefined;
  readonly now: Instant;
  readonly attempt?: { readonly subject: string; readonly value: Attempt } | undefined;
  readonly groups?: { readonly shard: number; readonly value: string | undefined } | undefined;
  readonly changes: readonly AlertChange[];
  /** For the decision log. */
  readonly lines?: readonly LogLine[] | undefined;
}

export type ShardCommit = Pick<CommitInput, "expected" | "now" | "changes" | "lines"> & {
  readonly state: ShardState;
  /** The facts of an attempt beside its time. */
  readonly sweep?: Omit<Attempt, "goodAt" | "attemptedAt"> | undefined;
  readonly groups?: ShardGroups | undefined;
};

export function createShardStore(redis: Redis, keys: Keys, { transact }: Transact) {
  const commit = createCommit(redis, keys);
  const { cache, read, readAll } = createShardReader(redis, keys);

  return {
    ...createAttemptStore(redis, keys),

    /** The write itself, for other documents than shards. */
    commit,

    /** The shard as stored. What this process read or wrote last is not transferred again. */
    read,

    /** All of these shards as stored, in one round trip where no other replica wrote. */
    readAll,

    /** Stores an evaluated shard. `lost`: another replica swept it meanwhile, the evaluation is void. */
    async commitShard(shard: number, { state, sweep, groups, ...input }: ShardCommit): Promise<CommitResult> {
      const cached = cache.get(shard);
      const known = cached?.nonce === input.expected ? cached : undefined;
      const fields = encodeShard(state, randomUUID(), known);
      const stored = known?.groups && isSameCount(known.groups, groups) ? known.groups : groups;
      const isCounted = stored !== known?.groups || !stored;
      const committed = await commit({
        ...input,
        key: keys.shard(shard),
        document: fields.document,
        fields,
        groups: isCounted ? { shard, value: groups && JSON.stringify(groups) } : undefined,
        attempt: {
          subject: `shard:${shard}`,
          value: { goodAt: input.now, attemptedAt: input.now, groupsAt: stored?.at, ...sweep },
        },
      });
      const { written } = fields;
      if (committed.outcome === "stored") cache.set(shard, { nonce: committed.nonce, state, written, groups: stored });
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
          ["HDEL", keys.countsAssessed, shard],
          ["HDEL", keys.attempts, ...["shard", "uptime", "details", "counts"].map((kind) => `${kind}:${shard}`)],
        ],
      });
      cache.delete(shard);
    },

    /** All alerts that fire, and the resolved ones whose end is still owed somewhere. */
    async alerts(): Promise<Alert[]> {
      const alerts = new Map<string, Alert>();
      await scanHash(redis, keys.alerts, (id, text) => alerts.set(id, JSON.parse(text.slice(1)) as Alert));
      return [...alerts.values()];
    },
  };
}

/** And written lately. Counts stay the same object while nothing is wrong. */
function isSameCount(before: ShardGroups, groups: ShardGroups | undefined): boolean {
  if (!groups || groups.at - before.at >= GROUPS_AGAIN_MS) return false;
  return before.counts === groups.counts && before.offline === groups.offline && before.gapMs === groups.gapMs;
}

/**
 * Reads shards; `cache` holds each as this process read or wrote it last, while it is used. Throws StoreError
 * `unreadable`.
 */
function createShardReader(redis: Redis, keys: Keys) {
  const cache = createRecent<number, StoredShard & { readonly groups?: ShardGroups | undefined }>(KEPT_MS);

  async function read(shard: number): Promise<Versioned<ShardState>> {
    const known = cache.get(shard);
    if (known && (await redis.hget(keys.shard(shard), "n")) === known.nonce) return known;
    const found = (known && (await readMoves(shard, known))) ?? (await readWhole(shard));
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

  async function readMoves(shard: number, known: StoredShard): Promise<StoredShard | undefined> {
    const [nonce, document] = await redis.hmget(keys.shard(shard), "n", "d");
    // A shard that cannot be decoded is read whole, and refused there.
    return nonce && document ? unlessThrown(() => decodeMoves(nonce, document, known)) : undefined;
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

function createCommit(redis: Redis, keys: Keys) {
  const script = loadScript(redis, keys, "commit", "groups", "log");
  return async (input: CommitInput): Promise<CommitResult> => {
    const { key, expected, now, fields, attempt, groups, changes, lines } = input;
    const nonce = randomUUID();
    const args = {
      expected,
      nonce,
      now,
      whole: fields?.isWhole,
      fields: fields?.more.length ?? 0,
      groups: groups && { shard: String(groups.shard), hasValue: groups.value !== undefined },
      attempt: attempt && { subject: attempt.subject, value: JSON.stringify(attempt.value) },
      incidents: { oldest: now - INCIDENTS_KEPT_MS, most: INCIDENTS_KEPT },
      ...encodeChanges(changes),
      log: logWrites(keys, lines),
    };
    const groupTexts = groups?.value === undefined ? [] : [groups.value];
    const texts = [...(fields?.more ?? []), ...groupTexts, ...changes.flatMap(textsOf)];
    const reply = await script(key, args, input.document, ...texts);
    const { outcome, wakes } = reply as { outcome: string; wakes: unknown };
    if (outcome === "lost") return { outcome };
    const everyDestination = () =>
      changes.flatMap(({ to }) => to.map((d) => [d.integration, now + d.groupWaitMs] as const));
    return { outcome: "stored", nonce, wake: outcome === "already" ? new Map(everyDestination()) : toWakes(wakes) };
  };
}

/** Changes with each destination once: those of a whole shard have few. */
function encodeChanges(changes: readonly AlertChange[]) {
  const destinations = new Map<string, { readonly index: number; readonly to: Destination }>();
  const indexOf = (to: Destination): number => {
    const key = `${to.integration}\n${to.group}`;
    const known = destinations.get(key) ?? { index: destinations.size, to };
    destinations.set(key, known);
    return known.index;
  };
  const encoded = changes.map(({ kind, alert: { id, endsAt }, to }) => ({ kind, id, to: to.map(indexOf), endsAt }));
  return { changes: encoded, destinations: [...destinations.values()].map(({ to }) => encodeDestination(to)) };
}

/** The parts of a change that are stored as they are: the alert, and its incident where it ended. */
function textsOf({ kind, alert, planned }: AlertChange): string[] {
  const incident = kind === "resolved" ? [JSON.stringify({ ...toIncident(alert), planned })] : [];
  return [JSON.stringify(alert), ...incident];
}

function createAttemptStore(redis: Redis, keys: Keys) {
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

    /** Notes that the fleet is watched, asked at every interval. */
    async noteWatched(now: Instant, intervalMs: number): Promise<void> {
      const since = watchedSince((await hash.read(["fleet"])).get("fleet"), now, intervalMs);
      await hash.save(new Map([["fleet", { goodAt: now, attemptedAt: now, since }]]));
    },

    /** All attempts by subject: `shard:<n>`, `inventory`, `uptime:<n>`, `counts:<n>`, `fleet`, `health`. */
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
