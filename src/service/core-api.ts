/** The Core API over HTTP: adds the bearer token, replaces a refused token once, and parses the reply as JSON. */
import type { Clock } from "../lib/clock.ts";
import { tryJson } from "../lib/json-values.ts";
import type { Redactor } from "../lib/redact.ts";
import { ServiceError } from "./errors.ts";
import { isAccepted, type SendRequest, type ServiceReply } from "./http.ts";
import type { CoreRequest } from "./queries.ts";
import { errorPayload, refusalOf } from "./refusal.ts";
import type { ReportDeviation } from "./reporter.ts";
import type { Token, TokenSource } from "./token.ts";

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
