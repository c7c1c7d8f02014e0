/** Logs the first failure of a kind and the recovery; what lies between is counted elsewhere. */
import type { Logger } from "../lib/log.ts";
import type { ServiceError, ServiceErrorCode } from "./errors.ts";

export interface OutageLog {
  failed(error: ServiceError): void;
  recovered(): void;
}

/** `what` begins the lines, as in "the metrics socket". */
export function createOutageLog(log: Logger, what: string): OutageLog {
  let failing: ServiceErrorCode | undefined;
  return {
    failed(error) {
      if (error.code === failing) return;
      failing = error.code;
      log.warn({ err: error }, `${what} failed, it is tried again`);
    },
    recovered() {
      if (failing === undefined) return;
      failing = undefined;
      log.info(`${what} works again`);
    },
  };
}
