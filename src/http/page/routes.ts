/** The status page for people: whole on the server, so that it works without a script. */
import type { FastifyInstance } from "fastify";
import type { RecordingState } from "../../health/shard-state.ts";
import { runYielding } from "../../lib/yield.ts";
import type { UptimeKept } from "../../poll/uptime-reader.ts";
import type { HttpDeps } from "../deps.ts";
import { parseQuery } from "../query.ts";
import { alertPage, alertsOf } from "./alert-page.ts";
import { changeRoutes } from "./change-routes.ts";
import { incidentsSince } from "./incident-section.ts";
import type { Layout, Page } from "./layout.ts";
import type { Root } from "./links.ts";
import { locationPage, type PlaceSeen, recordingsAt } from "./location-page.ts";
import { alertsPage, locationsPage, overviewPage } from "./overview.ts";
import { inTime, type PageData, type PageDataDeps, readPageData } from "./page-data.ts";
import { AlertQuery, HomeQuery, RecordingQuery } from "./query.ts";
import { decisionLogSince, recordingOf, recordingPage } from "./recording-page.ts";
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

export function pageRoutes(app: FastifyInstance, deps: HttpDeps, layout: Layout): void {
  app.get("/", { config: { page: "./" } }, async (request, reply) => {
    const query = parseQuery(HomeQuery, request.query);
    const data = await readPageData(deps);
    const visitor = visitorOf(request, deps);
    const { location } = query;
    const pages =
      location === undefined
        ? homePage(data, query, visitor)
        : locationPage(data, query, location, await seenAt(location, data, visitor, deps));
    const [page, version] = [await runYielding(pages), await runYielding(versionOf(data))];
    return layout.send(request, reply, { ...page, version });
  });

  app.get<{ Params: { id: string } }>(
    "/recordings/:id",
    { config: { page: "../" } },
    async (request, reply) => {
      const query = parseQuery(RecordingQuery, request.query);
      const data = await readPageData(deps);
      const state = recordingOf(data.fleet, request.params.id);
      const { now } = data.moment;
      const subjects = [
        { kind: "recording", id: state.id },
        { kind: "location", id: state.locationId },
      ] as const;
      const reading = Promise.all([
        deps.incidents(incidentsSince(now)),
        deps.timeline(subjects, decisionLogSince(now)),
        uptimeOf(state, data, deps),
        deps.zones([state.locationId]),
      ]);
      const [incidents, lines, uptime, places] = await inTime(reading, deps);
      const zones = places.get(state.locationId)?.get(state.id) ?? [];
      const seen = { incidents, lines, uptime, zones, visitor: visitorOf(request, deps) };
      const page = await runYielding(recordingPage(data, query, state, seen));
      return layout.send(request, reply, { ...page, version: await runYielding(versionOf(data)) });
    },
  );

  app.get<{ Params: { fingerprint: string } }>(
    "/alerts/:fingerprint",
    { config: { page: "../" } },
    async (request, reply) => {
      parseQuery(AlertQuery, request.query);
      const data = await readPageData(deps);
      const active = alertsOf(request.params.fingerprint, data);
      const subjects = active.map(({ alert }) => alert.subject);
      const begun = Math.min(...active.map(({ alert }) => Math.min(alert.startsAt, alert.firedAt)));
      const lines = await inTime(deps.timeline(subjects, begun), deps);
      const page = alertPage(active, data, visitorOf(request, deps), lines);
      return layout.send(request, reply, { ...page, version: await runYielding(versionOf(data)) });
    },
  );

  changeRoutes(app, deps, layout);
}

/** The version of what pages show now. Throws what reading it throws. */
export async function versionNow(deps: PageDataDeps): Promise<string> {
  return runYielding(versionOf(await readPageData(deps)));
}

async function uptimeOf(state: RecordingState, { fleet }: PageData, deps: HttpDeps): Promise<UptimeKept> {
  const kept = (await deps.uptimes([state.id])).get(state.id);
  const timezone = kept?.timezone ?? presentOf(state, fleet).timezone;
  return withRecalled(kept, await deps.recallUptime(state.id, timezone), timezone);
}

/** More histories than this are not put together for one page. */
const MOST_HISTORIES = 300;

async function seenAt(id: string, data: PageData, visitor: Visitor, deps: HttpDeps): Promise<PlaceSeen> {
  const { now } = data.moment;
  const ids = recordingsAt(id, data.fleet);
  const reading = Promise.all([
    deps.uptimes(ids.length > MOST_HISTORIES ? [] : ids),
    deps.incidents(incidentsSince(now)),
    deps.timeline([{ kind: "location", id }], decisionLogSince(now)),
    deps.zones([id]),
  ]);
  const [uptimes, incidents, lines, places] = await inTime(reading, deps);
  return { visitor, uptimes, zones: allZones(places.get(id)), incidents, lines };
}

function homePage(data: PageData, query: HomeQuery, visitor: Visitor): Generator<void, Page> {
  if (query.q !== undefined || query.show === "search") return searchPage(data, query);
  if (query.show === "locations") return locationsPage(data, query);
  if (query.show === "silences") return silencesPage(data, query, visitor);
  return query.show === "alerts" ? alertsPage(data, query) : overviewPage(data, query);
}
