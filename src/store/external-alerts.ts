/** The versioned document of the alerts sent from outside; `store.shards.remember` writes it with what follows from it. */
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

/** The document, and until when nothing in it expires because nobody was there to be told otherwise; 0: it may. */
export interface VersionedExternalAlerts extends Versioned<ExternalAlertState> {
  readonly deafUntil: Instant;
}

/** What `read` gives is not read or parsed again while nobody writes. */
export function createExternalAlertStore(redis: Redis, keys: Keys) {
  let known: Versioned<ExternalAlertState> | undefined;
  return {
    key: keys.externalAlerts,
    encode: encodeExternalAlerts,

    /** Throws StoreError `unreadable` for another format. */
    async read(): Promise<VersionedExternalAlerts> {
      const [nonce, deafUntil] = await redis.hmget(keys.externalAlerts, "n", "deafUntil");
      if (known && nonce === known.nonce) return { ...known, deafUntil: Number(deafUntil ?? 0) };
      const [newest, document] = await redis.hmget(keys.externalAlerts, "n", "d");
      known = { nonce: newest ?? "", state: document ? decodeExternalAlerts(document) : new Map() };
      return { ...known, deafUntil: Number(deafUntil ?? 0) };
    },

    /** Lets nothing expire until then, whoever judges. */
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
      `The alerts from outside have format ${document.v}, this version of lenswatch reads ${FORMAT}; run the version that wrote them, or another redis.prefix.`,
    );
  }
  return new Map(document.a);
}
