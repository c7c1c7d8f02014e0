/** One deadline over everything a call does: waiting for a token, the request, its body, and a second try. */
import { ServiceError } from "./errors.ts";

/**
 * What `work` gives, or the ServiceError that ended it: `timeout` after `ms`, `closed` once a caller's signal
 * aborts. `work` must honour the signal it is handed; the signal's reason is that same error.
 */
export async function withinDeadline<T>(
  limit: { what: string; ms: number; signals: readonly (AbortSignal | undefined)[] },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const giveUp = () =>
    deadline.abort(
      new ServiceError("closed", `${limit.what} was given up: its caller or the client ended it.`),
    );
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
    `${what} was not answered ${after}: see whether the service is slow, or raise service.request_timeout.`,
  );
}
