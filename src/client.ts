/** `lenswatch/client`: the client of the analytics service for other programs. It only reads. */
import { systemClock } from "./lib/clock.ts";
import { createService, type Service, ServiceError, type ServiceLog, type ServiceSettings } from "./service/service.ts";

export type * from "./health/recording.ts";
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
export type { ServiceErrorCode } from "./service/service.ts";
export { type Service, ServiceError, type ServiceLog, type ServiceSettings };

const noLog: ServiceLog = { child: () => noLog, info() {}, warn() {} };

/** The keys of `service` in a configuration, in camel case. */
export interface ServiceClientOptions
  extends Omit<ServiceSettings, "requestTimeoutMs" | "uptimeIndexTimezone">,
    Partial<Pick<ServiceSettings, "requestTimeoutMs" | "uptimeIndexTimezone">> {
  /** Outages, and deviations of the service from its contract; by default nothing is logged. */
  readonly log?: ServiceLog;
}

/**
 * Connects with the first call. A request ends within 20 s unless `requestTimeoutMs` says otherwise. Throws ServiceError
 * `bad_request` for an address that is none.
 */
export function createServiceClient({ log = noLog, ...settings }: ServiceClientOptions): Service {
  const urls = { baseUrl: bareUrl("baseUrl", settings), authUrl: bareUrl("authUrl", settings) };
  const config = { requestTimeoutMs: 20_000, uptimeIndexTimezone: "recording", ...settings, ...urls } as const;
  return createService({ config, log, clock: systemClock });
}

/** Without slashes at its end. */
function bareUrl(key: "baseUrl" | "authUrl", settings: Pick<ServiceSettings, typeof key>): string {
  if (URL.canParse(settings[key])) return settings[key].replace(/\/+$/, "");
  throw new ServiceError("bad_request", `${key} is not a URL: use the one of the service's configuration.`);
}
