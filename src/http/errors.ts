/** Errors of the HTTP server, and the answers that errors become. */
import { CodedError } from "../lib/errors.ts";

const STATUS = {
  bad_query: 400,
  bad_body: 400,
  unauthorized: 401,
  forbidden: 403,
  missing_scope: 403,
  not_found: 404,
  misdirected: 421,
  too_many_failures: 429,
  busy: 503,
  unavailable: 503,
  too_large: 413,
  bad_config: 500,
  listen: 500,
} as const;

type HttpErrorCode = keyof typeof STATUS;
export const httpErrorCodes = Object.keys(STATUS) as HttpErrorCode[];

/** The only error this folder throws; its message may be shown to the client. */
export class HttpError extends CodedError<HttpErrorCode> {
  readonly status: number;

  constructor(code: HttpErrorCode, message: string, cause?: unknown) {
    super(code, message, { retryable: STATUS[code] === 503, cause });
    this.status = STATUS[code];
  }
}

/** Answer to a failed request, with nothing the client must not know. */
export type ErrorAnswer = { readonly status: number; readonly code: string; readonly message: string };

const UNAVAILABLE = "lenswatch cannot reach a dependency of this answer; try again in a moment, /readyz says more.";

/** HttpErrors as they are; stored data that cannot be read with what to do; retryable errors of other folders as 503; 4xx of the framework; everything else as 500. */
export function errorAnswerOf(thrown: unknown): ErrorAnswer {
  if (thrown instanceof HttpError) return thrown;
  const { code, statusCode: status } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown };
  if (code === "FST_ERR_HANDLER_TIMEOUT" || (thrown instanceof CodedError && thrown.retryable))
    return { status: 503, code: "unavailable", message: UNAVAILABLE };
  if (thrown instanceof CodedError && code === "unreadable") return { status: 503, code, message: thrown.message };
  if (status === 413) return { status, code: "too_large", message: "The body is too large; send less at once." };
  if (typeof status === "number" && status >= 400 && status < 500)
    return { status, code: "bad_request", message: "The request could not be understood." };
  return { status: 500, code: "internal", message: "This is a fault of lenswatch; its log says more." };
}
