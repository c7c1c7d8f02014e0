/** The configuration as loaded: defaults filled in, durations in ms, ratios 0–1, secrets resolved. */
import { scryptSync } from "node:crypto";
import type { buildConfig } from "./build.ts";

export type Config = Readonly<ReturnType<typeof buildConfig>>;
export type ReceiverConfig = Config["receivers"][number];
export type DigestConfig = Config["digests"][number];
export type HttpConfig = Config["http"];

/**
 * 32 hex digits, equal for replicas that would act the same: the listen address, Redis and the log level do not count.
 * The hash is stored in Redis and covers secrets, so it is deliberately slow (tens of ms) against guessing.
 */
export function configHash(config: Config): string {
  const { redis: _, log: __, http, ...rest } = config;
  const decisive = { ...rest, externalUrl: http.externalUrl };
  return scryptSync(JSON.stringify(decisive), "lenswatch configuration", 16).toString("hex");
}
