/**
 * Admission: how many requests are in flight, of one client and of all, and how many reads are worked on at once. Each
 * kind of request has a lane of its own, so that readers delay neither changes nor scrapes. Open routes that name none have none.
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

/** Requests at work, and answers not read yet. A client that has none finds twice the room of all. */
const ROOM = {
  reads: { ofOne: 16, all: 128 },
  reports: { ofOne: 8, all: 64 },
  scrapes: { ofOne: 4, all: 64 },
  streams: { ofOne: 16, all: 256 },
  changes: { ofOne: 16, all: 256 },
};
type Lane = keyof typeof ROOM;
const laneNames = Object.keys(ROOM) as Lane[];

/** Reads at work; further ones wait for their turn, so that some are answered in time however many there are. */
const MOST_READING = 4;

/** An answer counts one more for each of these until it is read. */
const BYTES_PER_UNIT = 1_000_000;

interface Ticket {
  readonly client: string;
  readonly isRead: boolean;
  readonly lane: Set<Ticket>;
  units: number;
  /** The answer until it was read, and the handler, which may go on for a moment after its client has left. */
  holders: number;
}

/** Admits requests whose sender is known: to be called after the gate. */
export function admission(app: FastifyInstance, { takenMs }: Pick<Limits, "takenMs">): void {
  const lanes = Object.fromEntries(laneNames.map((name) => [name, new Set<Ticket>()])) as Record<Lane, Set<Ticket>>;
  const inTurn = createTurns(MOST_READING);
  app.decorateRequest("ticket", undefined);
  app.addHook("onRequest", async (request, reply) => {
    const isSafe = request.method === "GET" || request.method === "HEAD";
    const { open, lane, lane: name = isSafe ? "reads" : "changes" } = request.routeOptions.config;
    if (request.is404 || (open && lane === undefined)) return;
    const ticket = { client: clientOf(request), isRead: name === "reads", lane: lanes[name], units: 1, holders: 1 };
    checkRoom(ticket, ROOM[name]);
    ticket.lane.add(ticket);
    request.ticket = ticket;
    const cut = name === "streams" ? undefined : setTimeout(() => request.raw.socket.destroy(), takenMs);
    reply.raw.once("close", () => {
      clearTimeout(cut);
      release(ticket);
    });
  });
  app.addHook("onRoute", (route) => {
    const { handler } = route;
    route.handler = async function (request, reply) {
      const { ticket } = request;
      if (ticket) ticket.holders += 1;
      try {
        const work = async () => handler.call(this, request, reply);
        return await (ticket?.isRead ? inTurn(request.signal, work) : work());
      } finally {
        if (ticket) release(ticket);
      }
    };
  });
  app.addHook("onSend", async ({ ticket }, _reply, payload) => {
    if (ticket && (typeof payload === "string" || Buffer.isBuffer(payload)))
      ticket.units += Math.floor(payload.length / BYTES_PER_UNIT);
  });
}

/** Runs work when its turn comes. Throws the reason of a signal that is aborted by then. */
function createTurns(most: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** The same for all addresses that one client can have, and for each token another. */
function clientOf({ principal, ip }: FastifyRequest): string {
  return `${principal.name} ${normalizeIP(ip, 64)}`;
}

/** Throws HttpError `busy` where there is no room. */
function checkRoom({ client, lane }: Ticket, { ofOne, all: most }: { ofOne: number; all: number }): void {
  let [own, all] = [0, 0];
  for (const { client: other, units } of lane) {
    all += units;
    if (other === client) own += units;
  }
  if (own < ofOne && all < most * (own === 0 ? 2 : 1)) return;
  throw new HttpError("busy", "Too many requests at once; try again in a few seconds.");
}

function release(ticket: Ticket): void {
  ticket.holders -= 1;
  if (ticket.holders === 0) ticket.lane.delete(ticket);
}
