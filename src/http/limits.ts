/** Limits per request and address: input too long, too slow or not HTTP is refused before there is a request. */
import { type ServerOptions, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** The request line and all headers together, bytes. */
const MOST_HEADER_BYTES = 16 * 1024;
/** For silences, acknowledgements and forms; posted alerts have a larger limit. */
const MOST_BODY_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 65_000;

/** Limits that tests lower; `Ms` are deadlines. */
const DEFAULTS = {
  requestMs: 10_000,
  /** A connection on which nothing moves. */
  idleMs: 30_000,
  /** Interval of the check for slow requests, which bounds how long they can live beyond their limit. */
  checkMs: 2_000,
  mostConnections: 1_024,
  /** One address cannot take all connections; a proxy in front needs fewer. */
  mostFromOneAddress: 512,
  /** Answers that a connection may have to wait for. No client pipelines, but one may ask again a moment early. */
  mostPipelined: 4,
  /** An answer, until it is read. */
  takenMs: 60_000,
  /** Requests in flight once the server closes; their connections are cut then. */
  closeMs: 1_000,
  /** `ready`, shorter than a probe's timeout. Later is not ready. */
  readyMs: 800,
  /** `acceptAlerts`. */
  acceptMs: 5_000,
  /** Reading what a page shows. */
  readMs: 6_000,
  /** Every answer except the metrics, 503 afterwards: longer than those of single reads, whose message is better. */
  answerMs: 8_000,
} as const;

export type Limits = Readonly<Record<keyof typeof DEFAULTS, number>>;

/** The limits of a server. */
export function limitsOf({ limits }: { readonly limits?: Partial<Limits> | undefined }): Limits {
  return { ...DEFAULTS, ...limits };
}

/** Headers of every answer, also of those given before a route is found. */
export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Options of Fastify. */
export function appOptions({ answerMs }: Limits) {
  // Reads wait for as long as Redis is unreachable; a client should not.
  return { bodyLimit: MOST_BODY_BYTES, handlerTimeout: answerMs, routerOptions: { maxParamLength: 256 } } as const;
}

/** Options of Node's server. */
export function serverOptions({ requestMs, checkMs }: Limits): ServerOptions {
  return {
    maxHeaderSize: MOST_HEADER_BYTES,
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: checkMs,
  };
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "timeout", "The request did not arrive in time."],
  HPE_HEADER_OVERFLOW: [431, "too_large", "The URL and the headers are too long."],
};
const NOT_HTTP = [400, "bad_request", "The request could not be understood."] as const;

/** Answers what is no request, for Node's event `clientError`. */
export function refuseClient(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const [status, code, message] = CLIENT_ERRORS[error.code ?? ""] ?? NOT_HTTP;
  const body = JSON.stringify({ error: { code, message } });
  const headers = {
    ...SECURITY_HEADERS,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (!socket.writable) return void socket.destroy();
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}`;
  socket.end(`${head}\r\n${body}`, () => socket.destroy());
}
