import { CodedError } from "../lib/errors.ts";

export type DigestErrorCode = "invalid_cron" | "invalid_timezone";

/** A digest that cannot be scheduled as it is configured. Trying again does not help. */
export class DigestError extends CodedError<DigestErrorCode> {
  constructor(code: DigestErrorCode, message: string, cause?: unknown) {
    super(code, message, { retryable: false, cause });
  }
}
