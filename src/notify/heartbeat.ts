/** The call to a dead man's switch. Its URL is a secret: anybody who knows it can reset the switch. */
import { withTimeout } from "../lib/abort.ts";
import { toError } from "../lib/errors.ts";
import { createHttpClient, type HttpClient } from "../lib/http-client.ts";

const TIMEOUT_MS = 10_000;

/** `call` resolves with why the switch was not reset, without secrets, or undefined where it was. */
export type HeartbeatCall = { call(signal: AbortSignal): Promise<string | undefined>; close(): Promise<void> };

/** A GET; only a 2xx counts, redirects are not followed. */
export function createHeartbeatCall(options: {
  readonly url: string;
  /** Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: one of its own, through the proxy of the environment. */
  readonly client?: HttpClient | undefined;
}): HeartbeatCall {
  const { url, timeoutMs = TIMEOUT_MS, client = createHttpClient({}) } = options;
  return {
    async call(signal) {
      const limited = withTimeout(signal, timeoutMs);
      try {
        const { status, discard } = await client.send({ method: "GET", url }, limited);
        discard();
        if (status >= 200 && status < 300) return undefined;
        return `it answered ${status}${status >= 300 && status < 400 ? ", and redirects are not followed" : ""}`;
      } catch (thrown) {
        return failureOf(thrown, limited);
      }
    },
    close: () => client.close(),
  };
}

/** Messages of errors may have the URL in them: only their codes are shown. */
export function failureOf(thrown: unknown, signal: AbortSignal): string {
  if (signal.aborted) {
    const isLate = toError(signal.reason).name === "TimeoutError";
    return isLate ? "it did not answer in time" : "the call was cancelled";
  }
  const { code, cause } = toError(thrown) as Error & { code?: unknown };
  const known = [code, (cause as { code?: unknown } | undefined)?.code].find(
    (one) => typeof one === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(one),
  );
  return `it could not be reached${known === undefined ? "" : ` (${String(known)})`}`;
}
