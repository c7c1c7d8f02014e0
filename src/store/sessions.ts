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
/** Written no more often than that. */
const SEEN_MS = 60_000;

export interface StoredSession {
  /** The hash of the cookie's id: 16 hex digits. */
  readonly id: string;
  /** The name of its token. */
  readonly token: string;
  /** As signed in. */
  readonly person: string;
  readonly address: string;
  readonly createdAt: Instant;
  /** To the minute. */
  readonly seenAt: Instant;
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

    /** The session, which was used at `now`; undefined where it has ended. */
    async find(id: string, now: Instant): Promise<StoredSession | undefined> {
      const session = decode(await redis.get(keys.session(id)));
      if (!session || session.expiresAt <= now) return undefined;
      if (now - session.seenAt < SEEN_MS) return session;
      const seen = { ...session, seenAt: now };
      // `XX`: one that was ended meanwhile stays ended.
      await redis.set(keys.session(id), JSON.stringify(seen), "KEEPTTL", "XX");
      return seen;
    },

    /** All that have not ended, the newest first. */
    async list(now: Instant): Promise<StoredSession[]> {
      const ids = await redis.zrangebyscore(keys.sessions, now, "+inf");
      const texts = await pipelined<string | null>(redis, (batch) => {
        for (const id of ids) batch.get(keys.session(id));
      });
      const sessions = texts.map(decode).filter((one) => one !== undefined);
      return sessions
        .filter(({ expiresAt }) => expiresAt > now)
        .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
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
