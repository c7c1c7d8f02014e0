/** Bodies too large to build at once: written while they are read, given up when the client disconnects. */
import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance } from "fastify";
import Negotiator from "negotiator";
import type { MetricsSource } from "./deps.ts";
import { HttpError } from "./errors.ts";

/** No client may keep a body open longer, however slowly it reads. */
const LONGEST_BODY_MS = 60_000;
/** Nor for so long without taking the next chunk. */
const STALLED_MS = 10_000;

const BUFFERED = 128 * 1024;

interface BodyOptions {
  readonly gzip?: boolean;
  readonly onEnd?: () => void;
  readonly longestMs?: number;
  readonly stalledMs?: number;
}

/**
 * A body of text in chunks, gzipped where asked. It ends with an error, and its source with it, when it is destroyed,
 * after a minute, or when nothing is taken for 10 s; `onEnd` is called once in every case.
 */
export function bodyOf(chunks: AsyncIterable<string>, options: BodyOptions = {}): Readable {
  const text = Readable.from(watched(chunks, options.stalledMs ?? STALLED_MS, tooSlow), {
    objectMode: false,
    highWaterMark: BUFFERED,
  });
  const limit = setTimeout(tooSlow, options.longestMs ?? LONGEST_BODY_MS);
  function tooSlow() {
    text.destroy(new Error("the client read too slowly"));
  }
  text.once("close", () => {
    clearTimeout(limit);
    options.onEnd?.();
  });
  if (!options.gzip) return text;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: BUFFERED });
  // A failure destroys both ends, and with the outer one the response: there is nothing more to handle.
  return pipeline(text, gzip, () => undefined);
}

/** The chunks; `onStall` is called when the next one is not asked for in time. */
async function* watched(chunks: AsyncIterable<string>, stalledMs: number, onStall: () => void) {
  for await (const chunk of chunks) {
    const stall = setTimeout(onStall, stalledMs);
    try {
      yield chunk;
    } finally {
      clearTimeout(stall);
    }
  }
}

/** Whether an Accept-Encoding header accepts gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  const headers = { "accept-encoding": header?.toLowerCase() };
  return new Negotiator({ headers }).encodings().includes("gzip");
}

/** Scrapes at the same time: each holds a snapshot of the fleet in memory. */
const MOST_SCRAPES = 4;
/** Of one client at one address. */
const MOST_OF_ONE = 2;

interface Scrape {
  readonly client: string;
  cut(): void;
}

/** `GET /metrics`. Needs the scope `read`, as a scraper's `authorization`. */
export function metricsRoute(app: FastifyInstance, metrics: MetricsSource): void {
  const scrapes = new Set<Scrape>();
  app.get("/metrics", { exposeHeadRoute: false, handlerTimeout: LONGEST_BODY_MS }, (request, reply) => {
    const client = `${request.principal.name} ${normalizeIP(request.ip, 64)}`;
    if (!hasRoom([...scrapes], client)) {
      reply.header("retry-after", "5");
      throw new HttpError("busy", "Too many scrapes at once; try again in a few seconds.");
    }
    const { contentType, body } = metrics.expose(request.headers.accept);
    const gzip = acceptsGzip(request.headers["accept-encoding"]);
    reply.header("vary", "accept, accept-encoding");
    if (gzip) reply.header("content-encoding", "gzip");
    const scrape = { client, cut: () => text.destroy(new Error("another client is served first")) };
    scrapes.add(scrape);
    const text = bodyOf(body, { gzip, onEnd: () => scrapes.delete(scrape) });
    return reply.type(contentType).send(text);
  });
}

/** Whether the client may scrape. Where all slots are taken, it gets one from a client that would still have as many. */
function hasRoom(scrapes: readonly Scrape[], client: string): boolean {
  const of = (one: string) => scrapes.filter((scrape) => scrape.client === one).length;
  if (of(client) >= MOST_OF_ONE) return false;
  if (scrapes.length < MOST_SCRAPES) return true;
  const greedy = scrapes.find((scrape) => of(scrape.client) >= of(client) + 2);
  greedy?.cut();
  return greedy !== undefined;
}
