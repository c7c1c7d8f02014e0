/** What every call to the service shares: one token, one socket, deadlines, redaction, counts and outage logs. */
import { createHttpClient, readProxyEnv } from "../lib/http-client.ts";
import { createRedactor, type Redactor } from "../lib/redact.ts";
import { createCoreApi } from "./core-api.ts";
import { withinDeadline } from "./deadline.ts";
import { ServiceError, type ServiceErrorCode } from "./errors.ts";
import { createSendRequest } from "./http.ts";
import { MetricsSocket } from "./metrics-socket.ts";
import type { ServiceEndpoint, ServiceObserver } from "./observer.ts";
import { replyLimits } from "./reply-size.ts";
import { createOutageLog, createReport, type OutageLog } from "./reporter.ts";
import type { ServiceDeps } from "./service.ts";
import { createTokenSource, type Renewal } from "./token.ts";

const PING_INTERVAL_MS = 10_000;

type Work<T> = (signal: AbortSignal) => Promise<T>;

export function createTransport(deps: ServiceDeps) {
  const { config, clock, observer = {}, random = Math.random } = deps;
  const log = deps.log.child({ component: "service" });
  const redactor = createRedactor([config.clientSecret, config.tls?.key ?? ""]);
  const report = createReport({ log, clock, observer, redactor });
  const proxy = readProxyEnv(deps.proxyEnv ?? process.env);
  const closing = new AbortController();
  const limits = replyLimits();
  const client = createHttpClient({ proxy, tls: config.tls });
  const sendRequest = createSendRequest({ client, redactor, limits, report });
  const shared = { config, clock, random, redactor, report, sendRequest };
  const onRenewal = renewalObserver(createOutageLog(log, "token renewal"), observer);
  const tokens = createTokenSource({ ...shared, closing: closing.signal, onRenewal });
  const socket = new MetricsSocket({
    ...shared,
    tokens,
    proxy,
    tls: config.tls,
    wsUrl: config.wsUrl,
    requestTimeoutMs: config.requestTimeoutMs,
    pingIntervalMs: deps.pingIntervalMs ?? PING_INTERVAL_MS,
    limits,
    outage: createOutageLog(log, "metrics socket"),
    onReconnect: () => observer.socketReconnect?.(),
  });

  /** Runs one call within its deadline and counts how it ended. Throws nothing but ServiceError. */
  async function call<T>(endpoint: ServiceEndpoint, caller: AbortSignal | undefined, work: Work<T>): Promise<T> {
    const startedAt = performance.now();
    let outcome: "ok" | ServiceErrorCode = "ok";
    try {
      const limit = { what: endpoint, ms: config.requestTimeoutMs, signals: [caller, closing.signal] };
      return await withinDeadline(limit, work);
    } catch (thrown) {
      const error = asServiceError(thrown, redactor);
      outcome = error.code;
      throw error;
    } finally {
      observer.request?.(endpoint, outcome, (performance.now() - startedAt) / 1000);
    }
  }

  return {
    core: createCoreApi({ ...shared, baseUrl: config.baseUrl, tokens }),
    socket,
    report,
    call,
    async close(): Promise<void> {
      closing.abort();
      await socket.close();
      await client.close();
    },
  };
}

function renewalObserver(outage: OutageLog, observer: ServiceObserver) {
  return (renewal: Renewal, seconds: number) => {
    observer.request?.("token", "error" in renewal ? renewal.error.code : "ok", seconds);
    if ("error" in renewal) return outage.failed(renewal.error);
    outage.recovered();
    observer.tokenExpiry?.(renewal.token.expiresAt);
  };
}

/** Any other error is a fault of ours or of a library, and may contain a secret. */
function asServiceError(thrown: unknown, redactor: Redactor): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const cause = redactor.error(thrown);
  return new ServiceError("unavailable", "The request failed unexpectedly: see its cause.", { cause });
}
