import { CodedError } from "../lib/errors.ts";

const retryable = {
  timeout: true,
  auth: false,
  rate_limited: true,
  bad_payload: true,
  unavailable: true,
  bad_request: false,
  closed: false,
};

/**
 * Why a call failed. `closed`: the caller cancelled it, or the client was closed. `bad_request`: refused before
 * anything was sent, or by the service permanently.
 */
export type ServiceErrorCode = keyof typeof retryable;
export const serviceErrorCodes = Object.keys(retryable) as ServiceErrorCode[];

/** The only error of this folder. Message and cause contain no token and no client secret. */
export class ServiceError extends CodedError<ServiceErrorCode> {
  /** Wait that the service asks for in `Retry-After`, ms. */
  readonly retryAfterMs: number | undefined;
  /** The HTTP status of the refusal, or the one that its error code stands for. */
  readonly status: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined; status?: number } = {},
  ) {
    super(code, message, { retryable: retryable[code], cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}
