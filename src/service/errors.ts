import { CodedError } from "../lib/errors.ts";

/**
 * Why the service gave no good answer. `closed`: the caller gave up, or the client was closed. `bad_request`:
 * refused before anything was sent, or by the service for good.
 */
export const serviceErrorCodes = [
  "timeout",
  "auth",
  "rate_limited",
  "bad_payload",
  "unavailable",
  "bad_request",
  "closed",
] as const;
export type ServiceErrorCode = (typeof serviceErrorCodes)[number];

const RETRYABLE: Readonly<Record<ServiceErrorCode, boolean>> = {
  timeout: true,
  auth: false,
  rate_limited: true,
  bad_payload: true,
  unavailable: true,
  bad_request: false,
  closed: false,
};

/** The one error this room throws. Neither its message nor its cause ever holds a token or the client secret. */
export class ServiceError extends CodedError<ServiceErrorCode> {
  /** How long the service asked us to stay away (`Retry-After`), ms. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, {
      retryable: RETRYABLE[code],
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    });
    this.retryAfterMs = options.retryAfterMs;
  }
}
