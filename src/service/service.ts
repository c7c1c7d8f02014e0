/**
 * The client of the analytics service: Core API and Metrics WebSocket behind one interface, in the domain's own types.
 * Every method ends within `requestTimeoutMs`, throws nothing but ServiceError, and only reads: retrying is always safe.
 * Only this folder knows the wire formats.
 */
import type { Location, ReportedUptime, StatusSnapshot } from "../health/recording.ts";
import { parseLocations } from "./location-rows.ts";
import { type AreaContext, type MetricReply, parseAreaContexts, parseMetricReply } from "./metric-rows.ts";
import type { ServiceDeps, ServiceEndpoint } from "./model.ts";
import {
  type AreaDataQuery,
  type AverageDwellTimeQuery,
  areaContextsRequest,
  areaDataRequest,
  averageDwellTimeRequest,
  type ConversionRateQuery,
  type CoreRequest,
  conversionRateRequest,
  type Days,
  type EntitiesQuery,
  type EntriesQuery,
  entriesRequest,
  recordingUptimeRequest,
  type SocketRequest,
  statusRequest,
  uptimesRequest,
} from "./queries.ts";
import { createUptimeParser, type KnownRecording } from "./recording-uptime-rows.ts";
import { createOutageLog } from "./reporter.ts";
import { createStatusReplies } from "./status-reply.ts";
import { parseStatusRows } from "./status-uptime-rows.ts";
import { createTransport } from "./transport.ts";
import { createWallClock } from "./zoned-time.ts";

export { ServiceError, type ServiceErrorCode, serviceErrorCodes } from "./errors.ts";
export type { AreaContext } from "./metric-rows.ts";
export {
  type ProtocolErrorKind,
  protocolErrorKinds,
  type ServiceDeps,
  type ServiceEndpoint,
  type ServiceLog,
  type ServiceObserver,
  type ServiceSettings,
  serviceEndpoints,
} from "./model.ts";
export type { Days, EntriesQuery } from "./queries.ts";

const AREA_MEASURES = ["area_total_entries", "area_total_dwell_time", "area_average_dwell_time"] as const;

/** A reply without segments (contract: "Routes"). */
type Summary<Measure extends string> = Omit<MetricReply<Measure>, "segments" | "estimates">;

/** `last`: the snapshot before of the same entities, taken over by the next one, which makes reading that quick. */
export type StatusQuery = EntitiesQuery & { readonly last?: StatusSnapshot | undefined };

/** `known`: what is known of recordings already, which their rows are read by: a row may lack its time zone. */
export type UptimeQuery = Days & { readonly known?: KnownRecording | undefined };

export interface Service {
  /** GET /v1/status, without a token: resolves when the service is healthy; no body is read. */
  checkStatus(signal?: AbortSignal): Promise<void>;
  /** GET /v1/location/list. `dropped` rows could not be read: then the list is incomplete. */
  locations(signal?: AbortSignal): Promise<{ locations: Location[]; dropped: number }>;
  /** GET /v1/recording/:id/uptime. */
  recordingUptime(id: string, query: UptimeQuery, signal?: AbortSignal): Promise<ReportedUptime>;
  /** POST /v1/recording/uptimes; without `recids` for every recording (4 kB each: request pages). */
  uptimes(
    query: UptimeQuery & { readonly recids?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<{ results: ReportedUptime[]; dropped: number }>;
  /** `status/uptime` over the socket: the status of these recordings, or of all recordings of these locations. */
  statusUptime(query: StatusQuery, signal?: AbortSignal): Promise<StatusSnapshot>;
  /** Route `entries`: people counted in, unit `peopleCount`. */
  entries(query: EntriesQuery, signal?: AbortSignal): Promise<MetricReply<"entries">>;
  /** Route `area/data`: entries and dwell in zones, times in seconds. */
  areaData(query: AreaDataQuery, signal?: AbortSignal): Promise<MetricReply<(typeof AREA_MEASURES)[number]>>;
  /** Route `average-dwell-time`: dwell over a location, in seconds. */
  averageDwellTime(query: AverageDwellTimeQuery, signal?: AbortSignal): Promise<Summary<"average_dwell_time">>;
  /** Route `transactions/conversion-rate`, per location; 0.5 is 50 per cent. */
  conversionRate(query: ConversionRateQuery, signal?: AbortSignal): Promise<Summary<"sales_conversion_rate">>;
  /** Route `detail/list`: the zones that recordings cover. */
  areaContexts(query: EntitiesQuery, signal?: AbortSignal): Promise<{ contexts: AreaContext[]; dropped: number }>;
  /** Takes about a second at most; calls in flight are rejected with code `closed`. */
  close(): Promise<void>;
}

/** Connects with the first call. */
export function createService(deps: ServiceDeps): Service {
  const { config, clock } = deps;
  const wall = createWallClock();
  const { core, socket, report, call, close } = createTransport(deps);
  const health = createOutageLog(deps.log.child({ component: "service" }), "health check");
  const uptimeParser = createUptimeParser({ report, wall, clock, indexTimezone: config.uptimeIndexTimezone });
  const viaCore = <T>(
    endpoint: ServiceEndpoint,
    toRequest: () => CoreRequest,
    parse: (payload: unknown) => T,
    caller: AbortSignal | undefined,
  ) => call(endpoint, caller, async (signal) => parse(await core.ask(toRequest(), signal)));
  const viaSocket =
    <Query, T>(
      endpoint: ServiceEndpoint,
      toRequest: (query: Query) => SocketRequest,
      parse: (payload: unknown, route: string) => T,
    ) =>
    (query: Query, caller?: AbortSignal) =>
      call(endpoint, caller, async (signal) => {
        const request = toRequest(query);
        return parse(await socket.ask(request, signal), request.route);
      });
  const measures =
    <Measure extends string>(names: readonly Measure[]) =>
    (payload: unknown, route: string) =>
      parseMetricReply(route, names, payload, report);
  const replies = createStatusReplies(report);
  const list = { method: "GET", path: "/v1/location/list" } as const;
  const readLocations = (payload: unknown) => parseLocations(payload, { report, isZone: wall.isZone });
  return {
    checkStatus: (caller) =>
      call("status", caller, (signal) => core.checkStatus(signal)).then(health.recovered, (thrown) => {
        if (thrown.code !== "closed") health.failed(thrown);
        throw thrown;
      }),
    locations: (caller) => viaCore("locations", () => list, readLocations, caller),
    recordingUptime(id, query, caller) {
      const parse = (payload: unknown) => uptimeParser.one(payload, query.known);
      return viaCore("recording_uptime", () => recordingUptimeRequest(id, query), parse, caller);
    },
    uptimes(query, caller) {
      const parse = (payload: unknown) => uptimeParser.many(payload, query.recids, query.known);
      return viaCore("uptimes", () => uptimesRequest(query), parse, caller);
    },
    statusUptime: viaSocket(
      "status_uptime",
      ({ last, ...query }: StatusQuery) => ({
        ...statusRequest(query),
        read: (text: Buffer) => replies.read(text, last),
      }),
      (payload) => (replies.isSnapshot(payload) ? payload : parseStatusRows(payload, report)),
    ),
    entries: viaSocket("entries", entriesRequest, measures(["entries"])),
    areaData: viaSocket("area_data", areaDataRequest, measures(AREA_MEASURES)),
    averageDwellTime: viaSocket("average_dwell_time", averageDwellTimeRequest, measures(["average_dwell_time"])),
    conversionRate: viaSocket("conversion_rate", conversionRateRequest, measures(["sales_conversion_rate"])),
    areaContexts: viaSocket("area_contexts", areaContextsRequest, (payload) => parseAreaContexts(payload, report)),
    close,
  };
}
