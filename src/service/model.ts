/** The client's settings and dependencies, and what it tells of its work. */
import type { Clock, Instant } from "../lib/clock.ts";
import type { TlsMaterial } from "../lib/tls.ts";
import type { ServiceErrorCode } from "./errors.ts";

/** Endpoints of the service; the metric label `endpoint`. */
export const serviceEndpoints = [
  "token",
  "status",
  "locations",
  "recording_uptime",
  "uptimes",
  "status_uptime",
  "entries",
  "area_data",
  "average_dwell_time",
  "conversion_rate",
  "area_contexts",
] as const;
export type ServiceEndpoint = (typeof serviceEndpoints)[number];

/** Deviations of the service from its contract; the metric label `kind`. */
export const protocolErrorKinds = [
  "bad_frame", // no `id|n|m|` header, or invalid numbers
  "bad_part", // parts of a reply that contradict each other or do not join
  "too_large",
  "unknown_id",
  "late_reply", // to a request that is already settled
  "bad_json",
  "bad_payload", // a whole reply that is not the documented shape
  "error_payload", // `error` or `errors`
  "bad_row", // dropped
  "duplicate_row", // dropped
  "bad_bucket", // an uptime entry, dropped
  "bad_value", // one field of a kept row, read as "no data", or as 1 where it is a fraction a little above
  "bad_product", // uptime figures of a kept entry do not multiply
  "unknown_status",
  "bad_timezone", // read as UTC
  "utc_index", // uptime indexes that are of the future in local time: read as UTC
  "bad_token_expiry", // in the past: the token is renewed when refused
] as const;
export type ProtocolErrorKind = (typeof protocolErrorKinds)[number];

/** Events of the client, for metrics. Must not throw. */
export interface ServiceObserver {
  /** One call of a method of Service (or one token renewal) has ended. */
  request?(endpoint: ServiceEndpoint, outcome: "ok" | ServiceErrorCode, seconds: number): void;
  protocolError?(kind: ProtocolErrorKind): void;
  /** A connection replaced an earlier one, planned (token expiry) or not. */
  socketReconnect?(): void;
  /** A token was obtained; undefined where its expiry is not known. */
  tokenExpiry?(at: Instant | undefined): void;
}

/** A pino logger, or anything with its methods. */
export interface ServiceLog {
  child(fields: object): ServiceLog;
  info(message: string): void;
  warn(fields: object, message: string): void;
}

/** The configuration's `service` section. URLs without a trailing slash, but for `wsUrl`. */
export interface ServiceSettings {
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly authUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  readonly requestTimeoutMs: number;
  readonly uptimeIndexTimezone: "recording" | "utc";
  /** Certificates for all three URLs; undefined: the system's authorities, no client certificate. */
  readonly tls?: TlsMaterial | undefined;
}

export interface ServiceDeps {
  readonly config: ServiceSettings;
  readonly log: ServiceLog;
  readonly clock: Clock;
  readonly observer?: ServiceObserver;
  /** 0–1, for jitter. */
  readonly random?: () => number;
  /** A connection without a byte for two of these is dead; default 10 s. */
  readonly pingIntervalMs?: number;
  /** Has `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; the process's environment by default. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>;
}
