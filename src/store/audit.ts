/**
 * The audit log, kept for `watch.history`: at most 10,000 changes, 2,000 sign-ins and sign-outs and 2,000 entries of
 * refused attempts, each of at most 2 KB. A change is written by the script that makes it (`scripts/audit.lua`), so that there is none without its entry.
 */
import type { Redis } from "ioredis";
import { type AuditEntry, auditSortKey, type StoredAuditEntry } from "../alerting/audit.ts";
import type { Instant } from "../lib/clock.ts";
import { scrub } from "../lib/log.ts";
import { cut, stripControls } from "../lib/text.ts";
import { type AuditStream, auditStreams, type Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

const MOST_BYTES = 2_048;
/** Texts are cut to the first of these lengths that makes the entry small enough. */
const LENGTHS = [300, 60, 20];
const PAGE = 500;

/** Entries as scripts take them (`audit.lua`); undefined where there are none. */
export type EncodeAudit = ReturnType<typeof createEncodeAudit>;

/** `historyMs`: how long an entry is kept. */
export function createEncodeAudit(historyMs: number) {
  return (entries: readonly AuditEntry[] = [], now: Instant) => {
    if (entries.length === 0) return undefined;
    const rows = entries.map((entry) => ({ stream: streamOf(entry), text: entryText(entry) }));
    const at = Math.round(now);
    return { at, oldest: Math.max(0, Math.floor(at - historyMs)), keptMs: Math.ceil(historyMs), entries: rows };
  };
}

/** Readers, who may sign in as often as they like, displace no change. */
function streamOf({ action, outcome }: AuditEntry): AuditStream {
  return outcome === "done" && (action === "sign_in" || action === "sign_out") ? "visits" : outcome;
}

/** JSON on one line without secrets that can be recognised. */
export function entryText(entry: AuditEntry): string {
  const texts = LENGTHS.map((length) => {
    const bounded = (_: string, value: unknown) =>
      typeof value === "string" ? cut(stripControls(scrub(value)), length) : value;
    return JSON.stringify(entry, bounded);
  });
  return texts.find((text) => Buffer.byteLength(text) <= MOST_BYTES) ?? texts.at(-1) ?? "";
}

export function createAuditStore(redis: Redis, keys: Keys, encode: EncodeAudit) {
  const write = loadScript(redis, keys, "write_audit", "audit");

  async function readStream(key: string, since: Instant): Promise<StoredAuditEntry[]> {
    const all: StoredAuditEntry[] = [];
    for (let end = "+"; ; ) {
      const rows = await redis.xrevrange(key, end, Math.max(0, Math.floor(since)), "COUNT", PAGE);
      all.push(...rows.flatMap(([id, [, text]]) => decode(`${id}${key.at(-1)}`, text)));
      const last = rows.at(-1)?.[0];
      if (rows.length < PAGE || last === undefined) return all;
      end = `(${last}`;
    }
  }

  return {
    /** Writes entries that belong to no other write. */
    async write(entries: readonly AuditEntry[], now: Instant): Promise<void> {
      if (entries.length > 0) await write(keys.audit("done"), { audit: encode(entries, now) });
    },

    /** The entries written at or after `since`, the newest first. */
    async read(since: Instant): Promise<StoredAuditEntry[]> {
      const all = await Promise.all(auditStreams.map((stream) => readStream(keys.audit(stream), since)));
      const keyed = all.flat().map((entry) => [auditSortKey(entry), entry] as const);
      return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
    },
  };
}

/** Nothing for a row that cannot be read. */
function decode(id: string, text = ""): StoredAuditEntry[] {
  try {
    const entry = JSON.parse(text) as AuditEntry;
    return typeof entry.actor.name === "string" && Number.isFinite(entry.at) ? [{ ...entry, id }] : [];
  } catch {
    return [];
  }
}
