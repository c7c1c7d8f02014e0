/** Status codes as errors: of HTTP replies, refused WebSocket handshakes and error payloads. */
import { parseRetryAfter } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";
import { tryJson } from "../lib/json-values.ts";
import type { Redactor } from "../lib/redact.ts";
import { cut, stripControls } from "../lib/text.ts";
import { ServiceError } from "./errors.ts";
import type { ServiceReply } from "./http.ts";
import { MAX_EXCERPT } from "./reporter.ts";

interface Stated {
  /** Wait that the service asks for, ms. */
  readonly retryAfterMs?: number | undefined;
  /** Why, in the service's own words, safe to show. */
  readonly reason?: string | undefined;
}

/** The error for a status that is not 2xx. `what` begins the sentence, as in "GET /v1/status". */
export function refusal(what: string, status: number, { retryAfterMs, reason }: Stated = {}): ServiceError {
  const answered = `${what} was answered ${status}${quotedReason(reason)}`;
  const more = { retryAfterMs, status };
  if (status === 403) {
    const ask = "the client in service.client_id lacks the right; ask the service for access";
    return new ServiceError("auth", `${answered}: ${ask}.`, { status });
  }
  if (status === 401) {
    const check = "check service.client_id, service.client_secret and service.audience";
    return new ServiceError("auth", `${answered}: the token was refused; ${check}.`, { status });
  }
  if (status === 429) {
    return new ServiceError("rate_limited", `${answered}: too many requests; poll less often or wait.`, more);
  }
  if (status >= 300 && status < 400) {
    const next = "redirects are not followed; set the address it points to in the service section";
    return new ServiceError("unavailable", `${answered}: ${next}.`, more);
  }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) {
    return new ServiceError("bad_request", `${answered}: the request is not accepted; check the address.`, { status });
  }
  return new ServiceError(
    "unavailable",
    `${answered}: the service failed; if it lasts, report it to the operator of the service.`,
    more,
  );
}

/** The reason as it follows a status; empty without one. */
export function quotedReason(reason: string | undefined): string {
  return reason ? ` ("${reason}")` : "";
}

/** The error for a reply whose status is not accepted; the beginning of its body is read for the reason. */
export async function refusalOf(
  what: string,
  reply: Pick<ServiceReply, "status" | "retryAfter" | "excerpt">,
  { now, redactor }: { readonly now: Instant; readonly redactor: Redactor },
): Promise<ServiceError> {
  const stated = statedIn(await reply.excerpt(), redactor);
  // A gateway may answer an expired token with 400 or 403.
  const status = reply.status === 400 || reply.status === 403 ? (stated.status ?? reply.status) : reply.status;
  return refusal(what, status, { ...stated, retryAfterMs: parseRetryAfter(reply.retryAfter, now) });
}

/** The error for a payload with `error` or `errors` instead of the documented shape; undefined without one. */
export function errorPayload(what: string, payload: unknown, redactor: Redactor): ServiceError | undefined {
  if (!isObject(payload) || Array.isArray(payload)) return undefined;
  const holders = holdersIn(payload);
  if (holders.length === 0) return undefined;
  const reason = reasonIn(holders, redactor);
  const status = statusIn(holders);
  if (status !== undefined) return refusal(what, status, { reason });
  return new ServiceError("unavailable", `${what} was answered with an error${quotedReason(reason)}: see the log.`);
}

/** The status and the reason that the body of a refusal states, as JSON or as plain text. */
export function statedIn(body: string, redactor: Redactor): { status?: number | undefined; reason: string } {
  const value = tryJson(body);
  if (value === undefined) return { reason: /^\s*</.test(body) ? "" : shown(body, redactor) };
  const holders = isObject(value) ? [...holdersIn(value), value] : [value];
  return { status: statusIn(holders), reason: reasonIn(holders, redactor) };
}

/** The value of `error` or `errors`, then the payload around it; empty without either. */
function holdersIn(payload: Record<string, unknown>): unknown[] {
  const error = present(payload.error) ?? present(payload.errors);
  return error === undefined ? [] : [Array.isArray(error) ? error[0] : error, payload];
}

function present(error: unknown): unknown {
  const empty = !error || (Array.isArray(error) && error.length === 0);
  return empty ? undefined : error;
}

const CODES = ["status", "statusCode", "code", "error", "type"] as const;
const REASONS = ["message", "error_description", "detail", "reason", "title", "error", "code"] as const;

/** Error codes as words, without case and separators, by the status they stand for. */
const WORDS: Readonly<Record<number, string>> = {
  400: "badrequest invalidrequest",
  401: "unauthorized unauthorised unauthenticated tokenexpired expiredtoken invalidtoken",
  403: "forbidden accessdenied permissiondenied",
  404: "notfound",
  429: "ratelimited ratelimitexceeded toomanyrequests",
};
const STATUS_OF = new Map(
  Object.entries(WORDS).flatMap(([status, words]) => words.split(" ").map((word) => [word, Number(status)] as const)),
);
const MAX_CODE = 64;

function statusIn(holders: readonly unknown[]): number | undefined {
  return valuesIn(holders, CODES)
    .map(statusOf)
    .find((status) => status !== undefined);
}

/** Only numbers and strings are converted: an object may throw. */
function statusOf(value: unknown): number | undefined {
  if (typeof value !== "number" && (typeof value !== "string" || value.length > MAX_CODE)) return undefined;
  const status = Number(value);
  if (status >= 400 && status < 600) return status;
  return STATUS_OF.get(
    String(value)
      .toLowerCase()
      .replace(/[^a-z]/g, ""),
  );
}

function reasonIn(holders: readonly unknown[], redactor: Redactor): string {
  const values = [...REASONS.flatMap((key) => valuesIn(holders.filter(isObject), [key])), ...holders];
  const texts = values.flatMap((value) => (typeof value === "string" ? shown(value, redactor) : []));
  return texts.find((text) => text !== "") ?? "";
}

/** The values of these keys of each holder, and every holder that is no object. */
function valuesIn(holders: readonly unknown[], keys: readonly string[]): unknown[] {
  return holders.flatMap((one) => (isObject(one) ? keys.map((key) => one[key]) : [one]));
}

const MAX_REASON = 120;
/** Longer than any id: a key or a token. */
const OPAQUE = /[\w+/=-]{40,}/g;

/** One line, without known or recognisable secrets. */
function shown(text: string, redactor: Redactor): string {
  const safe = redactor.text(text.slice(0, MAX_EXCERPT)).replace(OPAQUE, "[redacted]");
  return cut(stripControls(safe).trim(), MAX_REASON);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
