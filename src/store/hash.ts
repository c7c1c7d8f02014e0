/** Redis hashes of rows by id. */
import type { Redis } from "ioredis";

type RowCodec<T> = { encode?(value: T): unknown; decode?(row: never): T };

export function createJsonHash<T>(redis: Redis, key: string, { encode, decode }: RowCodec<T> = {}) {
  const parse = (text: string): T => {
    const row = JSON.parse(text) as never;
    return decode ? decode(row) : row;
  };
  return {
    /** Gives the ids, of these, that are stored, in one round trip. */
    async read(ids: readonly string[]): Promise<Map<string, T>> {
      const texts = ids.length === 0 ? [] : await redis.hmget(key, ...ids);
      return new Map(
        ids.flatMap((id, i) => {
          const text = texts[i];
          return text ? [[id, parse(text)] as const] : [];
        }),
      );
    },

    /** All rows by id. */
    async readAll(): Promise<Map<string, T>> {
      const rows = Object.entries(await redis.hgetall(key));
      return new Map(rows.map(([id, text]) => [id, parse(text)]));
    },

    /** Stores these rows; each replaces the one that had its id. */
    async save(rows: ReadonlyMap<string, T>): Promise<void> {
      if (rows.size === 0) return;
      const fields = [...rows].map(([id, row]) => [id, JSON.stringify(encode ? encode(row) : row)] as const);
      await redis.hset(key, new Map(fields));
    },

    /** Deletes these rows. */
    async forget(ids: readonly string[]): Promise<void> {
      if (ids.length > 0) await redis.hdel(key, ...ids);
    },
  };
}

/** Gives all rows by id; one whose text did not change is not parsed again. */
export function createParsedHash<T>(redis: Redis, key: string, parse: (text: string, id: string) => T) {
  let known = new Map<string, { readonly text: string; readonly value: T }>();
  return async (): Promise<Map<string, T>> => {
    const rows = Object.entries(await redis.hgetall(key)).map(([id, text]) => {
      const before = known.get(id);
      return [id, before?.text === text ? before : { text, value: parse(text, id) }] as const;
    });
    known = new Map(rows);
    return new Map(rows.map(([id, { value }]) => [id, value]));
  };
}

const SCANNED = 500;

/** Visits every row, some of them twice where the hash changes meanwhile, with a short call for so many. */
export async function scanHash(redis: Redis, key: string, visit: (id: string, text: string) => void): Promise<void> {
  let cursor = "0";
  do {
    const [next, flat] = await redis.hscan(key, cursor, "COUNT", SCANNED);
    for (let i = 0; i < flat.length; i += 2) visit(flat[i] ?? "", flat[i + 1] ?? "");
    cursor = next;
  } while (cursor !== "0");
}
