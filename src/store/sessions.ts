/**
 * Sessions of people who signed in: a record by the hash of the session's id, whose absence ends the session at every
 * replica. It opens nothing by itself: the cookie is signed with a key that is not in Redis.
 */
import type { Redis } from "ioredis";
import type { AuditEntry } from "../alerting/audit.ts";
import type { Instant } from "../lib/clock.ts";
import { tryJson } from "../lib/json-values.ts";
import type { EncodeAudit } from "./audit.ts";
import type { Keys } from "./keys.ts";
import { loadScript, pipelined } from "./redis.ts";

const MOST_SESSIONS = 500;

export interface StoredSession {
  /** The hash of the cookie's id: 16 hex digits. */
  readonly id: string;
  /** The name of its token. */
  readonly token: string;
  /** As signed in. */
  readonly person: string;
  readonly address: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

export function createSessionStore(redis: Redis, keys: Keys, encodeAudit: EncodeAudit) {
  const open = loadScript(redis, keys, "open_session", "audit");
  const end = loadScript(redis, keys, "end_sessions", "audit");
  return {
    /** Stores a session that begins now, with its entry of the audit log. */
    async open(session: StoredSession, entry: AuditEntry): Promise<void> {
      const { id, createdAt: now, expiresAt } = session;
      const token = `"token":${JSON.stringify(session.token)}`;
      const audit = encodeAudit([entry], now);
      const text = JSON.stringify(session);
      await open(keys.sessions, { id, token, text, now, ttlMs: expiresAt - now, most: MOST_SESSIONS, audit });
    },

    /** Undefined where it has ended at `now`. */
    async find(id: string, now: Instant): Promise<StoredSession | undefined> {
      const session = decode(await redis.get(keys.session(id)));
      return session && session.expiresAt > now ? session : undefined;
    },

    /** All that have not ended. */
    async list(now: Instant): Promise<StoredSession[]> {
      const ids = await redis.zrangebyscore(keys.sessions, now, "+inf");
      const texts = await pipelined<string | null>(redis, (batch) => {
        for (const id of ids) batch.get(keys.session(id));
      });
      return texts.flatMap((text) => decode(text) ?? []).filter(({ expiresAt }) => expiresAt > now);
    },

    /** Ends sessions; gives the ids of those that had not ended, with `entry` in the audit log where there are any. */
    async end(ids: readonly string[], entry: AuditEntry): Promise<readonly string[]> {
      if (ids.length === 0) return [];
      return (await end(keys.sessions, { ids, audit: encodeAudit([entry], entry.at) })) as string[];
    },
  };
}

/** One that cannot be read has ended. */
function decode(text: string | null): StoredSession | undefined {
  const session = tryJson(text ?? "null") as StoredSession | null | undefined;
  return session && Number.isFinite(session.expiresAt) ? session : undefined;
}
