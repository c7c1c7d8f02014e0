/** JSON for scripts: `{ items, nextCursor }`, errors as `{ error: { code, message } }`. */
import type { FastifyInstance } from "fastify";
import { runYielding } from "../lib/yield.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { parseQuery } from "./query.ts";
import { acknowledgeRoute } from "./v1/acknowledge.ts";
import { IncidentsQuery, incidentsPage, sinceOf } from "./v1/incidents.ts";
import { LocationsQuery, locationsPage } from "./v1/locations.ts";
import { openApiDocument } from "./v1/openapi.ts";
import { RecordingsQuery, recordingsPage } from "./v1/recordings.ts";
import { decisionLogOf, TimelineQuery, timelinePage, sinceOf as toldSince } from "./v1/timeline.ts";

type Deps = Pick<HttpDeps, "version" | "fleet" | "incidents" | "timeline" | "acknowledge" | "clock">;

export function apiV1(app: FastifyInstance, deps: Deps): void {
  acknowledgeRoute(app, deps);

  const description = openApiDocument(deps.version);
  app.get("/api/v1/openapi.json", () => description);

  app.get("/api/v1/recordings", async ({ query }) => {
    const parsed = parseQuery(RecordingsQuery, query);
    return runYielding(recordingsPage(await deps.fleet(), parsed));
  });

  app.get<{ Params: { id: string } }>("/api/v1/recordings/:id/timeline", async ({ params, query }) => {
    const parsed = parseQuery(TimelineQuery, query);
    const fleet = await deps.fleet();
    const decisionLog = decisionLogOf(params.id, fleet);
    const lines = await deps.timeline(decisionLog.subjects, toldSince(parsed, deps.clock.now()));
    const told = lines.some(({ subject }) => subject.kind === "recording");
    if (!decisionLog.known && !told) throw new HttpError("not_found", "There is no recording with this id.");
    return timelinePage(decisionLog, lines, parsed, fleet);
  });

  app.get("/api/v1/locations", async ({ query }) => {
    const parsed = parseQuery(LocationsQuery, query);
    return runYielding(locationsPage(await deps.fleet(), parsed));
  });

  app.get("/api/v1/incidents", async ({ query }) => {
    const parsed = parseQuery(IncidentsQuery, query);
    const now = deps.clock.now();
    const [incidents, fleet] = await Promise.all([deps.incidents(sinceOf(parsed, now)), deps.fleet()]);
    return runYielding(incidentsPage(incidents, parsed, fleet.inventory, now));
  });
}
