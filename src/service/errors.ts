import { CodedError } from "../lib/errors.ts";

/**
 * Why a call failed. `closed`: the caller cancelled it, or the client was closed. `bad_request`: refused before
 * anything was sent, or by the service permanently.
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

/** The only error of this folder. Message and cause contain no token and no client secret. */
export class ServiceError extends CodedError<ServiceErrorCode> {
  /** Wait that the service asks for in `Retry-After`, ms. */
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
