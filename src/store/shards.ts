/**
 * Versioned documents and the one atomic write that stores a judgement: document, changed alerts and groups now
 * due, or nothing. The version is a random nonce, read before the service is asked; a document of our own last
 * write is not read again.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import type { Destination } from "../alerting/destinations.ts";
import type { Alert } from "../health/alert.ts";
import type { ShardState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { encodeLog } from "./decision-log.ts";
import { toPlace, toWake } from "./destination.ts";
import { encodeIncident, INCIDENTS_KEPT } from "./incidents.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";
import { decodeShard, emptyShard, encodeShard } from "./shard-document.ts";

/** Incidents are kept 90 days, and no more than this many: about 15 MB. */
const INCIDENTS_KEPT_MS = 90 * 86_400_000;

/** A document and the nonce it had when it was read; "" means there was none. */
export interface Versioned<State> {
  readonly nonce: string;
  readonly state: State;
}

export interface Change {
  readonly kind: "firing" | "resolved" | "updated";
  readonly alert: Alert;
  /** For `firing`; an end goes wherever its beginning went. */
  readonly to: readonly Destination[];
}

/** What was written; `wake` says which integrations have something due and when. */
export type CommitResult =
  | { readonly outcome: "stored"; readonly nonce: string; readonly wake: ReadonlyMap<string, Instant> }
  | { readonly outcome: "lost" };

/** How it went to ask the service about one thing, and when. */
export interface Attempt {
  readonly goodAt: Instant;
  readonly attemptedAt: Instant;
  readonly error?: string | undefined;
}

export interface CommitInput {
  readonly key: string;
  readonly expected: string;
  readonly document: string;
  readonly now: Instant;
  readonly attempt?: { readonly subject: string; readonly value: Attempt } | undefined;
  readonly changes: readonly Change[];
  /** For the incident log: what was decided. */
  readonly lines?: readonly LogLine[] | undefined;
}

export function createShardStore(redis: Redis, keys: Keys, historyMs: number) {
  const script = loadScript(redis, "commit", { withGroups: true, withLog: true });
  const forget = loadScript(redis, "forget_shard");
  const cache = new Map<number, Versioned<ShardState>>();

  async function commit(input: CommitInput): Promise<CommitResult> {
    const nonce = randomUUID();
    const reply = (await script(
      input.key,
      keys.prefix,
      input.expected,
      nonce,
      input.document,
      input.now,
      input.attempt?.subject ?? "",
      input.attempt ? JSON.stringify(input.attempt.value) : "",
      JSON.stringify(input.changes.map(toWire)),
      input.now - INCIDENTS_KEPT_MS,
      INCIDENTS_KEPT,
      encodeLog(input.lines ?? [], input.now - historyMs),
    )) as string[];
    if (reply[0] === "lost") return { outcome: "lost" };
    return {
      outcome: "stored",
      nonce,
      wake: reply[0] === "already" ? everyDestination(input) : toWake(reply.slice(1)),
    };
  }

  async function read(shard: number): Promise<Versioned<ShardState>> {
    const key = keys.shard(shard);
    const known = cache.get(shard);
    if (known && (await redis.hget(key, "n")) === known.nonce) return known;
    const [nonce, document] = await redis.hmget(key, "n", "d");
    const found = { nonce: nonce ?? "", state: document ? decodeShard(document) : emptyShard };
    cache.set(shard, found);
    return found;
  }

  return {
    /** The write itself, for other documents than shards. */
    commit,

    /** The shard as stored. What this process read or wrote last is not transferred again. */
    read,

    /** All of these shards as stored, in one round trip where nothing changed elsewhere. */
    async readAll(shards: readonly number[]): Promise<ShardState[]> {
      const pipeline = redis.pipeline();
      for (const shard of shards) pipeline.hget(keys.shard(shard), "n");
      const nonces = ((await pipeline.exec()) ?? []).map(([, reply]) => (reply as string | null) ?? "");
      const states: ShardState[] = [];
      for (const [i, shard] of shards.entries()) {
        const known = cache.get(shard);
        states.push(known && known.nonce === nonces[i] ? known.state : (await read(shard)).state);
      }
      return states;
    },

    /** Stores a judged shard. `lost` means somebody else swept it meanwhile: throw the judgement away. */
    async commitShard(
      shard: number,
      input: Pick<CommitInput, "expected" | "now" | "changes" | "lines"> & { state: ShardState },
    ): Promise<CommitResult> {
      const { state, now } = input;
      const committed = await commit({
        key: keys.shard(shard),
        expected: input.expected,
        document: encodeShard(state),
        now,
        attempt: { subject: `shard:${shard}`, value: { goodAt: now, attemptedAt: now } },
        changes: input.changes,
        lines: input.lines,
      });
      if (committed.outcome === "stored") cache.set(shard, { nonce: committed.nonce, state });
      return committed;
    },

    /**
     * Notes how asking the service went, good or bad, without touching any document. That a question failed is no
     * news where a later one was answered well meanwhile.
     */
    async noteAttempt(subject: string, now: Instant, error?: string, askedAt = now): Promise<void> {
      const known = parseAttempt(await redis.hget(keys.attempts, subject));
      if (error !== undefined && known && known.goodAt > askedAt) return;
      const goodAt = error === undefined ? now : (known?.goodAt ?? 0);
      await redis.hset(keys.attempts, subject, JSON.stringify({ goodAt, attemptedAt: now, error }));
    },

    /** All attempts by subject: `shard:<n>`, `inventory`, `uptime:<n>`. */
    async attempts(): Promise<Map<string, Attempt>> {
      const attempts = new Map<string, Attempt>();
      for (const [subject, text] of Object.entries(await redis.hgetall(keys.attempts))) {
        const attempt = parseAttempt(text);
        if (attempt) attempts.set(subject, attempt);
      }
      return attempts;
    },

    /** Forgets a shard whose last state, written under this nonce, is empty: document, history, figures, attempts. */
    async forgetShard(shard: number, nonce: string): Promise<void> {
      const beside = [keys.attempts, keys.uptime(shard), keys.figures(shard), shard];
      await forget(keys.shard(shard), nonce, ...beside);
      cache.delete(shard);
    },

    /** All alerts that fire, or ended and are still owed to somebody. */
    async alerts(): Promise<Alert[]> {
      return (await redis.hvals(keys.alerts)).map((text) => JSON.parse(text.slice(1)) as Alert);
    },
  };
}

export type ShardStore = ReturnType<typeof createShardStore>;

function parseAttempt(text: string | null): Attempt | undefined {
  return text === null ? undefined : (JSON.parse(text) as Attempt);
}

function toWire({ kind, alert, to }: Change) {
  return {
    op: kind,
    id: alert.id,
    alert: JSON.stringify(alert),
    to: to.map(toPlace),
    ...(kind === "resolved" ? { endsAt: alert.endsAt, incident: encodeIncident(alert) } : {}),
  };
}

function everyDestination({ changes, now }: CommitInput): Map<string, Instant> {
  return new Map(changes.flatMap(({ to }) => to.map((d) => [d.integration, now + d.groupWaitMs] as const)));
}
