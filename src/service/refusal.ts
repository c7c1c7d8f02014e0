/** Status codes as errors: of HTTP replies, refused WebSocket handshakes and error payloads. */
import { parseRetryAfter } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";
import { ServiceError } from "./errors.ts";
import type { ServiceReply } from "./http.ts";

/** The error for a status that is not 2xx. `what` begins the sentence, as in "GET /v1/status". */
export function refusal(what: string, status: number, retryAfterMs?: number): ServiceError {
  const answered = `${what} was answered ${status}`;
  const retry = { retryAfterMs };
  if (status === 401 || status === 403) {
    const check = "check service.client_id, service.client_secret and service.audience";
    return new ServiceError("auth", `${answered}: the token was refused; ${check}.`);
  }
  if (status === 429) {
    return new ServiceError("rate_limited", `${answered}: too many requests; poll less often or wait.`, retry);
  }
  if (status >= 300 && status < 400) {
    const next = "redirects are not followed; set the address it points to in the service section";
    return new ServiceError("unavailable", `${answered}: ${next}.`, retry);
  }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) {
    return new ServiceError("bad_request", `${answered}: the request is not accepted; check the address.`);
  }
  return new ServiceError("unavailable", `${answered}: the service failed; the request is retried.`, retry);
}

/** The error for a reply whose status is not accepted; its body stays unread. */
export function refusalOf(what: string, reply: ServiceReply, now: Instant): ServiceError {
  reply.discard();
  return refusal(what, reply.status, parseRetryAfter(reply.retryAfter, now));
}

/** The error for a payload with `error` or `errors` instead of the documented shape; undefined without one. */
export function errorPayload(what: string, payload: unknown): ServiceError | undefined {
  if (!isObject(payload) || Array.isArray(payload)) return undefined;
  const error = present(payload.error) ?? present(payload.errors);
  if (error === undefined) return undefined;
  const status = statusOf(payload) ?? statusOf(Array.isArray(error) ? error[0] : error);
  if (status !== undefined) return refusal(what, status);
  return new ServiceError("unavailable", `${what} was answered with an error: see the log.`);
}

function present(error: unknown): unknown {
  const empty = !error || (Array.isArray(error) && error.length === 0);
  return empty ? undefined : error;
}

function statusOf(error: unknown): number | undefined {
  if (!isObject(error)) return undefined;
  return [error.status, error.statusCode, error.code].map(numberOf).find((n) => n >= 400 && n < 600);
}

/** Only numbers and strings are converted: an object may throw. */
function numberOf(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
