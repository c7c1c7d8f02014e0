/** One address that is listened on: its connections, TLS, headers of every answer, and a close bounded in time. */
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { API_V2 } from "./api-v2.ts";
import type { HttpDeps } from "./deps.ts";
import { type ErrorAnswer, errorAnswerOf, HttpError } from "./errors.ts";
import { appOptions, type Limits, refuseClient, SECURITY_HEADERS, serverOptions } from "./limits.ts";
import { serveTls } from "./tls.ts";

export type Listener = ReturnType<typeof createListener>;
type Address = HttpDeps["listen"];

interface ListenerOptions {
  /** Names the address in messages. */
  readonly key: "http.listen" | "http.metrics_listen";
  readonly limits: Limits;
  /** Whether a client must have a certificate where the web configuration says so; a probe has none. */
  readonly mayNeedCertificate: boolean;
}

/**
 * `app` has no routes yet. `start` gives its URL without a trailing slash or throws HttpError `listen`. `close` ends idle
 * connections at once, others when answered or after about a second.
 */
export function createListener(
  deps: Pick<HttpDeps, "web" | "access">,
  { key, limits, mayNeedCertificate }: ListenerOptions,
) {
  const trustProxy = (address: string) => deps.access.isTrustedProxy(address);
  const connections = createConnections(limits, trustProxy);
  const current = () => deps.web?.tls;
  const app: FastifyInstance = fastify({
    ...appOptions(limits),
    logger: false,
    trustProxy,
    forceCloseConnections: "idle",
    // Also called for the second address of `localhost`, which Fastify's own options would not reach.
    serverFactory(handler) {
      const server = createServer(serverOptions(limits), handler);
      server.setTimeout(limits.idleMs);
      server.on("clientError", refuseClient);
      return serveTls(server, { current, mayNeedCertificate, handshakeMs: limits.requestMs, admit: connections.admit });
    },
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => {
      sendError(request, reply.headers({ ...SECURITY_HEADERS, ...deps.web?.headers }), errorAnswerOf(error));
    },
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    if (!connections.isSpare(request.socket)) return;
    reply.header("connection", "close");
    if (request.routeOptions.config.open) return;
    throw new HttpError("busy", "Too many connections are open; close some, or try again later.");
  });
  app.addHook("onSend", async (_request, reply) => {
    if (deps.web) reply.headers(deps.web.headers);
  });
  const start = async (address: Address) => ({
    address: (await listen(app, key, address)).replace(/^http:/, current() ? "https:" : "http:"),
  });
  return { app, start, close: closer(app, limits.closeMs, connections.cut) };
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

/** Connections above the limits; another one ends the oldest of them. */
const MOST_SPARE = 64;

export type Connections = ReturnType<typeof createConnections>;

/** `isProxy`: many clients share this address, which only the limit in all applies to. */
function createConnections(
  { mostConnections, mostFromOneAddress }: Pick<Limits, "mostConnections" | "mostFromOneAddress">,
  isProxy: (address: string) => boolean = () => false,
) {
  const open = new Set<Socket>();
  const byAddress = new Map<string, number>();
  const spare = new Map<string, Socket>();

  function isFull(address: string): boolean {
    const all = open.size - spare.size;
    return all >= mostConnections || (!isProxy(address) && (byAddress.get(address) ?? 0) >= mostFromOneAddress);
  }

  function count(address: string, change: number): void {
    const now = (byAddress.get(address) ?? 0) + change;
    if (now > 0) byAddress.set(address, now);
    else byAddress.delete(address);
  }

  function keepSpare(socket: Socket): void {
    const id = idOf(socket);
    spare.set(id, socket);
    socket.once("close", () => spare.delete(id));
    if (spare.size > MOST_SPARE) spare.values().next().value?.destroy();
  }

  return {
    /** Takes a new connection; false where the client is gone already. */
    admit(socket: Socket): boolean {
      const address = socket.remoteAddress;
      if (address === undefined) {
        socket.destroy();
        return false;
      }
      const full = isFull(address);
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      if (full) keepSpare(socket);
      else {
        count(address, 1);
        socket.once("close", () => count(address, -1));
      }
      return true;
    },
    /** Whether the connection, over TLS or not, is above the limits. */
    isSpare: (socket: Socket) => spare.has(idOf(socket)),
    /** Ends all, also those that have not finished their handshake. */
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** The same for a TLS connection and the one below it. */
function idOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
