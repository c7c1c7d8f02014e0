import { CodedError } from "../lib/errors.ts";

/** `no_server`: nothing to start Redis with; `unavailable`: not reachable now; `unreadable`: what is stored cannot be read by this version. */
export const storeErrorCodes = ["no_server", "unavailable", "unreadable"] as const;
type StoreErrorCode = (typeof storeErrorCodes)[number];

/** An error of Redis or of what is stored in it. */
export class StoreError extends CodedError<StoreErrorCode> {
  constructor(code: StoreErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(code, message, { retryable: code === "unavailable", ...options });
  }
}
