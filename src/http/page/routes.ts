/** The status page for people: whole on the server, so that it works without a script. */
import type { FastifyInstance } from "fastify";
import type { RecordingState } from "../../health/shard-state.ts";
import { runBreathing } from "../../lib/yield.ts";
import type { HttpDeps, UptimeKept } from "../deps.ts";
import { parseQuery } from "../query.ts";
import { alertPage, alertsOf } from "./alert-page.ts";
import { changeRoutes } from "./change-routes.ts";
import { incidentsSince } from "./incident-section.ts";
import type { Frame, Page } from "./layout.ts";
import type { Root } from "./links.ts";
import { locationPage, type PlaceSeen, recordingsAt } from "./location-page.ts";
import { alertsPage, locationsPage, overviewPage } from "./overview.ts";
import { inTime, type Look, type LookDeps, lookAt } from "./page-data.ts";
import { AlertQuery, HomeQuery, RecordingQuery } from "./query.ts";
import { recordingOf, recordingPage, storySince } from "./recording-page.ts";
import { presentOf } from "./recording-table.ts";
import { searchPage } from "./recordings-page.ts";
import { silencesPage } from "./silence-list.ts";
import { withRecalled } from "./uptime-days.ts";
import { versionOf } from "./version.ts";
import { type Visitor, visitorOf } from "./visitor.ts";
import { allZones } from "./zones.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A page for people: what it is refused with is one as well. Its way to `/`. */
    page?: Root;
  }
}

export function pageRoutes(app: FastifyInstance, deps: HttpDeps, frame: Frame): void {
  app.get("/", { config: { page: "./" } }, async (request, reply) => {
    const query = parseQuery(HomeQuery, request.query);
    const look = await lookAt(deps);
    const visitor = visitorOf(request, deps);
    const { location } = query;
    const pages =
      location === undefined
        ? homePage(look, query, visitor)
        : locationPage(look, query, location, await seenAt(location, look, visitor, deps));
    const [page, version] = [await runBreathing(pages), await runBreathing(versionOf(look))];
    return frame.send(request, reply, { ...page, version });
  });

  app.get<{ Params: { id: string } }>(
    "/recordings/:id",
    { config: { page: "../" } },
    async (request, reply) => {
      const query = parseQuery(RecordingQuery, request.query);
      const look = await lookAt(deps);
      const state = recordingOf(look.fleet, request.params.id);
      const { now } = look.moment;
      const subjects = [
        { kind: "recording", id: state.id },
        { kind: "location", id: state.locationId },
      ] as const;
      const reading = Promise.all([
        deps.incidents(incidentsSince(now)),
        deps.timeline(subjects, storySince(now)),
        uptimeOf(state, look, deps),
        deps.zones([state.locationId]),
      ]);
      const [incidents, lines, uptime, places] = await inTime(reading, deps);
      const zones = places.get(state.locationId)?.get(state.id) ?? [];
      const seen = { incidents, lines, uptime, zones, visitor: visitorOf(request, deps) };
      const page = await runBreathing(recordingPage(look, query, state, seen));
      return frame.send(request, reply, { ...page, version: await runBreathing(versionOf(look)) });
    },
  );

  app.get<{ Params: { fingerprint: string } }>(
    "/alerts/:fingerprint",
    { config: { page: "../" } },
    async (request, reply) => {
      parseQuery(AlertQuery, request.query);
      const look = await lookAt(deps);
      const active = alertsOf(request.params.fingerprint, look);
      const subjects = active.map(({ alert }) => alert.subject);
      const begun = Math.min(...active.map(({ alert }) => Math.min(alert.startsAt, alert.firedAt)));
      const lines = await inTime(deps.timeline(subjects, begun), deps);
      const page = alertPage(active, look, visitorOf(request, deps), lines);
      return frame.send(request, reply, { ...page, version: await runBreathing(versionOf(look)) });
    },
  );

  changeRoutes(app, deps, frame);
}

/** The version of what pages show now. Throws what reading it throws. */
export async function versionNow(deps: LookDeps): Promise<string> {
  return runBreathing(versionOf(await lookAt(deps)));
}

async function uptimeOf(state: RecordingState, { fleet }: Look, deps: HttpDeps): Promise<UptimeKept> {
  const kept = (await deps.uptimes([state.id])).get(state.id);
  const timezone = kept?.timezone ?? presentOf(state, fleet).timezone;
  return withRecalled(kept, await deps.recallUptime(state.id, timezone), timezone);
}

/** More histories than this are not put together for one page. */
const MOST_HISTORIES = 300;

async function seenAt(id: string, look: Look, visitor: Visitor, deps: HttpDeps): Promise<PlaceSeen> {
  const { now } = look.moment;
  const ids = recordingsAt(id, look.fleet);
  const reading = Promise.all([
    deps.uptimes(ids.length > MOST_HISTORIES ? [] : ids),
    deps.incidents(incidentsSince(now)),
    deps.timeline([{ kind: "location", id }], storySince(now)),
    deps.zones([id]),
  ]);
  const [uptimes, incidents, lines, places] = await inTime(reading, deps);
  return { visitor, uptimes, zones: allZones(places.get(id)), incidents, lines };
}

function homePage(look: Look, query: HomeQuery, visitor: Visitor): Generator<void, Page> {
  if (query.q !== undefined || query.show === "search") return searchPage(look, query);
  if (query.show === "locations") return locationsPage(look, query);
  if (query.show === "silences") return silencesPage(look, query, visitor);
  return query.show === "alerts" ? alertsPage(look, query) : overviewPage(look, query);
}
