/** One address that is listened on: its connections, TLS, headers of every answer, and a close bounded in time. */
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { normalizeIP } from "@fastify/rate-limit";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { API_V2 } from "./api-v2.ts";
import type { HttpDeps } from "./deps.ts";
import { type ErrorAnswer, errorAnswerOf, HttpError } from "./errors.ts";
import { appOptions, type Limits, refuseClient, SECURITY_HEADERS, serverOptions } from "./limits.ts";

export type Listener = ReturnType<typeof createListener>;
type Address = HttpDeps["listen"];

interface ListenerOptions {
  /** Names the address in messages. */
  readonly key: "http.listen" | "http.metrics_listen";
  readonly limits: Limits;
}

/**
 * `app` has no routes yet. `start` gives its URL without a trailing slash or throws HttpError `listen`. `close` ends idle
 * connections at once, others when answered or after about a second.
 */
export function createListener(deps: Pick<HttpDeps, "tls" | "access">, { key, limits }: ListenerOptions) {
  const sockets = createSockets(limits);
  const app: FastifyInstance = fastify({
    ...appOptions(limits),
    logger: false,
    trustProxy: (address: string) => deps.access.isTrustedProxy(address),
    forceCloseConnections: "idle",
    // Also called for the second address of `localhost`, which Fastify's own options would not reach.
    serverFactory(handler) {
      const server = createHttpOrTls(deps, limits, (request, response) => {
        if (sockets.begin(request.socket, response)) handler(request, response);
      });
      server.setTimeout(limits.idleMs);
      server.maxConnections = limits.mostConnections;
      return server.on("clientError", refuseClient).on("connection", sockets.add);
    },
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => {
      sendError(request, reply.headers(SECURITY_HEADERS), errorAnswerOf(error));
    },
  });
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
  });
  const scheme = deps.tls ? "https:" : "http:";
  const start = async (address: Address) => ({ address: (await listen(app, key, address)).replace("http:", scheme) });
  return { app, start, close: closer(app, limits.closeMs, sockets.cut) };
}

/** With TLS, each new connection has the certificate of the active configuration. */
function createHttpOrTls(deps: Pick<HttpDeps, "tls">, limits: Limits, handler: RequestListener): Server {
  let { tls } = deps;
  if (!tls) return createServer(serverOptions(limits), handler);
  const http1 = { ALPNProtocols: ["http/1.1"], handshakeTimeout: limits.requestMs };
  const server = createTlsServer({ ...serverOptions(limits), ...http1, ...tls }, handler);
  // A handshake that fails or takes too long.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return server.prependListener("connection", () => {
    if (!deps.tls || deps.tls === tls) return;
    tls = deps.tls;
    server.setSecureContext(tls);
  });
}

async function listen(app: FastifyInstance, key: string, { host, port }: Address): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (thrown) {
    throw new HttpError("listen", listenProblem(key, `${host}:${port}`, thrown), thrown);
  }
}

function closer(app: FastifyInstance, graceMs: number, cutAll: () => void): () => Promise<void> {
  let closing = false;
  app.addHook("onResponse", async () => {
    // A connection kept alive after its last answer would delay the close.
    if (closing) setImmediate(() => app.server.closeIdleConnections());
  });
  return async () => {
    closing = true;
    const cut = setTimeout(cutAll, graceMs);
    await app.close().finally(() => clearTimeout(cut));
  };
}

/** Alertmanager's clients expect a JSON string, all others an object. */
export function sendError(request: FastifyRequest, reply: FastifyReply, answer: ErrorAnswer): FastifyReply {
  const { status, code, message } = answer;
  const body = request.url.startsWith(API_V2) ? message : { error: { code, message } };
  return reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(body));
}

function listenProblem(key: string, address: string, thrown: unknown): string {
  const { code = "unknown" } = thrown as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return `${address} is already in use; set ${key} to a free port.`;
  if (code === "EACCES") return `${address} needs privileges; set ${key} to a port above 1023.`;
  return `${address} cannot be listened on (${code}); check ${key}.`;
}

/** The open connections of a listener. */
function createSockets({ mostFromOneAddress, mostPipelined }: Limits) {
  const open = new Map<string, Set<Socket>>();
  const pending = new WeakMap<Socket, number>();
  return {
    /** One more than an address may have ends its oldest. */
    add(socket: Socket): void {
      const address = normalizeIP(socket.remoteAddress ?? "", 64);
      const own = open.get(address) ?? new Set();
      open.set(address, own.add(socket));
      socket.once("close", () => {
        own.delete(socket);
        if (own.size === 0) open.delete(address);
      });
      if (own.size > mostFromOneAddress) own.values().next().value?.destroy();
    },
    /** Takes a new request; false, and the connection ends, where too many before it were not answered yet. */
    begin(socket: Socket, response: ServerResponse): boolean {
      const before = pending.get(socket) ?? 0;
      if (before >= mostPipelined) {
        socket.destroy();
        return false;
      }
      pending.set(socket, before + 1);
      response.once("close", () => pending.set(socket, (pending.get(socket) ?? 1) - 1));
      return true;
    },
    /** Ends all, also those that have not finished their handshake. */
    cut(): void {
      for (const own of open.values()) for (const socket of own) socket.destroy();
    },
  };
}
