/** What a request can be refused with, and how it is told. */
import { CodedError } from "../lib/errors.ts";

export const httpErrorCodes = [
  "bad_query",
  "bad_body",
  "unauthorized",
  "forbidden",
  "not_found",
  "too_many_failures",
  "busy",
  "unavailable",
  "too_large",
  "bad_config",
  "listen",
] as const;
export type HttpErrorCode = (typeof httpErrorCodes)[number];

const STATUS: Readonly<Record<HttpErrorCode, number>> = {
  bad_query: 400,
  bad_body: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  too_many_failures: 429,
  busy: 503,
  unavailable: 503,
  too_large: 413,
  bad_config: 500,
  listen: 500,
};

/** The one error this room throws; its message may be shown to whoever asked. */
export class HttpError extends CodedError<HttpErrorCode> {
  readonly status: number;

  constructor(code: HttpErrorCode, message: string, cause?: unknown) {
    super(code, message, { retryable: STATUS[code] === 503, cause });
    this.status = STATUS[code];
  }
}

/** What is answered when something was thrown: never more than the asker may know. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Our own errors as they are; a retryable one of another room as 503; the framework's 4xx; else 500. */
export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof HttpError) return thrown;
  const late = (thrown as { code?: unknown } | null)?.code === "FST_ERR_HANDLER_TIMEOUT";
  if (late || (thrown instanceof CodedError && thrown.retryable)) {
    return {
      status: 503,
      code: "unavailable",
      message:
        "lenswatch cannot reach what it needs for this answer; try again in a moment, /readyz says more.",
    };
  }
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  if (status === 413) {
    return {
      status,
      code: "too_large",
      message: "The body is larger than what is read here; send less at once.",
    };
  }
  if (typeof status === "number" && status >= 400 && status < 500) {
    return { status, code: "bad_request", message: "The request could not be understood." };
  }
  return { status: 500, code: "internal", message: "This is a fault of lenswatch; its log says more." };
}
