/** The versioned documents that belong to no shard: external alerts, and self alerts. `store.shards.commit` writes both. */
import type { Redis } from "ioredis";
import type { ExternalAlert, ExternalAlertState } from "../alerting/external-alerts.ts";
import type { Instant } from "../lib/clock.ts";
import { StoreError } from "./errors.ts";
import type { Keys } from "./keys.ts";
import type { Versioned } from "./shards.ts";

const FORMAT = 1;

interface Document {
  readonly v: number;
  /** By fingerprint. */
  readonly a: readonly (readonly [string, ExternalAlert])[];
}

/** The document, and until when nothing in it expires because no update could be received; 0: it may. */
interface VersionedExternalAlerts extends Versioned<ExternalAlertState> {
  readonly deafUntil: Instant;
}

/** The document is not read or parsed again while nobody writes it. */
export function createExternalAlertStore(redis: Redis, keys: Keys) {
  let known: Versioned<ExternalAlertState> | undefined;
  return {
    key: keys.externalAlerts,
    encode: encodeExternalAlerts,

    /** Throws StoreError `unreadable` for another format. */
    async read(): Promise<VersionedExternalAlerts> {
      const [nonce, deafUntil] = await redis.hmget(keys.externalAlerts, "n", "deafUntil");
      if (!known || nonce !== known.nonce) {
        const [newest, document] = await redis.hmget(keys.externalAlerts, "n", "d");
        known = { nonce: newest ?? "", state: document ? decodeExternalAlerts(document) : new Map() };
      }
      return { ...known, deafUntil: Number(deafUntil ?? 0) };
    },

    /** Lets no external alert expire before `until`, in any replica. */
    async extendDeafness(until: Instant): Promise<void> {
      await redis.hset(keys.externalAlerts, "deafUntil", until);
    },
  };
}

function encodeExternalAlerts(state: ExternalAlertState): string {
  return JSON.stringify({ v: FORMAT, a: [...state] } satisfies Document);
}

function decodeExternalAlerts(text: string): ExternalAlertState {
  const document = JSON.parse(text) as Document;
  if (document.v !== FORMAT) {
    throw new StoreError(
      "unreadable",
      `The stored external alerts have format ${document.v}, this version of lenswatch reads ${FORMAT}; run the version that wrote them, or set another redis.prefix.`,
    );
  }
  return new Map(document.a);
}

/** Alerts about the service and the notifications; `empty` is the state before the first write. */
export function createSelfAlertStore<State>(redis: Redis, keys: Keys, empty: State) {
  return {
    key: keys.fleet,
    async read(): Promise<Versioned<State>> {
      const [nonce, document] = await redis.hmget(keys.fleet, "n", "d");
      return { nonce: nonce ?? "", state: document ? (JSON.parse(document) as State) : empty };
    },
  };
}

export type SelfAlertStore<State> = ReturnType<typeof createSelfAlertStore<State>>;
