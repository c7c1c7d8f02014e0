/** `GET /metrics`. Needs the read token where one is configured, as a scraper's `authorization`. */
import type { FastifyInstance } from "fastify";
import type { MetricsSource } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { acceptsGzip, bodyOf, LONGEST_BODY_MS } from "./stream.ts";

/** Scrapes at the same time: each holds a snapshot of the fleet in memory. */
const MAX_SCRAPES = 4;

export function metricsRoute(app: FastifyInstance, metrics: MetricsSource): void {
  let scrapes = 0;
  app.get("/metrics", { exposeHeadRoute: false, handlerTimeout: LONGEST_BODY_MS }, (request, reply) => {
    if (scrapes >= MAX_SCRAPES) {
      reply.header("retry-after", "5");
      throw new HttpError("busy", "Too many scrapes at once; try again in a few seconds.");
    }
    const { contentType, body } = metrics.expose(request.headers.accept);
    const gzip = acceptsGzip(request.headers["accept-encoding"]);
    reply.header("vary", "accept, accept-encoding");
    if (gzip) reply.header("content-encoding", "gzip");
    scrapes += 1;
    const onEnd = () => {
      scrapes -= 1;
    };
    return reply.type(contentType).send(bodyOf(body, { gzip, onEnd }));
  });
}
