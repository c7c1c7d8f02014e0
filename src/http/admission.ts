/**
 * Admission: how many requests are in flight, of one client and of all, and how many of their handlers run at once. Each
 * kind of request has a lane of its own, so that readers delay neither changes nor scrapes. Open routes have none.
 */
import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { HttpError } from "./errors.ts";
import type { Limits } from "./limits.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** `reads` by default, `changes` where the method is not safe. */
    lane?: Lane;
  }
  interface FastifyRequest {
    /** Undefined before admission, and where the route is open. */
    ticket: Ticket | undefined;
  }
}

type Bound = readonly [ofOne: number, all: number];

interface Room {
  /** Requests that wait or run, and answers not read yet. A client that has none finds twice the room of all. */
  readonly inFlight: Bound;
  /** Handlers at once, the others wait; absent: none waits. */
  readonly running?: Bound;
}

const LANES = {
  reads: { inFlight: [16, 128], running: [2, 4] },
  reports: { inFlight: [8, 64], running: [2, 4] },
  /** A scrape runs until it is read, as its text is made meanwhile. */
  scrapes: { inFlight: [4, 64], running: [1, 4] },
  streams: { inFlight: [16, 256] },
  changes: { inFlight: [16, 256] },
} satisfies Record<string, Room>;

type Lane = keyof typeof LANES;

/** An answer counts one more for each of these until it is read. */
const BYTES_PER_UNIT = 1_000_000;

/** Admits requests whose sender is known: to be called after the gate. */
export function admission(app: FastifyInstance, { takenMs }: Pick<Limits, "takenMs">): void {
  const lanes = new Map(Object.entries<Room>(LANES).map(([name, room]) => [name, createLane(room)]));
  app.decorateRequest("ticket", undefined);
  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { open, lane = isSafe(request) ? "reads" : "changes" } = request.routeOptions.config;
    if (open) return;
    const ticket = lanes.get(lane)?.(clientOf(request));
    request.ticket = ticket;
    const cut = lane === "streams" ? undefined : setTimeout(() => request.raw.socket.destroy(), takenMs);
    reply.raw.once("close", () => {
      clearTimeout(cut);
      ticket?.close();
    });
  });
  app.addHook("onRoute", (route) => {
    const { handler } = route;
    if (route.config?.open) return;
    route.handler = async function (request, reply) {
      const { ticket, signal } = request;
      try {
        if (isSafe(request)) await ticket?.turn(signal);
        return await handler.call(this, request, reply);
      } catch (thrown) {
        // The client has left, or Fastify has answered for the deadline; what was read of a body ends its signal too.
        if (isSafe(request) && signal.aborted) return reply;
        throw thrown;
      } finally {
        ticket?.end();
      }
    };
  });
  app.addHook("onSend", async ({ ticket, signal }, _reply, payload) => {
    if (!ticket || !(typeof payload === "string" || Buffer.isBuffer(payload))) return;
    ticket.units += Math.floor(payload.length / BYTES_PER_UNIT);
    // A handler goes on for a moment after its deadline was answered for it.
    if (!signal.aborted) ticket.end();
  });
}

const isSafe = ({ method }: FastifyRequest) => method === "GET" || method === "HEAD";

/** The same for all addresses that one client can have, and for each token another. */
function clientOf({ principal, ip }: FastifyRequest): string {
  return `${principal.name} ${normalizeIP(ip, 64)}`;
}

interface Ticket {
  readonly client: string;
  units: number;
  isRunning: boolean;
  /** While it waits. */
  begin?: (() => void) | undefined;
  /** Waits until the handler may run. Throws the reason of the signal. */
  turn(signal: AbortSignal): Promise<void>;
  /** The handler is done, or has its answer. */
  end(): void;
  /** The answer was read, or the client has left. */
  close(): void;
}

/** Gives tickets to clients. Throws HttpError `busy` where there is no room. */
export function createLane({ inFlight, running }: Room) {
  const tickets = new Set<Ticket>();

  function checkRoom(client: string): void {
    let [own, all] = [0, 0];
    for (const { client: other, units } of tickets) {
      all += units;
      if (other === client) own += units;
    }
    if (own < inFlight[0] && all < inFlight[1] * (own === 0 ? 2 : 1)) return;
    throw new HttpError("busy", "Too many requests at once; try again in a few seconds.");
  }

  /** Begins the oldest of those that wait, of the client that has the fewest running. */
  function next(): void {
    if (!running) return;
    const atWork = [...tickets].filter(({ isRunning }) => isRunning);
    const own = Map.groupBy(atWork, ({ client }) => client);
    const countOf = ({ client }: Ticket) => own.get(client)?.length ?? 0;
    const waiting = [...tickets].filter((one) => one.begin && countOf(one) < running[0]);
    if (atWork.length < running[1]) waiting.sort((a, b) => countOf(a) - countOf(b))[0]?.begin?.();
  }

  return (client: string) => {
    checkRoom(client);
    let isClosed = false;
    const ticket: Ticket = {
      client,
      units: 1,
      isRunning: false,
      async turn(signal) {
        if (!running) return;
        signal.throwIfAborted();
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        ticket.begin = () => {
          ticket.isRunning = true;
          ticket.begin = undefined;
          resolve();
        };
        const leave = () => {
          ticket.begin = undefined;
          reject(signal.reason);
        };
        signal.addEventListener("abort", leave, { once: true });
        next();
        await promise.finally(() => signal.removeEventListener("abort", leave));
      },
      end() {
        ticket.isRunning = false;
        if (isClosed) tickets.delete(ticket);
        next();
      },
      close() {
        isClosed = true;
        if (!ticket.isRunning) tickets.delete(ticket);
      },
    };
    tickets.add(ticket);
    return ticket;
  };
}
