/** Logs the first failure of each kind and the recovery; metrics count the failures in between. */
import type { Logger } from "../lib/log.ts";
import type { ServiceError, ServiceErrorCode } from "./errors.ts";

export interface OutageLog {
  failed(error: ServiceError): void;
  recovered(): void;
}

/** `what` begins the lines: `metrics socket`. */
export function createOutageLog(log: Logger, what: string): OutageLog {
  let failing: ServiceErrorCode | undefined;
  return {
    failed(error) {
      if (error.code === failing) return;
      failing = error.code;
      log.warn({ err: error }, `${what} failed, retrying`);
    },
    recovered() {
      if (failing === undefined) return;
      failing = undefined;
      log.info(`${what} recovered`);
    },
  };
}
