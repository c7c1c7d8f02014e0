/** Shared by every call to the service: one token, one socket, deadlines, redaction, counts and outage logs. */

import type { Clock } from "../lib/clock.ts";
import { createHttpClient, readProxyEnv } from "../lib/http-client.ts";
import { tryJson } from "../lib/json-values.ts";
import { createRedactor, type Redactor } from "../lib/redact.ts";
import { ServiceError, type ServiceErrorCode, withinDeadline } from "./errors.ts";
import { createSendRequest, isAccepted, type SendRequest, type ServiceReply } from "./http.ts";
import { MetricsSocket } from "./metrics-socket.ts";
import type { ServiceDeps, ServiceEndpoint, ServiceObserver } from "./model.ts";
import type { CoreRequest } from "./queries.ts";
import { errorPayload, refusalOf } from "./refusal.ts";
import { replyLimits } from "./reply-size.ts";
import { createOutageLog, createReport, type OutageLog, type ReportDeviation } from "./reporter.ts";

import { createTokenSource, type Renewal, type Token, type TokenSource } from "./token.ts";

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

export function createCoreApi(deps: {
  readonly baseUrl: string;
  readonly sendRequest: SendRequest;
  readonly tokens: TokenSource;
  readonly clock: Clock;
  readonly report: ReportDeviation;
  readonly redactor: Redactor;
}) {
  const { baseUrl, sendRequest, tokens, clock, report, redactor } = deps;

  function sendWith(token: Token, { method, path, json }: CoreRequest, signal: AbortSignal): Promise<ServiceReply> {
    const headers = { authorization: `Bearer ${token.value}` };
    return sendRequest({ method, url: `${baseUrl}${path}`, json, headers }, signal);
  }

  async function attempt(token: Token, request: CoreRequest, signal: AbortSignal): Promise<unknown> {
    const what = `${request.method} ${request.path}`;
    const reply = await sendWith(token, request, signal);
    if (!isAccepted(reply)) throw await refusalOf(what, reply, { now: clock.now(), redactor });
    const payload = parseJson(what, await reply.text(), report);
    const error = errorPayload(what, payload, redactor);
    if (!error) return payload;
    report("error_payload", () => payload);
    throw error;
  }

  return {
    /** The reply's JSON value. Throws ServiceError, or the signal's reason. */
    async ask(request: CoreRequest, signal: AbortSignal): Promise<unknown> {
      const first = await tokens.get(signal);
      return attempt(first, request, signal).catch(async (thrown: unknown) => {
        if (!(thrown instanceof ServiceError) || thrown.status !== 401) throw thrown;
        tokens.refuse(first);
        return attempt(await tokens.get(signal, first), request, signal);
      });
    },
    /** Resolves on a 200 of the public health check; its body is not read. */
    async checkStatus(signal: AbortSignal): Promise<void> {
      const reply = await sendRequest({ method: "GET", url: `${baseUrl}/v1/status` }, signal);
      if (reply.status !== 200) throw await refusalOf("GET /v1/status", reply, { now: clock.now(), redactor });
      reply.discard();
    },
  };
}

function parseJson(what: string, text: string, report: ReportDeviation): unknown {
  const value = tryJson(text);
  if (value !== undefined) return value;
  report("bad_json", () => text);
  throw new ServiceError("bad_payload", `${what} got a reply that is not JSON: check service.base_url.`);
}
