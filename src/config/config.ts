/** The configuration as loaded: defaults filled in, durations in ms, ratios 0–1, secrets resolved. */
import type { InhibitRule } from "../alerting/inhibit.ts";
import type { Route } from "../alerting/route.ts";
import type { Rule } from "../health/rule.ts";
import type { LogLevel } from "../lib/log.ts";
import type { ChannelConfigs } from "./channel-schema.ts";

export interface Config {
  readonly service: ServiceConfig;
  readonly redis: RedisConfig;
  readonly watch: WatchConfig;
  readonly rules: readonly Rule[];
  readonly route: Route;
  readonly receivers: readonly Receiver[];
  readonly inhibitRules: readonly InhibitRule[];
  readonly smtp: SmtpConfig | undefined;
  readonly digests: readonly DigestConfig[];
  readonly http: HttpConfig;
  readonly heartbeat: HeartbeatConfig | undefined;
  readonly log: { readonly level: LogLevel };
}

export interface ServiceConfig {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly authUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  readonly requestTimeoutMs: number;
  readonly uptimeIndexTimezone: "recording" | "utc";
  /** Undefined: the system's authorities, and no certificate of ours. */
  readonly tls: TlsConfig | undefined;
}

/** Certificates of one's own, as PEM; `cert` and `key` together or not at all. */
export interface TlsConfig {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** One of `url`, `sentinels` and `cluster`; none: an embedded redis-server is started (or adopted), its data in `./data`. */
export interface RedisConfig {
  readonly url: string | undefined;
  readonly sentinels: readonly Address[] | undefined;
  /** What Sentinels call the master. */
  readonly name: string | undefined;
  /** Nodes by which the others are found. */
  readonly cluster: readonly Address[] | undefined;
  /** The login for `sentinels` and `cluster`; a URL has its own. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** Undefined: no TLS unless the URL says so. */
  readonly tls: TlsConfig | undefined;
  readonly prefix: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface WatchConfig {
  readonly locations: "all" | readonly string[];
  /** Recording or location ids never watched. */
  readonly exclude: readonly string[];
  readonly forgetAfterMs: number;
  readonly statusIntervalMs: number;
  readonly uptimeIntervalMs: number;
  readonly inventoryIntervalMs: number;
  readonly locationsPerRequest: number;
  /** How long the incident log keeps a line. */
  readonly historyMs: number;
}

/** Its entries by channel, as `channel-schema.ts` builds them. */
export interface Receiver extends ChannelConfigs {
  readonly name: string;
}

/** How an endpoint is asked; one of `authorization` and `basicAuth` at most. */
export interface HttpClientConfig {
  readonly authorization: { readonly type: string; readonly credentials: string } | undefined;
  readonly basicAuth: { readonly username: string; readonly password: string } | undefined;
  readonly tls: (TlsConfig & { readonly servername: string | undefined }) | undefined;
}

export interface SmtpConfig {
  readonly host: string;
  readonly port: number;
  readonly from: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly requireTls: boolean;
  readonly tls: TlsConfig | undefined;
}

export interface DigestConfig {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly period: "1d" | "1w" | "1mo";
  readonly matchers: Route["matchers"];
  readonly to: readonly string[];
  /** With less uptime on a day, a location's visitor counts of that day are not to be trusted; 0–1. */
  readonly untrustedBelow: number;
  /** https; `{recipient}` stands for the reader's address, percent-encoded. */
  readonly unsubscribeUrl: string | undefined;
}

/** A dead man's switch. */
export interface HeartbeatConfig {
  readonly url: string;
  readonly intervalMs: number;
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  readonly externalUrl: string | undefined;
  readonly adminToken: string | undefined;
  readonly readToken: string | undefined;
}
