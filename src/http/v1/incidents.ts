/** `GET /api/v1/incidents`: what began together for one cause, with its alerts; one with its timeline. */
import { z } from "zod";
import { latestOf } from "../../alerting/acknowledgement.ts";
import { durationOf, sizeOfIncident } from "../../alerting/incident.ts";
import { incidentTitle } from "../../alerting/incident-words.ts";
import { visitsOf } from "../../alerting/uncounted.ts";
import { DAY_MS } from "../../lib/clock.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import { acknowledgementsIn, incidentListing, incidentZone, type KnownIncident, readIncident } from "../incidents.ts";
import { inTime, namesIn, type PageData, readPageData } from "../page/page-data.ts";
import { pageParameters } from "../paging.ts";
import { instant, isoTime } from "../query.ts";
import { ApiEpisode, ApiVisits, episodeRow } from "./episodes.ts";
import { AckRow, ackRow, operation, pageSchema, timeSchema } from "./operation.ts";
import { ApiDecision, decisionRow, writerOf } from "./timeline.ts";

const DEFAULT_PERIOD_MS = 7 * DAY_MS;

const oneId = z.string({ error: "expected one id" }).optional();

const incident = {
  id: z.string().describe("Such as `I-4F2K7`."),
  title: z.string().describe("What is wrong, or was: `240 cameras at 30 locations offline`."),
  startsAt: timeSchema,
  endsAt: timeSchema.nullable().describe("Null while one of its alerts fires."),
  durationSeconds: z.number().min(0).describe("In which it was an outage, or had alerts; until now while it lasts."),
  timezone: z.string().describe("IANA name: of its recordings, where they share one, else UTC."),
  recordings: z.int().min(0).describe("Recordings that were offline, each once."),
  locations: z.int().min(0),
  cause: z
    .strictObject({ label: z.string(), value: z.string() })
    .readonly()
    .nullable()
    .describe("The label that nine in ten of its recordings share: `location_id`, `camera_server`, `organisation`."),
  acknowledgement: AckRow.nullable().describe("The latest in force of its alerts; its author has the incident."),
  uncounted: ApiVisits,
  episodes: z.array(ApiEpisode).readonly().describe("Each time that an alert fired, the oldest first."),
};

export const ApiIncident = z.strictObject(incident).readonly();
export type ApiIncident = z.infer<typeof ApiIncident>;

export const listIncidents = operation({
  id: "listIncidents",
  method: "get",
  path: "/api/v1/incidents",
  summary: "Incidents, the newest first; of the last 7 days without `since`.",
  query: z.strictObject({
    ...pageParameters,
    since: instant.optional(),
    recording: oneId.describe("With an alert about it."),
    location: oneId.describe("With an alert about it or one of its recordings."),
    alertname: z.string({ error: "expected one name" }).optional(),
  }),
  answer: pageSchema(ApiIncident, {}),
  async handle(deps, { query }) {
    const { since = deps.clock.now() - DEFAULT_PERIOD_MS, recording, location, alertname, ...page } = query;
    const [episodes, data] = await Promise.all([inTime(deps.episodes(since), deps), readPageData(deps)]);
    const matches = ({ subject, ...of }: StoredEpisode) =>
      (recording === undefined || (subject.kind === "recording" && subject.id === recording)) &&
      (location === undefined || of.locationId === location) &&
      (alertname === undefined || of.alertname === alertname);
    const { items, nextCursor } = incidentListing(episodes, { ...page, matches }, data.moment.now);
    return { items: incidentRows(items, data), nextCursor };
  },
});

export const ApiIncidentTimeline = z
  .strictObject({ ...incident, decisions: z.array(ApiDecision).readonly().describe("The oldest first.") })
  .readonly();

export const getIncident = operation({
  id: "getIncident",
  method: "get",
  path: "/api/v1/incidents/{id}",
  summary: "An incident of the last 90 days, by its id or one that it had before a wider cause took it in.",
  answer: ApiIncidentTimeline,
  async handle(deps, { param: id }) {
    const data = await readPageData(deps);
    const { incident: found, lines } = await readIncident(id, data.moment.now, deps);
    const at = writerOf(deps, incidentZone(found, data));
    return { ...incidentRows([found], data)[0], decisions: lines.map((line) => decisionRow(line, namesIn(data), at)) };
  },
});

/** Incidents as the API has them. */
export function incidentRows(incidents: readonly KnownIncident[], data: PageData): ApiIncident[] {
  const [acknowledgements, names] = [acknowledgementsIn(data), namesIn(data)];
  const { fleet, moment } = data;
  return incidents.map((one) => {
    const { id, startsAt, endsAt, cause = null, episodes } = one;
    const { recordings, locations } = sizeOfIncident(one);
    const acknowledgement = latestOf(episodes, acknowledgements);
    return {
      ...{ id, title: incidentTitle(one, names), startsAt: isoTime(startsAt), endsAt: isoTime(endsAt) },
      durationSeconds: durationOf(one, moment.now) / 1000,
      timezone: incidentZone(one, data),
      ...{ recordings, locations: locations.size, cause },
      acknowledgement: acknowledgement ? ackRow(acknowledgement) : null,
      uncounted: visitsOf(episodes) ?? null,
      episodes: episodes.map((each) => episodeRow(each, fleet.inventory, moment.now)),
    };
  });
}
