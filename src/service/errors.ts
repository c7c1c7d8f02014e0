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

/**
 * Runs `work` within one deadline: token, request, body and second attempt together. Throws ServiceError `timeout` after
 * `ms`, `closed` when one of `signals` aborts. `work` must honour the signal it gets, whose reason is that error.
 */
export async function withinDeadline<T>(
  limit: { what: string; ms: number; signals: readonly (AbortSignal | undefined)[] },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const { what, ms } = limit;
  const hint =
    "the service is slow, or the connection was cut off; if it lasts, report it to the operator of the service";
  const abort = (code: "closed" | "timeout", how: string) => deadline.abort(new ServiceError(code, `${what} ${how}.`));
  const giveUp = () => abort("closed", "was cancelled by its caller or by closing the client");
  const timer = setTimeout(() => abort("timeout", `got no reply within ${ms / 1000} s: ${hint}`), ms);
  for (const signal of limit.signals) {
    if (signal?.aborted) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
  }
  try {
    deadline.signal.throwIfAborted();
    return await work(deadline.signal);
  } catch (thrown) {
    if (deadline.signal.aborted && !(thrown instanceof ServiceError)) throw deadline.signal.reason;
    throw thrown;
  } finally {
    clearTimeout(timer);
    for (const signal of limit.signals) signal?.removeEventListener("abort", giveUp);
  }
}
