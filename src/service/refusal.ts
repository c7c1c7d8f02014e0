/** What a status code means, wherever it turns up: HTTP, a refused WebSocket handshake, an error payload. */
import { ServiceError } from "./errors.ts";

/** The error for a status that is not 2xx. `what` begins the sentence, as in "GET /v1/status". */
export function refusal(what: string, status: number, retryAfterMs?: number): ServiceError {
  const answered = `${what} was answered ${status}`;
  const retry = { retryAfterMs };
  if (status === 401 || status === 403) {
    return new ServiceError(
      "auth",
      `${answered}: the token was refused; check service.client_id, service.client_secret and service.audience.`,
    );
  }
  if (status === 429) {
    return new ServiceError("rate_limited", `${answered}: asked too often; poll less often or wait.`, retry);
  }
  if (status >= 300 && status < 400) {
    const next = "redirects are not followed; set the address it points to in the service section";
    return new ServiceError("unavailable", `${answered}: ${next}.`, retry);
  }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) {
    return new ServiceError("bad_request", `${answered}: it does not accept the request; check the address.`);
  }
  return new ServiceError("unavailable", `${answered}: it is in trouble; it is asked again later.`, retry);
}

/** The failure that an `error` or `errors` in place of the documented payload stands for, if there is one. */
export function errorPayload(what: string, payload: unknown): ServiceError | undefined {
  if (!isObject(payload) || Array.isArray(payload)) return undefined;
  const error = present(payload.error) ?? present(payload.errors);
  if (error === undefined) return undefined;
  const status = statusOf(payload) ?? statusOf(Array.isArray(error) ? error[0] : error);
  if (status !== undefined) return refusal(what, status);
  return new ServiceError("unavailable", `${what} was answered with an error: the log has what it said.`);
}

function present(error: unknown): unknown {
  const empty = !error || (Array.isArray(error) && error.length === 0);
  return empty ? undefined : error;
}

function statusOf(error: unknown): number | undefined {
  if (!isObject(error)) return undefined;
  return [error.status, error.statusCode, error.code].map(numberOf).find((n) => n >= 400 && n < 600);
}

/** Only of what is a number or the digits of one: an object may refuse to be converted. */
function numberOf(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
