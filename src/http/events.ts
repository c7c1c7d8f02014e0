/** `GET /events` (server-sent events): notifies open pages of changes; read once per process and tick. */
import { PassThrough } from "node:stream";
import type { FastifyInstance } from "fastify";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

const TICK_MS = 1_000;
/** A page says that it is not live after twice as long without anything; proxies cut idle connections as well. */
const BEAT_MS = 4_000;
/** After that a page connects again and is authenticated again. */
const LONGEST_MS = 10 * 60_000;
/** Bytes that a client may leave unread. */
const MOST_UNREAD = 16 * 1024;

export interface EventsDeps {
  readonly log: Logger;
  /** A text that changes with the shown state. */
  version(): Promise<string>;
  readonly tickMs?: number;
  readonly beatMs?: number;
}

export function eventRoutes(app: FastifyInstance, deps: EventsDeps): void {
  const streams = new Set<PassThrough>();
  const ticker = createTicker(streams, deps);

  app.get("/events", { exposeHeadRoute: false, config: { lane: "streams" } }, async (_request, reply) => {
    reply.header("x-accel-buffering", "no").header("cache-control", "no-store, no-transform");
    return reply.type("text/event-stream; charset=utf-8").send(openStream(streams, ticker));
  });

  app.addHook("preClose", async () => {
    ticker.stop();
    for (const stream of streams) stream.end();
  });
}

function openStream(streams: Set<PassThrough>, ticker: ReturnType<typeof createTicker>): PassThrough {
  const stream = new PassThrough();
  const end = setTimeout(() => stream.end(), LONGEST_MS);
  streams.add(stream);
  stream.once("close", () => {
    clearTimeout(end);
    streams.delete(stream);
  });
  const version = ticker.lastVersion();
  stream.write(`retry: 5000\n\n${version === undefined ? "" : eventText("state", version)}`);
  ticker.start();
  return stream;
}

function createTicker(streams: ReadonlySet<PassThrough>, deps: EventsDeps) {
  const { tickMs = TICK_MS, beatMs = BEAT_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let lastVersion: string | undefined;
  let writtenAt = 0;
  let stopped = false;

  async function tick(): Promise<void> {
    try {
      const version = await deps.version();
      const isNew = version !== lastVersion;
      if (isNew || performance.now() - writtenAt >= beatMs) {
        writeToAll(streams, eventText(isNew ? "state" : "beat", version));
        writtenAt = performance.now();
      }
      lastVersion = version;
    } catch (thrown) {
      // No beat either: a page that receives nothing asks again and shows the error.
      deps.log.debug({ err: toError(thrown) }, "state of open pages could not be read");
    }
    const goesOn = streams.size > 0 && !stopped;
    timer = goesOn ? setTimeout(tick, tickMs) : undefined;
    // A page opened later must get the first version that is read.
    if (!goesOn) lastVersion = undefined;
  }

  return {
    lastVersion: () => lastVersion,
    start() {
      timer ??= setTimeout(tick, 0);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function writeToAll(streams: ReadonlySet<PassThrough>, text: string): void {
  for (const stream of streams) {
    if (stream.readableLength + stream.writableLength > MOST_UNREAD) stream.destroy();
    else stream.write(text);
  }
}

function eventText(event: "state" | "beat", data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}
