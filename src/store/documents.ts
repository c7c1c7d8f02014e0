/** Documents with a version: a shard, the external alerts, the self alerts. `store.shards.commit` writes all of them. */
import type { Redis } from "ioredis";
import type { ExternalAlert, ExternalAlertState } from "../alerting/external-alerts.ts";
import type { SelfAlertState } from "../health/evaluate-self.ts";
import type { Instant } from "../lib/clock.ts";
import { StoreError } from "./errors.ts";
import type { Keys } from "./keys.ts";

const EXTERNAL_FORMAT = 1;

/** A document and the nonce it had when it was read; "" means there was none. */
export type Versioned<State> = { readonly nonce: string; readonly state: State };

/** Reads a hash of `n` nonce and `d` document, which is not transferred and parsed again while it is the `known` one. */
export async function readDocument<State>(
  redis: Redis,
  key: string,
  { decode, empty, known }: { decode(text: string): State; empty: State; known?: Versioned<State> | undefined },
): Promise<Versioned<State>> {
  if (known && (await redis.hget(key, "n")) === known.nonce) return known;
  const [nonce, text] = await redis.hmget(key, "n", "d");
  return { nonce: nonce ?? "", state: text ? decode(text) : empty };
}

/** Parses a document of this format, `v`. Throws StoreError `unreadable` for another one. */
export function parseDocument<Document extends { readonly v: number }>(text: string, format: number): Document {
  const document = JSON.parse(text) as Document;
  if (document.v === format) return document;
  throw new StoreError(
    "unreadable",
    `A stored document has format ${document.v}, this version of lenswatch reads ${format}; run the version that wrote it, or set another redis.prefix.`,
  );
}

interface ExternalDocument {
  readonly v: number;
  /** By fingerprint. */
  readonly a: readonly (readonly [string, ExternalAlert])[];
}

export function createExternalAlertStore(redis: Redis, keys: Keys) {
  const key = keys.externalAlerts;
  const decode = (text: string): ExternalAlertState =>
    new Map(parseDocument<ExternalDocument>(text, EXTERNAL_FORMAT).a);
  let known: Versioned<ExternalAlertState> | undefined;
  return {
    key,
    encode: (state: ExternalAlertState): string =>
      JSON.stringify({ v: EXTERNAL_FORMAT, a: [...state] } satisfies ExternalDocument),

    /** With until when nothing in it expires because no update could be received; 0: it may. Throws as `parseDocument`. */
    async read(): Promise<Versioned<ExternalAlertState> & { readonly deafUntil: Instant }> {
      known = await readDocument(redis, key, { decode, empty: new Map(), known });
      return { ...known, deafUntil: Number((await redis.hget(key, "deafUntil")) ?? 0) };
    },

    /** Lets no external alert expire before `until`, in any replica. */
    async extendDeafness(until: Instant): Promise<void> {
      await redis.hset(key, "deafUntil", until);
    },
  };
}

/** Alerts about the service and the notifications. */
export function createSelfAlertStore(redis: Redis, keys: Keys) {
  const decode = (text: string) => JSON.parse(text) as SelfAlertState;
  return { key: keys.fleet, read: () => readDocument(redis, keys.fleet, { decode, empty: {} }) };
}
