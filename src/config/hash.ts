/** What a configuration decides, as one short text: equal where two replicas would do the same. */
import { scryptSync } from "node:crypto";
import type { Config } from "./config.ts";

/**
 * 32 hex digits. It is kept in Redis and made of secrets too, so it is slow to make (tens of ms) on purpose: nobody
 * finds a password by trying. Where a replica listens, its Redis and its log are its own affair.
 */
export function fingerprint(config: Config): string {
  const { redis: _, log: __, http, ...rest } = config;
  const decisive = { ...rest, externalUrl: http.externalUrl };
  return scryptSync(JSON.stringify(decisive), "lenswatch configuration", 16).toString("hex");
}
