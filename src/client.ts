/** `lenswatch/client`: the client of the analytics service for other programs. It only reads. */
import { systemClock } from "./lib/clock.ts";
import { createService, type Service, type ServiceLog, type ServiceSettings } from "./service/service.ts";

export type {
  Location,
  Reading,
  Recording,
  RecordingStatus,
  RecordingUptime,
  StatusSnapshot,
  UptimeBucket,
} from "./health/recording.ts";
export type { Instant } from "./lib/clock.ts";
export type { TlsMaterial } from "./lib/tls.ts";
export type { AreaContext, MetricReply, MetricReplyRow } from "./service/metric-rows.ts";
export type {
  AreaDataQuery,
  AverageDwellTimeQuery,
  ConversionRateQuery,
  Days,
  EntitiesQuery,
  EntriesQuery,
} from "./service/queries.ts";
export { ServiceError, type ServiceErrorCode } from "./service/service.ts";
export type { Service, ServiceLog, ServiceSettings };

const noLog: ServiceLog = { child: () => noLog, info() {}, warn() {} };

/** The keys of `service` in a configuration, in camel case. URLs without a trailing slash, but for `wsUrl`. */
export interface ServiceClientOptions
  extends Omit<ServiceSettings, "requestTimeoutMs" | "uptimeIndexTimezone">,
    Partial<Pick<ServiceSettings, "requestTimeoutMs" | "uptimeIndexTimezone">> {
  /** Outages, and deviations of the service from its contract; by default nothing is logged. */
  readonly log?: ServiceLog;
}

/** Connects with the first call. A request ends within 20 s unless `requestTimeoutMs` says otherwise. */
export function createServiceClient({ log = noLog, ...settings }: ServiceClientOptions): Service {
  const config = { requestTimeoutMs: 20_000, uptimeIndexTimezone: "recording", ...settings } as const;
  return createService({ config, log, clock: systemClock });
}
