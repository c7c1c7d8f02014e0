import { ServiceError } from "./errors.ts";

/**
 * Runs `work` within one deadline: token, request, body and second attempt together. Throws ServiceError `timeout` after
 * `ms`, `closed` when one of `signals` aborts. `work` must honour the signal it gets, whose reason is that error.
 */
export async function withinDeadline<T>(
  limit: { what: string; ms: number; signals: readonly (AbortSignal | undefined)[] },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const giveUp = () =>
    deadline.abort(new ServiceError("closed", `${limit.what} was cancelled by its caller or by closing the client.`));
  const timer = setTimeout(() => deadline.abort(tooLate(limit.what, limit.ms)), limit.ms);
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

function tooLate(what: string, ms: number): ServiceError {
  const after = `within ${ms / 1000} s`;
  return new ServiceError(
    "timeout",
    `${what} got no reply ${after}: check whether the service is slow, or raise service.request_timeout.`,
  );
}
