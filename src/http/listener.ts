/** One address that is listened on: its connections, TLS, headers of every answer, and a close bounded in time. */
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { normalizeIP } from "@fastify/rate-limit";
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
      const server = createServer(serverOptions(limits), (request, response) => {
        if (connections.begin(request.socket, response)) handler(request, response);
      });
      server.setTimeout(limits.idleMs);
      server.on("clientError", refuseClient);
      return serveTls(server, { current, mayNeedCertificate, handshakeMs: limits.requestMs, admit: connections.admit });
    },
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => {
      sendError(request, reply.headers({ ...SECURITY_HEADERS, ...deps.web?.headers }), errorAnswerOf(error));
    },
  });
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
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

type ConnectionLimits = Pick<Limits, "mostConnections" | "mostFromOneAddress" | "mostPipelined">;

/**
 * The open connections by client, which is an address or an IPv6 network of /64; one that is too many ends the oldest of
 * the client that has the most. `isProxy`: many clients share this address, so that each connection is one of its own.
 */
function createConnections(limits: ConnectionLimits, isProxy: (address: string) => boolean) {
  const open = new Map<string | Socket, Set<Socket>>();
  const pending = new WeakMap<Socket, number>();
  let all = 0;

  function endOldest(): void {
    let most: ReadonlySet<Socket> | undefined;
    for (const own of open.values()) if (own.size > (most?.size ?? 0)) most = own;
    most?.values().next().value?.destroy();
  }

  return {
    /** Takes a new connection; false where the client is gone already. */
    admit(socket: Socket): boolean {
      const { remoteAddress: address } = socket;
      if (address === undefined) {
        socket.destroy();
        return false;
      }
      const client = isProxy(address) ? socket : normalizeIP(address, 64);
      const own = open.get(client) ?? new Set();
      open.set(client, own.add(socket));
      all += 1;
      socket.once("close", () => {
        all -= 1;
        own.delete(socket);
        if (own.size === 0) open.delete(client);
      });
      if (own.size > limits.mostFromOneAddress) own.values().next().value?.destroy();
      else if (all > limits.mostConnections) endOldest();
      return true;
    },
    /** Takes a new request; false, and the connection ends, where too many before it were not answered yet. */
    begin(socket: Socket, response: ServerResponse): boolean {
      const before = pending.get(socket) ?? 0;
      if (before >= limits.mostPipelined) {
        socket.destroy();
        return false;
      }
      pending.set(socket, before + 1);
      response.once("close", () => pending.set(socket, (pending.get(socket) ?? 1) - 1));
      return true;
    },
    /** Ends all, also those that have not finished their handshake. */
    cut() {
      for (const own of open.values()) for (const socket of own) socket.destroy();
    },
  };
}
