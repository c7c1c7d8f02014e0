/** The status page for people, rendered on the server, so that it works without a script. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RecordingState } from "../../health/shard-state.ts";
import { runYielding } from "../../lib/yield.ts";
import type { UptimeKept } from "../../poll/uptime-reader.ts";
import type { HttpDeps } from "../deps.ts";
import { parseQuery } from "../query.ts";
import { alertPage, alertsOf } from "./alert-page.ts";
import { changeRoutes } from "./change-routes.ts";
import { incidentsSince } from "./incident-section.ts";
import type { HtmlPage, Layout } from "./layout.ts";
import type { Root } from "./links.ts";
import { type LocationDetails, locationPage, recordingsAt } from "./location-page.ts";
import { allAlertsPage, allLocationsPage, overviewPage } from "./overview.ts";
import { inTime, type PageData, type PageDataDeps, readPageData } from "./page-data.ts";
import { AlertQuery, HomeQuery, RecordingQuery } from "./query.ts";
import { decisionLogSince, recordingOf, recordingPage } from "./recording-page.ts";
import { presentOf } from "./recording-table.ts";
import { searchPage } from "./search-page.ts";
import { silencesPage } from "./silence-list.ts";
import { withRecalled } from "./uptime-days.ts";
import { versionOf } from "./version.ts";
import { type Visitor, visitorOf } from "./visitor.ts";
import { allZones } from "./zones.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A page for people, whose errors are pages too: its relative path to `/`. */
    page?: Root;
  }
}

export function pageRoutes(app: FastifyInstance, deps: HttpDeps, layout: Layout): void {
  app.get("/", { config: { page: "./" } }, async (request, reply) => {
    const query = parseQuery(HomeQuery, request.query);
    const data = await readPageData(deps);
    const visitor = visitorOf(request, deps);
    const { location } = query;
    const page =
      location === undefined
        ? homePage(data, query, visitor)
        : locationPage(data, query, location, await locationDetails(location, data, visitor, deps));
    return send(request, reply, await runYielding(page), data);
  });

  const below = { config: { page: "../" } } as const;
  app.get<{ Params: { id: string } }>("/recordings/:id", below, async (request, reply) => {
    const query = parseQuery(RecordingQuery, request.query);
    const data = await readPageData(deps);
    const state = recordingOf(data.fleet, request.params.id);
    const details = { ...(await recordingDetails(state, data, deps)), visitor: visitorOf(request, deps) };
    return send(request, reply, await runYielding(recordingPage(data, query, state, details)), data);
  });

  app.get<{ Params: { fingerprint: string } }>("/alerts/:fingerprint", below, async (request, reply) => {
    parseQuery(AlertQuery, request.query);
    const data = await readPageData(deps);
    const active = alertsOf(request.params.fingerprint, data);
    const subjects = active.map(({ alert }) => alert.subject);
    const begun = Math.min(...active.map(({ alert }) => Math.min(alert.startsAt, alert.firedAt)));
    const lines = await inTime(deps.timeline(subjects, begun), deps);
    return send(request, reply, alertPage(active, data, visitorOf(request, deps), lines), data);
  });

  changeRoutes(app, deps, layout);

  async function send(request: FastifyRequest, reply: FastifyReply, page: HtmlPage, data: PageData) {
    return layout.send(request, reply, { ...page, version: await runYielding(versionOf(data)) });
  }
}

/** The version of the state that pages show now. Throws the errors of reading it. */
export async function versionNow(deps: PageDataDeps): Promise<string> {
  return runYielding(versionOf(await readPageData(deps)));
}

async function recordingDetails(state: RecordingState, data: PageData, deps: HttpDeps) {
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
  const [incidents, lines, uptime, zonesOf] = await inTime(reading, deps);
  return { incidents, lines, uptime, zones: zonesOf.get(state.locationId)?.get(state.id) ?? [] };
}

async function uptimeOf(state: RecordingState, { fleet }: PageData, deps: HttpDeps): Promise<UptimeKept> {
  const kept = (await deps.uptimes([state.id])).get(state.id);
  const timezone = kept?.timezone ?? presentOf(state, fleet).timezone;
  return withRecalled(kept, await deps.recallUptime(state.id, timezone), timezone);
}

/** The histories of more recordings are not combined on one page. */
const MOST_HISTORIES = 300;

async function locationDetails(
  id: string,
  { fleet, moment: { now } }: PageData,
  visitor: Visitor,
  deps: HttpDeps,
): Promise<LocationDetails> {
  const ids = recordingsAt(id, fleet);
  const reading = Promise.all([
    deps.uptimes(ids.length > MOST_HISTORIES ? [] : ids),
    deps.incidents(incidentsSince(now)),
    deps.timeline([{ kind: "location", id }], decisionLogSince(now)),
    deps.zones([id]),
  ]);
  const [uptimes, incidents, lines, zonesOf] = await inTime(reading, deps);
  return { visitor, uptimes, zones: allZones(zonesOf.get(id)), incidents, lines };
}

function homePage(data: PageData, query: HomeQuery, visitor: Visitor): Generator<void, HtmlPage> {
  if (query.q !== undefined || query.show === "search") return searchPage(data, query);
  if (query.show === "locations") return allLocationsPage(data, query);
  if (query.show === "silences") return silencesPage(data, query, visitor);
  return query.show === "alerts" ? allAlertsPage(data, query) : overviewPage(data, query);
}
