/** The configuration as loaded: defaults filled in, durations in ms, ratios 0–1, secrets resolved. */
import type { buildConfig } from "./build.ts";

export type Config = Readonly<ReturnType<typeof buildConfig>>;
export type Receiver = Config["receivers"][number];
export type DigestConfig = Config["digests"][number];
export type HttpConfig = Config["http"];
