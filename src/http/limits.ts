/**
 * What one request and one address may cost. Bodies have limits of their own (`bodyLimit` of the routes); what is
 * too long, too slow or no HTTP is answered here, before there is a request.
 */
import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyHttpOptions } from "fastify";
import { HEADERS } from "./headers.ts";

/** The line with the URL and all headers together, bytes. */
export const MOST_HEADER_BYTES = 16 * 1024;
/** Of one request: silences, acknowledgements and forms are small; alerts sent here have a limit of their own. */
export const MOST_BODY_BYTES = 64 * 1024;
const REQUEST_MS = 10_000;
/** How often slow requests are looked for, so that none lives much longer than it may. */
const LOOK_MS = 2_000;
/** Nothing comes or goes on the connection. */
const SILENCE_MS = 30_000;
const KEEP_ALIVE_MS = 65_000;
const MOST_CONNECTIONS = 1_024;
/** So that one address cannot take all of them; a proxy in front needs fewer. */
const MOST_FROM_ONE_ADDRESS = 512;

export interface Limits {
  readonly requestMs?: number;
  readonly lookMs?: number;
  readonly mostConnections?: number;
  readonly mostFromOneAddress?: number;
}

/** Options of the server; `limitConnections` does the rest. */
export function limitsOf(limits: Limits = {}): FastifyHttpOptions<Server> {
  const { requestMs = REQUEST_MS, lookMs = LOOK_MS } = limits;
  return {
    bodyLimit: MOST_BODY_BYTES,
    requestTimeout: requestMs,
    connectionTimeout: SILENCE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: requestMs,
      connectionsCheckingInterval: lookMs,
    },
    clientErrorHandler: (error, socket) => refuseClient(error, socket),
  };
}

/** Bounds how many connections there are, from everybody together and from one address; the rest is cut. */
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

const REFUSALS: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "timeout", "The request did not come in time."],
  HPE_HEADER_OVERFLOW: [431, "too_large", "The URL and the headers are longer than what is read here."],
};
const NO_HTTP = [400, "bad_request", "The request could not be understood."] as const;

/** Says once why, and ends the connection. */
function refuseClient(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const [status, code, message] = REFUSALS[error.code ?? ""] ?? NO_HTTP;
  const body = JSON.stringify({ error: { code, message } });
  const headers = {
    ...HEADERS,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (!socket.writable) return void socket.destroy();
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`, () =>
    socket.destroy(),
  );
}
