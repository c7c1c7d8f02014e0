/** The HTTP server: limits, headers, access control, errors, routes, and a close that is bounded in time. */
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { toError } from "../lib/errors.ts";
import { apiV1 } from "./api-v1.ts";
import { API_V2, apiV2 } from "./api-v2.ts";
import type { HttpDeps } from "./deps.ts";
import { type ErrorAnswer, errorAnswerOf, HttpError } from "./errors.ts";
import { eventRoutes } from "./events.ts";
import { gate } from "./gate.ts";
import { lifecycleRoutes } from "./lifecycle-routes.ts";
import { limitConnections, limitsOf, SECURITY_HEADERS, serverOptions } from "./limits.ts";
import { createLayout, type Layout } from "./page/layout.ts";
import { pageRoutes, versionNow } from "./page/routes.ts";
import { problemPage } from "./page/sign-in.ts";
import { isScopeGiven } from "./principal.ts";
import { metricsRoute } from "./stream.ts";

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * The server, not yet listening; it reads `deps` again for each request. `start` gives its URL without a trailing slash
 * or throws HttpError `listen`. `close` ends idle connections at once, others when answered or after about a second.
 */
export function createHttpServer(deps: HttpDeps) {
  const limits = limitsOf(deps);
  const app = fastify({
    ...serverOptions(limits),
    logger: false,
    trustProxy: (address) => deps.access.isTrustedProxy(address),
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: (error, request, reply) => {
      sendError(request, reply.headers(SECURITY_HEADERS), errorAnswerOf(error));
    },
  });
  limitConnections(app.server, limits);
  const layout = createLayout(app, deps);
  hooks(app, deps, layout);
  acceptEmptyJson(app);
  lifecycleRoutes(app, deps);
  metricsRoute(app, deps.metrics);
  apiV1(app, deps);
  apiV2(app, deps);
  pageRoutes(app, deps, layout);
  eventRoutes(app, { log: deps.log, version: () => versionNow(deps) });
  return { start: () => listen(app, deps.listen), close: closer(app, limits.closeMs) };
}

async function listen(app: FastifyInstance, { host, port }: HttpDeps["listen"]) {
  try {
    return { address: await app.listen({ host, port }) };
  } catch (thrown) {
    throw new HttpError("listen", listenProblem(host, port, thrown), thrown);
  }
}

function closer(app: FastifyInstance, graceMs: number): () => Promise<void> {
  let closing = false;
  app.addHook("onResponse", async () => {
    // A connection kept alive after its last answer would delay the close.
    if (closing) setImmediate(() => app.server.closeIdleConnections());
  });
  return async () => {
    closing = true;
    const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
    await app.close().finally(() => clearTimeout(cut));
  };
}

function hooks(app: FastifyInstance, deps: HttpDeps, layout: Layout): void {
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
  });
  gate(app, deps);
  app.addHook("onResponse", async ({ method, routeOptions: { url } }, reply) => {
    const { statusCode: status, elapsedTime: ms } = reply;
    deps.log.debug({ method, route: url, status, ms }, "request answered");
  });
  app.setErrorHandler((thrown, request, reply) => {
    const answer = errorAnswerOf(thrown);
    const { url: route, config } = request.routeOptions;
    if (answer.status >= 500 && answer.code !== "busy")
      deps.log.warn({ err: toError(thrown), route }, "request failed");
    if (answer.status === 401) reply.header("www-authenticate", "Bearer");
    const root = request.is404 ? undefined : config.page;
    if (root === undefined) return sendError(request, reply, answer);
    const path = request.method === "GET" ? request.url.slice(1) : "";
    const page = problemPage(answer, { root, path, isReadOnly: !isScopeGiven("silence", deps.access) });
    return layout.send(request, reply.code(answer.status), page);
  });
  app.setNotFoundHandler((request, reply) =>
    sendError(request, reply, { status: 404, code: "not_found", message: "There is nothing at this path." }),
  );
}

/** Clients name JSON as their content type where they send no body, such as `amtool silence expire`. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, String(body), done);
  });
}

/** Alertmanager's clients expect a JSON string, all others an object. */
function sendError(request: FastifyRequest, reply: FastifyReply, answer: ErrorAnswer): FastifyReply {
  const { status, code, message } = answer;
  const body = request.url.startsWith(API_V2) ? message : { error: { code, message } };
  return reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(body));
}

function listenProblem(host: string, port: number, thrown: unknown): string {
  const { code = "unknown" } = thrown as NodeJS.ErrnoException;
  const address = `${host}:${port}`;
  if (code === "EADDRINUSE") return `${address} is already in use; set http.listen to a free port.`;
  if (code === "EACCES") return `${address} needs privileges; set http.listen to a port above 1023.`;
  return `${address} cannot be listened on (${code}); check http.listen.`;
}
