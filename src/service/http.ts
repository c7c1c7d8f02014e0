/** Requests to the service and the token issuer: JSON both ways, replies bounded in size, errors as ServiceError. */
import { setImmediate } from "node:timers/promises";
import { type HttpClient, type HttpRequest, readBody } from "../lib/http-client.ts";
import { hasTooManyValues } from "../lib/json-values.ts";
import type { Redactor } from "../lib/redact.ts";
import { isTlsFailure } from "../lib/tls.ts";
import { ServiceError } from "./errors.ts";
import type { ReplyLimits } from "./reply-size.ts";
import type { ReportDeviation } from "./reporter.ts";

interface ServiceRequest extends Pick<HttpRequest, "method" | "url" | "headers"> {
  /** Sent as JSON. */
  readonly json?: unknown;
}

export interface ServiceReply {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  /** The body as text, to be called once at most; throws `bad_payload` where it is too large. */
  text(): Promise<string>;
  /** The beginning of the body instead, for an error; empty where it does not arrive at once. Never throws. */
  excerpt(): Promise<string>;
  /** Leaves the body unread. */
  discard(): void;
}

/** The status is a 2xx. */
export function isAccepted({ status }: ServiceReply): boolean {
  return status >= 200 && status <= 299;
}

/** Throws ServiceError `unavailable` or `timeout`, or the signal's reason. */
export type SendRequest = (request: ServiceRequest, signal: AbortSignal) => Promise<ServiceReply>;

export function createSendRequest(deps: {
  readonly client: HttpClient;
  readonly redactor: Redactor;
  readonly limits: ReplyLimits;
  readonly report: ReportDeviation;
}): SendRequest {
  const { client, redactor } = deps;
  let parsed = Promise.resolve();
  const failure = (thrown: unknown, url: string, signal: AbortSignal): unknown => {
    if (signal.aborted) return signal.reason;
    return thrown instanceof ServiceError ? thrown : unreachable(redactor.error(thrown), url);
  };
  return async ({ method, url, headers, json }, signal) => {
    const orFail = (thrown: unknown): never => {
      throw failure(thrown, url, signal);
    };
    const body = json === undefined ? undefined : JSON.stringify(json);
    const contentType = body === undefined ? {} : { "content-type": "application/json" };
    const all = { accept: "application/json", ...contentType, ...headers };
    const cutOff = new AbortController();
    const either = AbortSignal.any([signal, cutOff.signal]);
    const reply = await client.send({ method, url, headers: all, body }, either).catch(orFail);
    return {
      ...reply,
      async text() {
        const text = await readText(reply.body, deps).catch(orFail);
        // Large replies that arrive together are parsed one after another, with others' work between them.
        parsed = parsed.then(() => setImmediate());
        await parsed;
        return text;
      },
      excerpt: () => readExcerpt(reply.body, () => cutOff.abort()),
    };
  };
}

type Bounds = { readonly limits: ReplyLimits; readonly report: ReportDeviation };

async function readText(body: AsyncIterable<Uint8Array>, { limits, report }: Bounds): Promise<string> {
  const { bytes, isCut } = await readBody(body, limits.bytes);
  if (!isCut && !hasTooManyValues(bytes, limits.values)) return new TextDecoder().decode(bytes);
  report("too_large");
  const mb = (limits.bytes / 1e6).toPrecision(3);
  const message = `A reply is larger than ${mb} MB, or than the memory of this process allows: give it more, or report it to the operator of the service.`;
  throw new ServiceError("bad_payload", message);
}

const EXCERPT_BYTES = 16_384;
const EXCERPT_WAIT_MS = 1_000;

/** The first bytes as text; what has not arrived after a moment is given up. */
export async function readExcerpt(body: AsyncIterable<Uint8Array>, giveUp: () => void): Promise<string> {
  const late = setTimeout(giveUp, EXCERPT_WAIT_MS);
  const read = await readBody(body, EXCERPT_BYTES).catch(() => undefined);
  clearTimeout(late);
  return new TextDecoder().decode(read?.bytes);
}

function unreachable(cause: Error & { readonly code?: string }, url: string): ServiceError {
  const { code = cause.name } = cause;
  return new ServiceError(
    code.includes("TIMEOUT") || code === "ETIMEDOUT" ? "timeout" : "unavailable",
    `${new URL(url).origin} could not be reached (${code}): check the address, ${networkOrTls(code)} and the proxy settings.`,
    { cause },
  );
}

/** Advice for a connection that failed with this Node error code. */
export function networkOrTls(code: string): string {
  return isTlsFailure(code) ? "its certificate, service.tls" : "the network";
}
