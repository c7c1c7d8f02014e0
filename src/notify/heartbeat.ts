/** The call to a dead man's switch. Its URL is a secret: whoever has it can keep the switch quiet. */
import { toError } from "../lib/errors.ts";
import { withTimeout } from "./failure.ts";
import { createFetch, type Fetch } from "./fetch.ts";

const TIMEOUT_MS = 10_000;

/** `call` resolves with why the switch was not reset, in words without secrets, or undefined where it was. */
export interface HeartbeatCall {
  call(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A GET within 10 s; only a 2xx counts, redirects are not followed. */
export function createHeartbeatCall(deps: {
  readonly url: string;
  /** Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: undici's, through HTTPS_PROXY and NO_PROXY. */
  readonly fetch?: Fetch | undefined;
}): HeartbeatCall {
  const { url, timeoutMs = TIMEOUT_MS } = deps;
  const { fetch, close } =
    deps.fetch === undefined ? createFetch() : { fetch: deps.fetch, close: async () => {} };
  return {
    async call(signal) {
      const limited = withTimeout(signal, timeoutMs);
      try {
        const init = { method: "GET", headers: {}, body: null, redirect: "manual", signal: limited } as const;
        const { status, body } = await fetch(url, init);
        for await (const _ of body ?? []) break;
        if (status >= 200 && status < 300) return undefined;
        return `it answered ${status}${status >= 300 && status < 400 ? ", and redirects are not followed" : ""}`;
      } catch (thrown) {
        return whyNot(thrown, limited);
      }
    },
    close,
  };
}

/** Messages of errors may hold the URL: only their codes are told. */
function whyNot(thrown: unknown, signal: AbortSignal): string {
  if (signal.aborted) {
    return toError(signal.reason).name === "TimeoutError"
      ? "it did not answer in time"
      : "the call was given up";
  }
  const { code, cause } = toError(thrown) as Error & { code?: unknown };
  const known = [code, (cause as { code?: unknown } | undefined)?.code].find(
    (one) => typeof one === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(one),
  );
  return `it could not be reached${known === undefined ? "" : ` (${String(known)})`}`;
}
