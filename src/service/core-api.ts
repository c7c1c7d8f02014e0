/** The Core API over HTTP: adds the bearer token, replaces a refused token once, and parses the reply as JSON. */

import { parseRetryAfter } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { ServiceError } from "./errors.ts";
import type { SendRequest, ServiceReply, ServiceRequest } from "./http.ts";
import { errorPayload, refusal } from "./refusal.ts";
import type { ReportDeviation } from "./reporter.ts";
import type { TokenSource } from "./token.ts";

export interface CoreRequest {
  readonly method: "GET" | "POST";
  /** Starts with `/v1`. */
  readonly path: string;
  readonly json?: unknown;
}

export interface CoreApi {
  /** The reply's JSON value. Throws ServiceError, or the signal's reason. */
  ask(request: CoreRequest, signal: AbortSignal): Promise<unknown>;
  /** Resolves on a 200 of the public health check; its body is not read. */
  checkStatus(signal: AbortSignal): Promise<void>;
}

export function createCoreApi(deps: {
  baseUrl: string;
  sendRequest: SendRequest;
  tokens: TokenSource;
  clock: Clock;
  report: ReportDeviation;
}): CoreApi {
  const { baseUrl, sendRequest, tokens, clock, report } = deps;

  async function send(request: CoreRequest, signal: AbortSignal): Promise<ServiceReply> {
    const first = await tokens.get(signal);
    const reply = await sendRequest(withBearer(baseUrl, request, first.value), signal);
    if (reply.status !== 401) return reply;
    reply.discard();
    tokens.refuse(first);
    const second = await tokens.get(signal, first);
    return sendRequest(withBearer(baseUrl, request, second.value), signal);
  }

  const refused = (what: string, reply: ServiceReply) => {
    reply.discard();
    return refusal(what, reply.status, parseRetryAfter(reply.retryAfter, clock.now()));
  };

  return {
    async ask(request, signal) {
      const what = `${request.method} ${request.path}`;
      const reply = await send(request, signal);
      if (reply.status < 200 || reply.status > 299) throw refused(what, reply);
      const payload = parseJson(what, await reply.text(), report);
      const error = errorPayload(what, payload);
      if (!error) return payload;
      report("error_payload", () => payload);
      throw error;
    },
    async checkStatus(signal) {
      const reply = await sendRequest({ method: "GET", url: `${baseUrl}/v1/status` }, signal);
      if (reply.status !== 200) throw refused("GET /v1/status", reply);
      reply.discard();
    },
  };
}

function withBearer(baseUrl: string, { method, path, json }: CoreRequest, token: string): ServiceRequest {
  return { method, url: `${baseUrl}${path}`, json, headers: { authorization: `Bearer ${token}` } };
}

function parseJson(what: string, text: string, report: ReportDeviation): unknown {
  try {
    return JSON.parse(text);
  } catch {
    report("bad_json", () => text);
    throw new ServiceError("bad_payload", `${what} got a reply that is not JSON: check service.base_url.`);
  }
}
