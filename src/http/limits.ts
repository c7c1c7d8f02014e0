/**
 * Limits per request and per address. Bodies have limits of their own (`bodyLimit` of the routes). Input that is too
 * long, too slow or not HTTP is answered here, before there is a request.
 */
import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyHttpOptions } from "fastify";

/** The request line and all headers together, bytes. */
const MOST_HEADER_BYTES = 16 * 1024;
/** For silences, acknowledgements and forms; posted alerts have a larger limit. */
const MOST_BODY_BYTES = 64 * 1024;
const REQUEST_MS = 10_000;
/** Interval of the check for slow requests, which bounds how long they can live beyond their limit. */
const CHECK_MS = 2_000;
const IDLE_MS = 30_000;
const KEEP_ALIVE_MS = 65_000;
const MOST_CONNECTIONS = 1_024;
/** One address cannot take all connections; a proxy in front needs fewer. */
const MOST_FROM_ONE_ADDRESS = 512;

export interface Limits {
  readonly requestMs?: number;
  readonly checkMs?: number;
  readonly mostConnections?: number;
  readonly mostFromOneAddress?: number;
}

/** Headers of every answer, also of those given before a route is found. */
export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Options of the server; `limitConnections` adds the rest. */
export function limitsOf({ requestMs = REQUEST_MS, checkMs = CHECK_MS }: Limits = {}): FastifyHttpOptions<Server> {
  return {
    bodyLimit: MOST_BODY_BYTES,
    requestTimeout: requestMs,
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { maxHeaderSize: MOST_HEADER_BYTES, headersTimeout: requestMs, connectionsCheckingInterval: checkMs },
    clientErrorHandler: (error, socket) => refuseClient(error, socket),
  };
}

/** Bounds the connections in all and from one address; those above are closed at once. */
export function limitConnections(server: Server, limits: Limits = {}): void {
  const most = limits.mostFromOneAddress ?? MOST_FROM_ONE_ADDRESS;
  const open = new Map<string, number>();
  server.maxConnections = limits.mostConnections ?? MOST_CONNECTIONS;
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const count = (open.get(address) ?? 0) + 1;
    if (count > most) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "timeout", "The request did not arrive in time."],
  HPE_HEADER_OVERFLOW: [431, "too_large", "The URL and the headers are too long."],
};
const NOT_HTTP = [400, "bad_request", "The request could not be understood."] as const;

/** Answers with the reason and closes the connection. */
function refuseClient(error: Error & { code?: string }, socket: Socket): void {
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
