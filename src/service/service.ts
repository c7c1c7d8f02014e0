/**
 * The client of the analytics service: token, Core API and Metrics WebSocket behind one interface, in the
 * domain's own shapes. Every method ends within `requestTimeoutMs`, throws nothing but ServiceError, and reads
 * only: asking again is always safe. How anything looks on the wire is known in this folder alone.
 */
import type { Location, RecordingUptime, StatusSnapshot } from "../health/recording.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type {
  AreaContext,
  AreaContextsQuery,
  AreaDataQuery,
  AreaMeasure,
  AverageDwellTimeQuery,
  ConversionMeasure,
  ConversionRateQuery,
  DwellMeasure,
  EntriesMeasure,
  EntriesQuery,
  MetricReply,
} from "./metric-types.ts";
import type { ServiceObserver } from "./observer.ts";

export { ServiceError, type ServiceErrorCode, serviceErrorCodes } from "./errors.ts";
export type * from "./metric-types.ts";
export {
  type ProtocolErrorKind,
  protocolErrorKinds,
  type ServiceEndpoint,
  type ServiceObserver,
  serviceEndpoints,
} from "./observer.ts";

/** Days `YYYY-MM-DD`, both inclusive (contract: uptime rules 1 and 2). */
export interface Days {
  readonly start: string;
  readonly end: string;
}

export interface StatusQuery {
  /** At least one id of the given type. */
  readonly entities: readonly string[];
  readonly entityType: "location" | "recording";
}

export interface Service {
  /** GET /v1/status, without a token: resolves when the service says that it is healthy; no body is read. */
  checkStatus(signal?: AbortSignal): Promise<void>;
  /** GET /v1/location/list. `dropped` rows could not be read: then the list is not complete. */
  locations(signal?: AbortSignal): Promise<{ locations: Location[]; dropped: number }>;
  /** GET /v1/recording/:id/uptime. */
  recordingUptime(id: string, days: Days, signal?: AbortSignal): Promise<RecordingUptime>;
  /** POST /v1/recording/uptimes; without `recids` for every recording there is (4 kB each: ask in pages). */
  uptimes(
    query: Days & { readonly recids?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<{ results: RecordingUptime[]; dropped: number }>;
  /** `status/uptime` over the socket: what every recording of these locations, or each of these, is doing now. */
  statusUptime(query: StatusQuery, signal?: AbortSignal): Promise<StatusSnapshot>;
  /** Route `entries`: people counted in. */
  entries(query: EntriesQuery, signal?: AbortSignal): Promise<MetricReply<EntriesMeasure>>;
  /** Route `area/data`: entries and dwell in zones. */
  areaData(query: AreaDataQuery, signal?: AbortSignal): Promise<MetricReply<AreaMeasure>>;
  /** Route `average-dwell-time`: dwell over a location. */
  averageDwellTime(query: AverageDwellTimeQuery, signal?: AbortSignal): Promise<MetricReply<DwellMeasure>>;
  /** Route `transactions/conversion-rate`, per location. */
  conversionRate(query: ConversionRateQuery, signal?: AbortSignal): Promise<MetricReply<ConversionMeasure>>;
  /** Route `detail/list`: the zones covered. */
  areaContexts(
    query: AreaContextsQuery,
    signal?: AbortSignal,
  ): Promise<{ contexts: AreaContext[]; dropped: number }>;
  /** Ends everything within about a second; what is in flight is rejected with code `closed`. */
  close(): Promise<void>;
}

/** Where the service is and who we are: the configuration's `service` section. URLs without a trailing slash. */
export interface ServiceSettings {
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly authUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  readonly requestTimeoutMs: number;
  readonly uptimeIndexTimezone: "recording" | "utc";
}

export interface ServiceDeps {
  readonly config: ServiceSettings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly observer?: ServiceObserver;
  /** 0–1, for jitter. */
  readonly random?: () => number;
  /** A connection that says nothing for two of these is dead; default 10 s. */
  readonly pingIntervalMs?: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read; the process's environment by default. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>;
}
