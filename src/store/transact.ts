/**
 * The one way to change things in Redis that belong together: what was read is checked, and everything is written, or
 * nothing. Decisions are made outside: read, decide, transact; on a conflict read and decide again.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { StoreError } from "./errors.ts";
import type { Keys } from "./keys.ts";
import { wellFormed } from "./redis.ts";

/** The place of a document: a string, or a field of a hash. */
export type Place = readonly [key: string] | readonly [key: string, field: string];

/** A document as it was read: its version, "" where there is none, and its text. */
export interface Read {
  readonly place: Place;
  readonly version: string;
  readonly text: string | undefined;
}

type Hashed = "HSET" | "HDEL" | "SADD" | "SREM" | "ZADD" | "ZREM" | "ZREMRANGEBYSCORE" | "ZREMRANGEBYRANK";
type Command = Hashed | "SET" | "DEL" | "PEXPIRE" | "LPUSH" | "LTRIM";
export type Write = readonly [Command, key: string, ...words: readonly (string | number)[]];

/** A document that must still be as it was read. */
export type Check = Pick<Read, "place" | "version">;

export interface Transaction {
  /** The version of each document that it writes; the same call again changes nothing. */
  readonly id: string;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** `conflict`: this document was written since it was read, and nothing was written. */
export type Outcome = { readonly kind: "stored" | "already" } | { readonly kind: "conflict"; readonly place: Place };

/** One call has fewer words than Lua's stack can hold. */
const MOST_WORDS = 4_000;
/** A decision that was overtaken as often meets something else than other replicas. */
const MOST_TRIES = 50;

export const newId = (): string => randomUUID();

export const document = (id: string, text: string): string => `${id}\n${text}`;

/** Writes a document, or deletes it where `text` is undefined. */
export function writing(id: string, [key, field]: Place, text: string | undefined): Write {
  if (text === undefined) return field === undefined ? ["DEL", key] : ["HDEL", key, field];
  return field === undefined ? ["SET", key, document(id, text)] : ["HSET", key, field, document(id, text)];
}

export function parseRead(place: Place, stored: string | null | undefined): Read {
  if (stored === null || stored === undefined) return { place, version: "", text: undefined };
  const line = stored.indexOf("\n");
  if (line < 0) return { place, version: stored, text: "" };
  return { place, version: stored.slice(0, line), text: stored.slice(line + 1) };
}

export type Transact = ReturnType<typeof createTransact>;

export function createTransact(redis: Redis, { prefix }: Keys) {
  const lua = readFileSync(new URL("./scripts/transact.lua", import.meta.url), "utf8");
  redis.defineCommand("lenswatch_transact", { numberOfKeys: 1, lua });
  const run = (
    Reflect.get(redis, "lenswatch_transact") as (key: string, words: string[]) => Promise<string | number>
  ).bind(redis);

  async function transact({ id, checks, writes }: Transaction): Promise<Outcome> {
    const words = [id, `${checks.length}`];
    const add = (call: readonly (string | number)[]) => {
      words.push(`${call.length}`);
      for (const word of call) words.push(wellFormed(`${word}`));
    };
    for (const { place, version } of checks) add([place.length === 1 ? "GET" : "HGET", ...place, version]);
    for (const write of writes) for (const page of paged(write)) add(page);
    const reply = await run(prefix, words);
    if (typeof reply === "string") return { kind: reply as "stored" | "already" };
    return { kind: "conflict", place: (checks[reply] as Transaction["checks"][number]).place };
  }

  async function read<const Places extends readonly Place[]>(places: Places): Promise<{ [I in keyof Places]: Read }> {
    const batch = redis.pipeline();
    for (const [key, field] of places) field === undefined ? batch.get(key) : batch.hget(key, field);
    const replies = (await batch.exec()) ?? [];
    const documents = places.map((place, i) => {
      const [error, stored] = replies[i] ?? [];
      if (error) throw error;
      return parseRead(place, stored as string | null);
    });
    return documents as { [I in keyof Places]: Read };
  }

  return {
    transact,
    read,

    /**
     * Reads these documents, decides, and writes; as often as another one was faster. `decide` gives undefined, or no
     * writes, where nothing is to be written. Throws StoreError `unavailable` where others are faster without end.
     */
    async change<const Places extends readonly Place[], Result>(
      places: Places,
      decide: (documents: { [I in keyof Places]: Read }, id: string) => Decided<Result> | Promise<Decided<Result>>,
    ): Promise<Result> {
      const id = newId();
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const documents = await read(places);
        const { writes, result } = await decide(documents, id);
        if (writes.length === 0) return result;
        const outcome = await transact({ id, checks: documents as readonly Read[], writes });
        if (outcome.kind !== "conflict") return result;
      }
      throw new StoreError("unavailable", "What was to be changed is changed by others all the time; try again.");
    },
  };
}

export interface Decided<Result> {
  readonly writes: readonly Write[];
  readonly result: Result;
}

/** A write in parts of as many words as one call takes, none where there is nothing to write; pairs stay together. */
function paged(write: Write): readonly Write[] {
  const [command, key, ...words] = write;
  if (command === "DEL" || (words.length > 0 && words.length <= MOST_WORDS)) return [write];
  const pages = Math.ceil(words.length / MOST_WORDS);
  return Array.from({ length: pages }, (_, i) => [command, key, ...words.slice(i * MOST_WORDS, (i + 1) * MOST_WORDS)]);
}
