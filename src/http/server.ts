/** The HTTP server: limits, headers, who may read, errors, and an end that is bounded. */
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { toError } from "../lib/errors.ts";
import { apiV1 } from "./api-v1.ts";
import { API_V2, apiV2 } from "./api-v2.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError, type Refusal, refusalOf } from "./errors.ts";
import { eventRoutes } from "./events.ts";
import { gate } from "./gate.ts";
import { HEADERS } from "./headers.ts";
import { healthRoutes } from "./health-routes.ts";
import { lifecycleRoutes } from "./lifecycle-routes.ts";
import { limitConnections, limitsOf } from "./limits.ts";
import { metricsRoute } from "./metrics-route.ts";
import { createLayout, type Layout } from "./page/layout.ts";
import { liveScriptRoute, readLiveScript } from "./page/live-script.ts";
import { problemPage } from "./page/problem-page.ts";
import { pageRoutes, versionNow } from "./page/routes.ts";

/** What is in flight may end; then its connection is cut. */
const CLOSE_GRACE_MS = 1_000;
/** Later than what waits for something of its own gives up, and says why. */
const ANSWER_DEADLINE_MS = 8_000;

export interface HttpServer {
  /** Listens; `address` is a URL without a trailing slash. Throws HttpError `listen`. */
  start(): Promise<{ readonly address: string }>;
  /** Ends within about a second: idle connections at once, the others when answered or cut. */
  close(): Promise<void>;
}

/** The server, not yet listening. Everything it shows is asked of `deps` at each request. */
export function createHttpServer(deps: HttpDeps): HttpServer {
  const app = fastify({
    ...limitsOf(deps.limits),
    logger: false,
    // What waits for Redis waits as long as Redis is away; whoever asks is told before.
    handlerTimeout: deps.answerDeadlineMs ?? ANSWER_DEADLINE_MS,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: (error, request, reply) => {
      refuse(request, reply.headers(HEADERS), refusalOf(error));
    },
  });
  limitConnections(app.server, deps.limits);
  let closing = false;
  app.addHook("onResponse", async () => {
    // A connection kept alive after its last answer would hold the closing server up.
    if (closing) setImmediate(() => app.server.closeIdleConnections());
  });
  const script = readLiveScript();
  const frame = createLayout(deps, script.path);
  hooks(app, deps, frame);
  acceptEmptyJson(app);
  healthRoutes(app, deps);
  lifecycleRoutes(app, deps);
  metricsRoute(app, deps.metrics);
  apiV1(app, deps);
  apiV2(app, deps);
  pageRoutes(app, deps, frame);
  liveScriptRoute(app, script);
  eventRoutes(app, { log: deps.log, version: () => versionNow(deps) });

  return {
    async start() {
      const { host, port } = deps.listen;
      try {
        return { address: await app.listen({ host, port }) };
      } catch (thrown) {
        throw new HttpError("listen", listenProblem(host, port, thrown), thrown);
      }
    },
    async close() {
      closing = true;
      const cut = setTimeout(() => app.server.closeAllConnections(), deps.closeGraceMs ?? CLOSE_GRACE_MS);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    },
  };
}

function hooks(app: FastifyInstance, deps: HttpDeps, frame: Layout): void {
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers(HEADERS);
  });
  gate(app, deps);
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    deps.log.debug(
      { method, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime },
      "answered",
    );
  });
  app.setErrorHandler((thrown, request, reply) => {
    const refusal = refusalOf(thrown);
    if (refusal.status >= 500 && refusal.code !== "busy") {
      const route = request.routeOptions.url;
      deps.log.warn({ err: toError(thrown), route }, "a request could not be answered");
    }
    if (refusal.status === 401) reply.header("www-authenticate", "Bearer");
    const root = request.is404 ? undefined : request.routeOptions.config.page;
    if (root === undefined) return refuse(request, reply, refusal);
    const path = request.method === "GET" ? request.url.slice(1) : "";
    const page = problemPage(refusal, { root, path, isReadOnly: !deps.adminToken });
    return frame.send(request, reply.code(refusal.status), page);
  });
  app.setNotFoundHandler((request, reply) =>
    refuse(request, reply, { status: 404, code: "not_found", message: "There is nothing at this path." }),
  );
}

/** Clients name JSON as their content type where they send nothing, `amtool silence expire` among them. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, String(body), done);
  });
}

/** Alertmanager's clients expect an error to be a JSON string, all others an object. */
function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, code, message } = refusal;
  const body = request.url.startsWith(API_V2) ? message : { error: { code, message } };
  return reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(body));
}

function listenProblem(host: string, port: number, thrown: unknown): string {
  const code = (thrown as NodeJS.ErrnoException).code;
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE") return `${where} is in use already; set http.listen to a free port.`;
  if (code === "EACCES") return `${where} may not be listened on; set http.listen to a port above 1023.`;
  return `${where} cannot be listened on (${code ?? "unknown"}); check http.listen.`;
}
