/** Bodies too large to build at once: written while they are read, given up when the client disconnects. */
import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
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
 * A body of text, or of its bytes, in chunks, gzipped where asked. It ends with an error, and its source with it, when it
 * is destroyed, after a minute, or when nothing is taken for 10 s; `onEnd` is called once in every case.
 */
export function bodyOf(chunks: AsyncIterable<string | Uint8Array>, options: BodyOptions = {}): Readable {
  const text = Readable.from(watched(chunks, options.stalledMs ?? STALLED_MS, tooSlow), {
    objectMode: false,
    highWaterMark: BUFFERED,
  });
  const limit = setTimeout(tooSlow, options.longestMs ?? LONGEST_BODY_MS);
  function tooSlow() {
    text.destroy(new Error("the client read too slowly"));
  }
  // An answer that comes after the client was answered 503, or has left, is read by nobody.
  text.on("error", () => undefined);
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
async function* watched(chunks: AsyncIterable<string | Uint8Array>, stalledMs: number, onStall: () => void) {
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

interface Slot {
  readonly client: string;
  /** The answer's body, as `bodyOf`; the slot is free when it ends. Throws HttpError `busy` after a cut. */
  body(chunks: AsyncIterable<string | Uint8Array>, gzip?: boolean): Readable;
  /** Frees the slot, and ends the body. */
  cut(): void;
}

/**
 * Slots for answers that hold what they are made from in memory until they are read: a client, known by its principal and
 * address, has at most `mostOfOne` of them. Taking one throws HttpError `busy` where none is free.
 */
export function createSlots(most: number, mostOfOne: number, what: string) {
  const slots = new Set<Slot>();
  return ({ principal, ip }: FastifyRequest, reply: FastifyReply): Slot => {
    const client = `${principal.name} ${normalizeIP(ip, 64)}`;
    const refuse = () => {
      reply.header("retry-after", "5");
      throw new HttpError("busy", `Too many ${what} at once; try again in a few seconds.`);
    };
    if (!hasRoom([...slots], client, most, mostOfOne)) refuse();
    let text: Readable | undefined;
    const slot: Slot = {
      client,
      body(chunks, gzip = false) {
        if (!slots.has(slot)) refuse();
        text = bodyOf(chunks, { gzip, onEnd: () => slots.delete(slot) });
        return text;
      },
      cut() {
        slots.delete(slot);
        text?.destroy(new Error("another client is served first"));
      },
    };
    slots.add(slot);
    return slot;
  };
}

/** Each scrape holds a snapshot of the fleet in memory. */
const MOST_SCRAPES = 4;
const MOST_OF_ONE = 2;

/** `GET /metrics`. Needs the scope `read`, as a scraper's `authorization`. */
export function metricsRoute(app: FastifyInstance, metrics: MetricsSource): void {
  const takeSlot = createSlots(MOST_SCRAPES, MOST_OF_ONE, "scrapes");
  app.get("/metrics", { exposeHeadRoute: false, handlerTimeout: LONGEST_BODY_MS }, (request, reply) => {
    const slot = takeSlot(request, reply);
    const { contentType, body } = metrics.expose(request.headers.accept);
    const gzip = acceptsGzip(request.headers["accept-encoding"]);
    reply.header("vary", "accept, accept-encoding");
    if (gzip) reply.header("content-encoding", "gzip");
    return reply.type(contentType).send(slot.body(body, gzip));
  });
}

/** Whether the client may have a slot. Where all are taken, it gets one from a client that would still have as many. */
function hasRoom(slots: readonly Slot[], client: string, most: number, mostOfOne: number): boolean {
  const of = (one: string) => slots.filter((slot) => slot.client === one).length;
  if (of(client) >= mostOfOne) return false;
  if (slots.length < most) return true;
  const greedy = slots.find((slot) => of(slot.client) >= of(client) + 2);
  greedy?.cut();
  return greedy !== undefined;
}
