/** Metrics: a body too large to build at once, written while it is read, and given up when the client disconnects. */
import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import Negotiator from "negotiator";
import type { MetricsSource } from "./deps.ts";
import type { Limits } from "./limits.ts";

const BUFFERED = 128 * 1024;

/** A body of text in chunks, gzipped where asked. It ends with its source, and the source with it. */
export function bodyOf(chunks: AsyncIterable<string | Uint8Array>, isGzipped = false): Readable {
  const text = Readable.from(chunks, { objectMode: false, highWaterMark: BUFFERED });
  if (!isGzipped) return text;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: BUFFERED });
  // A failure destroys both ends, and with the outer one the response: there is nothing more to handle.
  return pipeline(text, gzip, () => undefined);
}

/** True for an Accept-Encoding header that accepts gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  const headers = { "accept-encoding": header?.toLowerCase() };
  return new Negotiator({ headers }).encodings().includes("gzip");
}

/** `GET /metrics`. Needs the scope `read`, as a scraper's `authorization`. */
export function metricsRoute(app: FastifyInstance, metrics: MetricsSource, { takenMs }: Pick<Limits, "takenMs">): void {
  const options = { exposeHeadRoute: false, handlerTimeout: takenMs, config: { lane: "scrapes" } } as const;
  app.get("/metrics", options, (request, reply) => {
    const { contentType, body } = metrics.expose(request.headers.accept);
    const isGzipped = acceptsGzip(request.headers["accept-encoding"]);
    reply.header("vary", "accept, accept-encoding");
    if (isGzipped) reply.header("content-encoding", "gzip");
    return reply.type(contentType).send(bodyOf(body, isGzipped));
  });
}
