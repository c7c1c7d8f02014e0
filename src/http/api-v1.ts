/** JSON for scripts: `{ items, nextCursor }`, errors as `{ error: { code, message } }`. */
import type { FastifyInstance } from "fastify";
import { runBreathing } from "../lib/breathe.ts";
import type { HttpDeps } from "./deps.ts";
import { parseQuery } from "./query.ts";
import { acknowledgeRoute } from "./v1/acknowledge.ts";
import { IncidentsQuery, incidentsPage, sinceOf } from "./v1/incidents.ts";
import { LocationsQuery, locationsPage } from "./v1/locations.ts";
import { RecordingsQuery, recordingsPage } from "./v1/recordings.ts";

type Deps = Pick<HttpDeps, "fleet" | "incidents" | "acknowledge" | "clock">;

export function apiV1(app: FastifyInstance, deps: Deps): void {
  acknowledgeRoute(app, deps);

  app.get("/api/v1/recordings", async ({ query }) => {
    const parsed = parseQuery(RecordingsQuery, query);
    return runBreathing(recordingsPage(await deps.fleet(), parsed));
  });

  app.get("/api/v1/locations", async ({ query }) => {
    const parsed = parseQuery(LocationsQuery, query);
    return runBreathing(locationsPage(await deps.fleet(), parsed));
  });

  app.get("/api/v1/incidents", async ({ query }) => {
    const parsed = parseQuery(IncidentsQuery, query);
    const now = deps.clock.now();
    const [incidents, fleet] = await Promise.all([deps.incidents(sinceOf(parsed, now)), deps.fleet()]);
    return runBreathing(incidentsPage(incidents, parsed, fleet.inventory, now));
  });
}
