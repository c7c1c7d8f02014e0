/**
 * The client of the analytics service: Core API and Metrics WebSocket behind one interface, in the domain's own types.
 * Every method ends within `requestTimeoutMs`, throws nothing but ServiceError, and only reads: retrying is always safe.
 * Only this folder knows the wire formats.
 */
import type { Location, RecordingUptime, StatusSnapshot } from "../health/recording.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { TlsMaterial } from "../lib/tls.ts";
import { parseLocations } from "./location-rows.ts";
import { parseAreaContexts, parseMetricReply } from "./metric-rows.ts";
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
import type { ServiceEndpoint, ServiceObserver } from "./observer.ts";
import type { SocketRequest } from "./pending-requests.ts";
import {
  areaContextsRequest,
  areaDataRequest,
  averageDwellTimeRequest,
  conversionRateRequest,
  entriesRequest,
  recordingUptimeRequest,
  statusRequest,
  uptimesRequest,
} from "./queries.ts";
import { parseStatusRows } from "./status-rows.ts";
import { createTransport } from "./transport.ts";
import { createUptimeParser } from "./uptime-rows.ts";
import { createWallClock } from "./zoned-time.ts";

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
  /** GET /v1/status, without a token: resolves when the service is healthy; no body is read. */
  checkStatus(signal?: AbortSignal): Promise<void>;
  /** GET /v1/location/list. `dropped` rows could not be read: then the list is incomplete. */
  locations(signal?: AbortSignal): Promise<{ locations: Location[]; dropped: number }>;
  /** GET /v1/recording/:id/uptime. */
  recordingUptime(id: string, days: Days, signal?: AbortSignal): Promise<RecordingUptime>;
  /** POST /v1/recording/uptimes; without `recids` for every recording (4 kB each: request pages). */
  uptimes(
    query: Days & { readonly recids?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<{ results: RecordingUptime[]; dropped: number }>;
  /** `status/uptime` over the socket: the status of these recordings, or of all recordings of these locations. */
  statusUptime(query: StatusQuery, signal?: AbortSignal): Promise<StatusSnapshot>;
  /** Route `entries`: people counted in. */
  entries(query: EntriesQuery, signal?: AbortSignal): Promise<MetricReply<EntriesMeasure>>;
  /** Route `area/data`: entries and dwell in zones. */
  areaData(query: AreaDataQuery, signal?: AbortSignal): Promise<MetricReply<AreaMeasure>>;
  /** Route `average-dwell-time`: dwell over a location. */
  averageDwellTime(query: AverageDwellTimeQuery, signal?: AbortSignal): Promise<MetricReply<DwellMeasure>>;
  /** Route `transactions/conversion-rate`, per location. */
  conversionRate(query: ConversionRateQuery, signal?: AbortSignal): Promise<MetricReply<ConversionMeasure>>;
  /** Route `detail/list`: the zones that recordings cover. */
  areaContexts(query: AreaContextsQuery, signal?: AbortSignal): Promise<{ contexts: AreaContext[]; dropped: number }>;
  /** Takes about a second at most; calls in flight are rejected with code `closed`. */
  close(): Promise<void>;
}

/** The configuration's `service` section. URLs without a trailing slash. */
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
  readonly log: Logger;
  readonly clock: Clock;
  readonly observer?: ServiceObserver;
  /** 0–1, for jitter. */
  readonly random?: () => number;
  /** A connection without a byte for two of these is dead; default 10 s. */
  readonly pingIntervalMs?: number;
  /** Has `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; the process's environment by default. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>;
}

/** Connects with the first call. */
export function createService(deps: ServiceDeps): Service {
  const { config } = deps;
  const wall = createWallClock();
  const { core, socket, report, call, close } = createTransport(deps);
  const uptimeParser = createUptimeParser({ report, wall, indexTimezone: config.uptimeIndexTimezone });
  const metric =
    <Query, Measure extends string>(
      endpoint: ServiceEndpoint,
      measures: readonly Measure[],
      toRequest: (query: Query) => SocketRequest,
    ) =>
    (query: Query, caller?: AbortSignal) =>
      call(endpoint, caller, async (signal) => {
        const question = toRequest(query);
        return parseMetricReply(question.route, measures, await socket.ask(question, signal), report);
      });
  return {
    checkStatus: (caller) => call("status", caller, (signal) => core.checkStatus(signal)),
    locations: (caller) =>
      call("locations", caller, async (signal) => {
        const payload = await core.ask({ method: "GET", path: "/v1/location/list" }, signal);
        return parseLocations(payload, { report, isZone: wall.isZone });
      }),
    recordingUptime: (id, days, caller) =>
      call("recording_uptime", caller, async (signal) =>
        uptimeParser.one(await core.ask(recordingUptimeRequest(id, days), signal)),
      ),
    uptimes: (query, caller) =>
      call("uptimes", caller, async (signal) =>
        uptimeParser.many(await core.ask(uptimesRequest(query), signal), query.recids),
      ),
    statusUptime: (query, caller) =>
      call("status_uptime", caller, async (signal) =>
        parseStatusRows(await socket.ask(statusRequest(query), signal), report),
      ),
    entries: metric("entries", ["entries"], entriesRequest),
    areaData: metric(
      "area_data",
      ["area_total_entries", "area_total_dwell_time", "area_average_dwell_time"],
      areaDataRequest,
    ),
    averageDwellTime: metric("average_dwell_time", ["average_dwell_time"], averageDwellTimeRequest),
    conversionRate: metric("conversion_rate", ["sales_conversion_rate"], conversionRateRequest),
    areaContexts: (query, caller) =>
      call("area_contexts", caller, async (signal) =>
        parseAreaContexts(await socket.ask(areaContextsRequest(query), signal), report),
      ),
    close,
  };
}
