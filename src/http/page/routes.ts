/** The status page for people: `/` and `/recordings/{id}`, whole on the server, without a script. */
import { promisify } from "node:util";
import { gzip as gzipOf } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { runBreathing } from "../../lib/breathe.ts";
import type { HttpDeps } from "../deps.ts";
import { parseQuery } from "../query.ts";
import { acceptsGzip } from "../stream.ts";
import { documentOf, type Page, pagePolicy } from "./frame.ts";
import type { Root } from "./links.ts";
import { inTime, type Look, lookAt } from "./look.ts";
import { alertsPage, locationsPage, overviewPage } from "./overview.ts";
import { HomeQuery, RecordingQuery } from "./query.ts";
import { incidentsSince, recordingOf, recordingPage } from "./recording-page.ts";
import { locationPage, searchPage } from "./recordings-page.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A page for people: what it is refused with is one as well. Its way to `/`. */
    page?: Root;
  }
}

const gzip = promisify(gzipOf);

type Deps = Pick<HttpDeps, "fleet" | "alerts" | "incidents" | "readDeadlineMs">;

export function pageRoutes(app: FastifyInstance, deps: Deps): void {
  app.get("/", { config: { page: "./" } }, async (request, reply) => {
    const query = parseQuery(HomeQuery, request.query);
    const look = await lookAt(deps);
    return sendPage(request, reply, documentOf(await runBreathing(homePage(look, query))));
  });

  app.get<{ Params: { id: string } }>(
    "/recordings/:id",
    { config: { page: "../" } },
    async (request, reply) => {
      const query = parseQuery(RecordingQuery, request.query);
      const look = await lookAt(deps);
      const state = recordingOf(look.fleet, request.params.id);
      const incidents = await inTime(deps.incidents(incidentsSince(look.moment.now)), deps);
      const page = await runBreathing(recordingPage(look, query, state, incidents));
      return sendPage(request, reply, documentOf(page));
    },
  );
}

function homePage(look: Look, query: HomeQuery): Generator<void, Page> {
  if (query.location !== undefined) return locationPage(look, query, query.location);
  if (query.q !== undefined || query.show === "search") return searchPage(look, query);
  if (query.show === "locations") return locationsPage(look, query);
  return query.show === "alerts" ? alertsPage(look, query) : overviewPage(look, query);
}

/** Sends a whole document, with the policy that its style sheet needs. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  document: string,
): Promise<FastifyReply> {
  reply.header("content-security-policy", pagePolicy()).header("vary", "accept-encoding");
  reply.type("text/html; charset=utf-8");
  if (!acceptsGzip(request.headers["accept-encoding"])) return reply.send(document);
  return reply.header("content-encoding", "gzip").send(await gzip(document));
}
