/** The HTTP server: limits, headers, access control, errors, routes, and a close that is bounded in time. */
import type { FastifyInstance } from "fastify";
import { toError } from "../lib/errors.ts";
import { hasTooManyValues } from "../lib/json-values.ts";
import { admission } from "./admission.ts";
import { apiV1 } from "./api-v1.ts";
import { apiV2 } from "./api-v2.ts";
import type { HttpDeps } from "./deps.ts";
import { errorAnswerOf, HttpError } from "./errors.ts";
import { eventRoutes } from "./events.ts";
import { gate } from "./gate.ts";
import { lifecycleRoutes, probeRoutes } from "./lifecycle-routes.ts";
import { type Limits, limitsOf } from "./limits.ts";
import { createListener, type Listener, sendError } from "./listener.ts";
import { createLayout, type Layout } from "./page/layout.ts";
import { pageRoutes, versionNow } from "./page/routes.ts";
import { notFoundPage, problemPage } from "./page/sign-in.ts";
import { isScopeGiven } from "./principal.ts";
import { metricsRoute } from "./stream.ts";

/** The header Retry-After of every 503, s. */
const RETRY_AFTER_S = 5;

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * The server, not yet listening; it reads `deps` again for each request. `start` gives its URL without a trailing slash
 * or throws HttpError `listen`. `close` ends idle connections at once, others when answered or after about a second.
 */
export function createHttpServer(deps: HttpDeps) {
  const limits = limitsOf(deps);
  const { metricsListen } = deps;
  const main = createListener(deps, { key: "http.listen", limits });
  const { app } = main;
  const layout = createLayout(app, deps);
  hooks(app, deps, limits, layout);
  acceptEmptyJson(app);
  lifecycleRoutes(app, deps);
  if (metricsListen) metricsElsewhere(app);
  else metricsRoute(app, deps.metrics, limits);
  apiV1(app, deps);
  apiV2(app, deps);
  pageRoutes(app, deps, layout);
  eventRoutes(app, { log: deps.log, version: () => versionNow(deps) });
  const metrics = metricsListen && createMetricsListener(deps, limits);
  return {
    /** `metricsAddress` where metrics and probes have a listener of their own. */
    async start() {
      const { address } = await main.start(deps.listen);
      return { address, metricsAddress: metrics && (await metrics.start(metricsListen)).address };
    },
    close: async () => void (await Promise.all([main.close(), metrics?.close()])),
  };
}

/** Metrics and probes alone, whatever happens to the other listener. */
function createMetricsListener(deps: HttpDeps, limits: Limits): Listener {
  const own = { ...limits, mostConnections: 256, mostFromOneAddress: 128 };
  const listener = createListener(deps, { key: "http.metrics_listen", limits: own });
  hooks(listener.app, deps, limits);
  probeRoutes(listener.app, deps);
  metricsRoute(listener.app, deps.metrics, limits);
  return listener;
}

function metricsElsewhere(app: FastifyInstance): void {
  app.get("/metrics", { config: { open: true } }, () => {
    throw new HttpError("not_found", "The metrics are served at http.metrics_listen.");
  });
}

/** `layout`: of a listener with pages. */
function hooks(app: FastifyInstance, deps: HttpDeps, limits: Limits, layout?: Layout): void {
  gate(app, deps);
  admission(app, limits);
  app.addHook("onResponse", async ({ method, routeOptions: { url } }, reply) => {
    const { statusCode: status, elapsedTime: ms } = reply;
    deps.log.debug({ method, route: url, status, ms }, "request answered");
  });
  app.setErrorHandler((thrown, request, reply) => {
    const answer = errorAnswerOf(thrown);
    const { url: route, config } = request.routeOptions;
    // The client may have left, or Fastify have answered for the deadline.
    if (answer.status >= 500 && answer.code !== "busy" && !request.signal.aborted)
      deps.log.warn({ err: toError(thrown), route }, "request failed");
    if (answer.status === 503 && !reply.hasHeader("retry-after")) reply.header("retry-after", RETRY_AFTER_S);
    const root = request.is404 ? undefined : config.page;
    const scope = config.scope ?? "read";
    // RFC 6750, section 3.
    if (answer.status === 401) reply.header("www-authenticate", `Bearer scope="${scope}"`);
    if (answer.code === "missing_scope")
      reply.header("www-authenticate", `Bearer error="insufficient_scope", scope="${scope}"`);
    if (root === undefined || !layout) return sendError(request, reply, answer);
    const path = request.method === "GET" ? request.url.slice(1) : "";
    const canSignIn = deps.access.tokens.length > 0;
    const page = problemPage(answer, { root, path, canSignIn, isReadOnly: !isScopeGiven("silence", deps.access) });
    return layout.send(request, reply.code(answer.status), page);
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ""] = request.url.split("?");
    const isPage = request.method === "GET" && !/^\/(?:api|-)\//.test(path);
    if (layout && isPage && request.headers.accept?.includes("text/html"))
      return layout.send(request, reply.code(404), notFoundPage(path));
    return sendError(request, reply, { status: 404, code: "not_found", message: "There is nothing at this path." });
  });
}

/** A parsed body may take ten times its text, and longer to check. An alert of Prometheus has 40 to 80 values. */
const BYTES_PER_VALUE = 32;

/** Clients name JSON as their content type where they send no body, such as `amtool silence expire`. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const json = body as Buffer;
    const most = (request.routeOptions.bodyLimit ?? 0) / BYTES_PER_VALUE;
    if (json.length === 0) done(null, undefined);
    else if (hasTooManyValues(json, most)) done(new HttpError("too_large", `Expected at most ${most} values at once.`));
    else parse(request, json.toString(), done);
  });
}
