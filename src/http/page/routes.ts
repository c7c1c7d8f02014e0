/** The status page for people, rendered on the server, so that it works without a script. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DAY_MS } from "../../lib/clock.ts";
import { runYielding } from "../../lib/yield.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import type { HttpDeps } from "../deps.ts";
import { readIncident } from "../incidents.ts";
import { parseQuery } from "../query.ts";
import { handoverSpan, withZone } from "../v1/handover.ts";
import { reportInTime } from "../v1/report.ts";
import { SharedQuery, sharedReport } from "../v1/report-link.ts";
import { alertPage, alertsOf, endedAlert, endedAlertPage } from "./alert-page.ts";
import { overviewPage } from "./board.ts";
import { changeRoutes } from "./change-routes.ts";
import { fullLocationId } from "./fleet-map.ts";
import { askedSpan, HandoverQuery, handoverPage } from "./handover-page.ts";
import { PERIOD_DAYS } from "./history.ts";
import { incidentPage } from "./incident-page.ts";
import { incidentsCsv, incidentsPage } from "./incidents-page.ts";
import type { HtmlPage, Layout } from "./layout.ts";
import { AlertQuery, HomeQuery, IncidentsQuery, RecordingQuery, type Root } from "./links.ts";
import { locationDetails, locationPage } from "./location-page.ts";
import { locationsPage } from "./locations-page.ts";
import { inTime, type PageData, type PageDataDeps, readPageData, readShardOf, versionOf } from "./page-data.ts";
import { readRecording, recordingDetails, recordingPage } from "./recording-page.ts";
import { sharedReportPage } from "./report-page.ts";
import { DAYS_SEARCHED, searchPage } from "./search-page.ts";
import { silencesPage } from "./silence-list.ts";
import { type Visitor, visitorOf } from "./visitor.ts";
import { readerZone } from "./when.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A page for people, whose errors are pages too: its relative path to `/`. */
    page?: Root;
  }
}

/** The days for which the address of an alert that is over is good: as long as episodes are stored. */
const EPISODE_DAYS = 90;

export function pageRoutes(app: FastifyInstance, deps: HttpDeps, layout: Layout): void {
  const below = { config: { page: "../" } } as const;
  app.get("/", { config: { page: "./" } }, async (request, reply) => send(request, reply, await home(request, deps)));
  app.get<RecordingRoute>("/recordings/:id", below, async (request, reply) =>
    send(request, reply, await recording(request, deps)),
  );
  app.get<AlertRoute>("/alerts/:fingerprint", below, async (request, reply) =>
    send(request, reply, await alert(request, deps)),
  );
  app.get<RecordingRoute>("/incidents/:id", below, async (request, reply) => {
    const query = parseQuery(AlertQuery, request.query);
    const data = await readPageData(deps, readerZone(request, deps));
    const details = await readIncident(request.params.id, data.moment.now, deps);
    const worth = deps.config().counts;
    return send(request, reply, {
      page: incidentPage({ ...details, worth }, data, visitorOf(request, deps)),
      data,
      query,
    });
  });
  incidentRoutes(app, deps, layout);
  const shared = { config: { page: "../", open: true, lane: "reports" } } as const;
  app.get("/shared/report", shared, async (request, reply) => {
    const query = sharedReport(parseQuery(SharedQuery, request.query), deps.access, deps.clock.now());
    return layout.send(request, reply, sharedReportPage(await reportInTime(deps, query), query));
  });
  app.get("/handover", { config: { page: "./" } }, async (request, reply) => {
    const query = withZone(parseQuery(HandoverQuery, request.query), readerZone(request, deps));
    const now = deps.clock.now();
    const document = await deps.handover(handoverSpan(askedSpan(query, now), now), query.timezone);
    const data = await readPageData(deps, readerZone(request, deps));
    return layout.send(request, reply, { ...handoverPage(document, query, visitorOf(request, deps)), data });
  });
  changeRoutes(app, deps, layout);

  async function send(request: FastifyRequest, reply: FastifyReply, { page, data, query }: Shown) {
    if (typeof page === "string") return reply.redirect(page);
    // A page refreshes itself unless its reader pages on, or paused updates.
    const refresh = query.cursor !== undefined || query.q !== undefined ? "never" : (query.refresh ?? "on");
    return layout.send(request, reply, { refresh, ...page, data });
  }
}

interface Shown {
  /** Or the link to go to instead. */
  readonly page: HtmlPage | string;
  readonly data: PageData;
  readonly query: Partial<HomeQuery>;
}
type RecordingRoute = { Params: { id: string } };
type AlertRoute = { Params: { fingerprint: string } };

async function home(request: FastifyRequest, deps: HttpDeps): Promise<Shown> {
  const query = parseQuery(HomeQuery, request.query);
  const data = await readPageData(deps, readerZone(request, deps));
  const visitor = visitorOf(request, deps);
  const location = query.location ?? (query.l && fullLocationId(data.fleet.locations, query.l));
  const page =
    location === undefined
      ? await homePage(data, query, visitor, deps, request.signal)
      : locationPage(data, query, location, { ...(await locationDetails(location, data, deps)), visitor });
  return { page, data, query };
}

async function recording(request: FastifyRequest<RecordingRoute>, deps: HttpDeps): Promise<Shown> {
  const query = parseQuery(RecordingQuery, request.query);
  const data = await readPageData(deps, readerZone(request, deps));
  const { state, shard } = await readRecording(request.params.id, query.location, data, deps);
  const read = await recordingDetails(state, shard, data.moment.now, deps);
  const details = { ...read, visitor: visitorOf(request, deps) };
  return { page: recordingPage(data, query, details), data, query };
}

async function alert(request: FastifyRequest<AlertRoute>, deps: HttpDeps): Promise<Shown> {
  const query = parseQuery(AlertQuery, request.query);
  const data = await readPageData(deps, readerZone(request, deps));
  const print = request.params.fingerprint;
  const active = alertsOf(print, data);
  const { counts: worth } = deps.config();
  const episodes = await episodesSince(data, (active.length > 0 ? PERIOD_DAYS : EPISODE_DAYS) * DAY_MS, deps);
  if (active.length === 0) {
    const ended = endedAlert(print, episodes);
    const lines = await inTime(deps.timeline([ended.subject], ended.startsAt - 1), deps);
    const page = endedAlertPage(ended, data, { lines, episodes, worth });
    return { page, data, query };
  }
  const subjects = active.map(({ alert }) => alert.subject);
  const begun = Math.min(...active.map(({ alert }) => Math.min(alert.startsAt, alert.firedAt)));
  const [lines, shard] = await Promise.all([
    inTime(deps.timeline(subjects, begun), deps),
    readShardOf(active[0]?.alert.labels.location_id ?? "", data, deps),
  ]);
  const page = alertPage(active, data, visitorOf(request, deps), { lines, episodes, worth, shard });
  return { page, data, query };
}

function episodesSince({ fleet }: PageData, ms: number, deps: HttpDeps): Promise<readonly StoredEpisode[]> {
  return inTime(deps.episodes(fleet.now - ms), deps);
}

function incidentRoutes(app: FastifyInstance, deps: HttpDeps, layout: Layout): void {
  async function readEpisodes(request: FastifyRequest) {
    const query = parseQuery(IncidentsQuery, request.query);
    const data = await readPageData(deps, readerZone(request, deps));
    return { query, data, episodes: await episodesSince(data, Number(query.days) * DAY_MS, deps) };
  }

  app.get("/incidents", { config: { page: "./" } }, async (request, reply) => {
    const { query, data, episodes } = await readEpisodes(request);
    return layout.send(request, reply, incidentsPage(episodes, query, data));
  });

  app.get("/incidents.csv", { config: { page: "./" } }, async (request, reply) => {
    const { query, data, episodes } = await readEpisodes(request);
    reply.header("content-disposition", 'attachment; filename="incidents.csv"').type("text/csv; charset=utf-8");
    return runYielding(incidentsCsv(episodes, query, data), request.signal);
  });
}

/** The version of the state that pages show now. Throws the errors of reading it. */
export async function versionNow(deps: PageDataDeps): Promise<string> {
  return versionOf(await readPageData(deps));
}

async function homePage(
  data: PageData,
  query: HomeQuery,
  visitor: Visitor,
  deps: HttpDeps,
  signal: AbortSignal,
): Promise<Shown["page"]> {
  if (query.show === "locations") return locationsPage(data, query);
  if (query.show === "silences") return silencesPage(data, query, visitor);
  if (query.q !== undefined) {
    const episodes = await episodesSince(data, DAYS_SEARCHED * DAY_MS, deps);
    return runYielding(searchPage(data, query, episodes), signal);
  }
  return overviewPage(data, query, visitor);
}
