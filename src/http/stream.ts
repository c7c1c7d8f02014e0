/** Bodies too large to build at once: written while they are read, given up when the client disconnects. */
import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import Negotiator from "negotiator";
import type { MetricsSource } from "./deps.ts";
import { HttpError } from "./errors.ts";

/** No client may keep a body open longer, however slowly it reads. */
const LONGEST_BODY_MS = 60_000;

const BUFFERED = 128 * 1024;

/**
 * A body of text in chunks, gzipped where asked. It ends with an error, and its source with it, when it is destroyed or
 * after a minute; `onEnd` is called once in every case.
 */
export function bodyOf(
  chunks: AsyncIterable<string>,
  options: { readonly gzip?: boolean; readonly onEnd?: () => void; readonly longestMs?: number } = {},
): Readable {
  const text = Readable.from(chunks, { objectMode: false, highWaterMark: BUFFERED });
  const tooSlow = () => text.destroy(new Error("the client read too slowly"));
  const limit = setTimeout(tooSlow, options.longestMs ?? LONGEST_BODY_MS);
  text.once("close", () => {
    clearTimeout(limit);
    options.onEnd?.();
  });
  if (!options.gzip) return text;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: BUFFERED });
  // A failure destroys both ends, and with the outer one the response: there is nothing more to handle.
  return pipeline(text, gzip, () => undefined);
}

/** Whether an Accept-Encoding header accepts gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  const headers = { "accept-encoding": header?.toLowerCase() };
  return new Negotiator({ headers }).encodings().includes("gzip");
}

/** Scrapes at the same time: each holds a snapshot of the fleet in memory. */
const MAX_SCRAPES = 4;

/** `GET /metrics`. Needs the read token where one is configured, as a scraper's `authorization`. */
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
