/**
 * `GET /events`: tells open pages when what they show has changed, and only that (html.spec.whatwg.org, server-sent
 * events). One look at the fleet per process and tick, however many pages are open, and none while nobody looks.
 */
import { PassThrough } from "node:stream";
import type { FastifyInstance } from "fastify";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { HttpError } from "./errors.ts";

const TICK_MS = 1_000;
/** Proxies cut what is silent for long, as a rule after a minute. */
const BEAT_MS = 15_000;
/** Then a page connects anew, and is let in anew. */
const LONGEST_MS = 10 * 60_000;
const MOST_STREAMS = 256;
/** Whoever does not read as much is gone. */
const MOST_UNREAD = 16 * 1024;

export interface EventsDeps {
  readonly log: Logger;
  /** A text that changes with what is shown. */
  version(): Promise<string>;
  readonly tickMs?: number;
  readonly beatMs?: number;
  readonly mostStreams?: number;
}

export function eventRoutes(app: FastifyInstance, deps: EventsDeps): void {
  const streams = new Map<PassThrough, NodeJS.Timeout>();
  const { tickMs = TICK_MS, beatMs = BEAT_MS, mostStreams = MOST_STREAMS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let lastVersion: string | undefined;
  let beatAt = 0;
  let closing = false;

  function say(event: "state" | "beat", data: string): void {
    for (const stream of streams.keys()) {
      if (stream.readableLength + stream.writableLength > MOST_UNREAD) stream.destroy();
      else stream.write(messageOf(event, data));
    }
  }

  async function tick(): Promise<void> {
    try {
      const version = await deps.version();
      const isNew = version !== lastVersion;
      if (isNew || performance.now() - beatAt >= beatMs) {
        say(isNew ? "state" : "beat", version);
        beatAt = performance.now();
      }
      lastVersion = version;
    } catch (thrown) {
      // Nobody is told that all is as it was: a page that hears nothing asks, and says what it was answered.
      deps.log.debug({ err: toError(thrown) }, "what pages show could not be read");
    }
    const goesOn = streams.size > 0 && !closing;
    timer = goesOn ? setTimeout(tick, tickMs) : undefined;
    // Whoever opens a page later is told of the first look again.
    if (!goesOn) lastVersion = undefined;
  }

  function open(): PassThrough {
    const stream = new PassThrough();
    const end = setTimeout(() => stream.end(), LONGEST_MS);
    streams.set(stream, end);
    stream.once("close", () => {
      clearTimeout(end);
      streams.delete(stream);
    });
    stream.write(`retry: 5000\n\n${lastVersion === undefined ? "" : messageOf("state", lastVersion)}`);
    timer ??= setTimeout(tick, 0);
    return stream;
  }

  app.get("/events", { exposeHeadRoute: false }, async (_request, reply) => {
    if (streams.size >= mostStreams) {
      reply.header("retry-after", "60");
      throw new HttpError("busy", "Too many pages are open: this one refreshes itself instead.");
    }
    reply.header("x-accel-buffering", "no").header("cache-control", "no-store, no-transform");
    return reply.type("text/event-stream; charset=utf-8").send(open());
  });

  app.addHook("preClose", async () => {
    closing = true;
    clearTimeout(timer);
    for (const stream of streams.keys()) stream.end();
  });
}

function messageOf(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}
