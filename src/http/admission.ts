/**
 * Admission: how many requests are in flight, of one client and of all. Each kind of request has a lane of its own, so
 * that readers delay neither changes nor scrapes; their work yields to the event loop (`lib/yield.ts`). Open routes have none.
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
  scrapes: { ofOne: 4, all: 64 },
  streams: { ofOne: 16, all: 256 },
  changes: { ofOne: 16, all: 256 },
};
type Lane = keyof typeof ROOM;

/** An answer counts one more for each of these until it is read. */
const BYTES_PER_UNIT = 1_000_000;

interface Ticket {
  readonly client: string;
  readonly lane: Set<Ticket>;
  units: number;
  /** The answer until it was read, and the handler, which may go on for a moment after its client has left. */
  holders: number;
}

/** Admits requests whose sender is known: to be called after the gate. */
export function admission(app: FastifyInstance, { takenMs }: Pick<Limits, "takenMs">): void {
  const lanes = {
    reads: new Set<Ticket>(),
    scrapes: new Set<Ticket>(),
    streams: new Set<Ticket>(),
    changes: new Set<Ticket>(),
  };
  app.decorateRequest("ticket", undefined);
  app.addHook("onRequest", async (request, reply) => {
    const isSafe = request.method === "GET" || request.method === "HEAD";
    const { open, lane: name = isSafe ? "reads" : "changes" } = request.routeOptions.config;
    if (request.is404 || open) return;
    const ticket = { client: clientOf(request), lane: lanes[name], units: 1, holders: 1 };
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
        return await handler.call(this, request, reply);
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
