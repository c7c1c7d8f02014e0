/** Shards, and the one atomic write of an evaluation, guarded by a random nonce read before the service is asked. */

import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import { newsAt, settingsOf } from "../alerting/group.ts";
import type { Destination } from "../alerting/route.ts";
import { watchedSince } from "../alerting/stale.ts";
import type { Alert } from "../health/alert.ts";
import type { Attempt } from "../health/attempt.ts";
import type { ShardGroups } from "../health/group-counts.ts";
import { type KnownOverview, knownOverview, type ShardOverview } from "../health/shard-overview.ts";
import { patched, type ShardPatch } from "../health/shard-patch.ts";
import type { ShardState } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { unlessThrown } from "../lib/errors.ts";
import { createRecent } from "../lib/recent.ts";
import { logWrites } from "./decision-log.ts";
import { changedAlerts, endedEpisodes, toStoredEpisode } from "./episodes.ts";
import { StoreError } from "./errors.ts";
import { type Destined, destinationsIn, destined, GroupWork, isFiring, partsOf, statesOf } from "./group-work.ts";
import { createJsonHash, createParsedHash, scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { earliestWakes, type Releases, releasing } from "./releases.ts";
import { decodeHot, decodeShard, encodeSweep, type ShardFields, type StoredShard } from "./shard-document.ts";
import { type Check, newId, type Transact, type Write } from "./transact.ts";

export type { Attempt };

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
  /** What must hold beside that; by default nothing. */
  readonly only?: Check | undefined;
  readonly attempt?: { readonly subject: string; readonly value: Attempt } | undefined;
  readonly groups?: { readonly shard: number; readonly value: string | undefined } | undefined;
  readonly overview?: readonly [shard: number, json: string] | undefined;
  readonly changes: readonly AlertChange[];
  /** For the decision log. */
  readonly lines?: readonly LogLine[] | undefined;
}

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
      const counted = known && isSameCount(known, groups) ? known : groups;
      const isCounted = counted !== known || !counted;
      let committed: CommitResult | undefined;
      try {
        committed = await commit({
          ...input,
          expected: before.nonce,
          key: keys.shard(shard),
          document: fields.document,
          fields,
          overview: [shard, JSON.stringify(overview)],
          groups: isCounted ? { shard, value: groups && JSON.stringify(groups) } : undefined,
          attempt: {
            subject: `shard:${shard}`,
            value: { goodAt: input.now, attemptedAt: input.now, groupsAt: counted?.at, ...sweep },
          },
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

    /** The episodes, of these, of which nothing is stored. */
    async unstored(episodes: readonly string[]): Promise<ReadonlySet<string>> {
      if (episodes.length === 0) return new Set();
      const found = await pipelined<number>(redis, (batch) => {
        for (const id of episodes) batch.hexists(keys.alerts, id);
      });
      return new Set(episodes.filter((_, i) => found[i] === 0));
    },

    /** All alerts that fire, and the resolved ones whose end is still owed somewhere. */
    async alerts(): Promise<Alert[]> {
      const alerts = new Map<string, Alert>();
      await scanHash(redis, keys.alerts, (id, text) => alerts.set(id, JSON.parse(text.slice(1)) as Alert));
      return [...alerts.values()];
    },
  };
}

function parseOverview(text: string, shard: string): KnownOverview {
  return knownOverview(Number(shard), JSON.parse(text) as ShardOverview);
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

interface CommitDeps {
  readonly transact: Transact;
  readonly releases: Releases;
}

function createCommit(redis: Redis, keys: Keys, { transact: { transact }, releases }: CommitDeps) {
  /** Members are added and groups made due, whatever becomes of these meanwhile: a turn that comes too early waits. */
  async function changeGroups({ changes, places, known }: Changing, now: Instant) {
    const [read, work] = [new GroupWork(redis, keys), new GroupWork(redis, keys)];
    const resolved = idsOf(changes, "resolved");
    // The summary of a cold start is sent once, whatever its members do.
    const ending = [...places.values()].flat().filter((place) => partsOf(place).group !== coldStartGroup);
    const joining = changes
      .filter(({ kind }) => kind === "firing")
      .flatMap(({ alert, to }) =>
        to.map((one) => ({ id: alert.id, place: destined(one.integration, one.group), settings: settingsOf(one) })),
      );
    await read.load([...ending, ...joining.map(({ place }) => place)]);
    for (const { id, place, settings } of joining) {
      work.configure(place, settings);
      work.join(place, id);
      work.due(place, newsAt({ ...read.head(place), ...settings }, now));
    }
    for (const place of ending) {
      const head = read.head(place);
      if (head) work.due(place, newsAt(head, now));
    }
    work.writes.push(...alertWrites(keys, { changes, places, known }));
    return { work, resolved };
  }

  return async (input: CommitInput): Promise<CommitResult> => {
    const { key, expected, now, fields, attempt, groups, overview, lines, only } = input;
    const id = newId();
    const { changes, ...stored } = await readChanging(redis, keys, input.changes);
    const document: Write[] = [
      ...(fields?.isWhole ? [["DEL", key] as const] : []),
      ["HSET", key, "n", id, "d", input.document, ...(fields?.more ?? [])],
    ];
    if (groups)
      document.push(
        groups.value === undefined
          ? ["HDEL", keys.groups, `${groups.shard}`]
          : ["HSET", keys.groups, groups.shard, groups.value],
      );
    if (overview) document.push(["HSET", keys.overview, ...overview]);
    if (attempt) document.push(["HSET", keys.attempts, attempt.subject, JSON.stringify(attempt.value)]);
    const { work, resolved } = await changeGroups({ changes, ...stored }, now);
    const episodes = changes.flatMap(({ kind, alert, planned }) =>
      kind === "resolved" ? [{ ...toStoredEpisode(alert), planned }] : [],
    );
    work.writes.unshift(...document);
    work.writes.push(
      ...releasing(keys, id, resolved, true),
      ...endedEpisodes(keys, episodes, now),
      ...changedAlerts(
        keys,
        id,
        changes.map(({ alert }) => alert.id),
      ),
      ...logWrites(keys, lines),
    );
    const outcome = await transact(
      work.transaction(id, [{ place: [key, "n"], version: expected }, ...(only ? [only] : [])]),
    );
    if (outcome.kind === "conflict") return { outcome: "lost" };
    const released = resolved.length > 0 ? await releases.reconcile(now, id) : new Map<string, Instant>();
    const read = attempt ? await releases.read(attempt.subject, now) : new Map<string, Instant>();
    return { outcome: "stored", nonce: id, wake: earliestWakes(work.wakes, released, read) };
  };
}

interface Changing {
  readonly changes: readonly AlertChange[];
  /** Destinations of those that end. */
  readonly places: ReadonlyMap<string, readonly Destined[]>;
  /** Episodes as they are stored. */
  readonly known: ReadonlyMap<string, string>;
}

function idsOf(changes: readonly AlertChange[], ...kinds: readonly AlertChange["kind"][]): string[] {
  return changes.flatMap(({ kind, alert }) => (kinds.includes(kind) ? [alert.id] : []));
}

/** The changes without ends of what does not fire: an episode that moved to another shard may have ended there. */
async function readChanging(redis: Redis, keys: Keys, changes: readonly AlertChange[]): Promise<Changing> {
  const places = await destinationsIn(redis, keys, idsOf(changes, "resolved"));
  const known = await statesOf(redis, keys, idsOf(changes, "resolved", "updated"));
  const beginning = new Set(idsOf(changes, "firing"));
  // Where the alert itself was lost, a group still has it as a member.
  const fires = (id: string) =>
    known.has(id) ? isFiring(known.get(id)) : beginning.has(id) || !!places.get(id)?.length;
  return { changes: changes.filter(({ kind, alert }) => kind !== "resolved" || fires(alert.id)), places, known };
}

/** The alerts themselves: `F` and JSON of one that fires, `R` of one that is resolved and still in a group. */
function alertWrites(keys: Keys, { changes, places, known }: Changing): Write[] {
  const kept = changes.flatMap(({ kind, alert }) => {
    if (kind === "resolved") return places.get(alert.id)?.length ? [alert.id, `R${JSON.stringify(alert)}`] : [];
    return kind === "firing" || known.has(alert.id) ? [alert.id, `F${JSON.stringify(alert)}`] : [];
  });
  const gone = changes.flatMap(({ kind, alert }) =>
    kind === "resolved" && !places.get(alert.id)?.length ? [alert.id] : [],
  );
  return [
    ...(kept.length > 0 ? [["HSET", keys.alerts, ...kept] as const] : []),
    ...(gone.length > 0 ? ([keys.alerts, keys.acks] as const).map((key) => ["HDEL", key, ...gone] as const) : []),
  ];
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
