/** `GET /api/v1/recordings/{id}/timeline`: the decision log of one recording, its location, groups and the service; or of one location. */
import { z } from "zod";
import { type LogLine, sentenceOf } from "../../alerting/decision-log.ts";
import { type IncidentNames, subjectName } from "../../alerting/incident-words.ts";
import { type Subject, subjectKinds } from "../../health/alert.ts";
import { groupSubjects } from "../../health/members.ts";
import type { Recording } from "../../health/recording.ts";
import { serviceSubject } from "../../health/service-evaluator.ts";
import type { Inventory } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { timesSeenAt } from "../../lib/when.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { namesIn } from "../page/page-data.ts";
import { listingOf, type PageQuery, pageParameters } from "../paging.ts";
import { instant, isoTime } from "../query.ts";
import { ApiCounts, countsRows } from "./counts.ts";
import { operation, pageSchema, timeSchema } from "./operation.ts";

const DEFAULT_PERIOD_MS = 86_400_000;

export const ApiDecision = z
  .strictObject({
    at: timeSchema,
    about: z
      .strictObject({ kind: z.enum(subjectKinds), id: z.string(), name: z.string() })
      .readonly()
      .describe("Subject of the line: the recording, its location or the service."),
    rule: z.string().nullable(),
    integration: z.string().nullable(),
    reason: z.string().describe("Its name, for scripts; there may be new ones."),
    detail: z.string().nullable(),
    until: timeSchema.nullable().describe("When what it says ends."),
    eta: timeSchema.nullable(),
    text: z.string().describe("The same in words, with times in `display.timezone`, else at the location."),
  })
  .readonly();

export const ApiTimeline = pageSchema(ApiDecision, {
  recordingId: z.string().describe("What was asked for: also the id of a location, or a group."),
  recording: z.string(),
  locationId: z.string().nullable(),
  location: z.string().nullable(),
  timezone: z.string().describe("IANA name."),
  counts: z.array(ApiCounts).readonly().describe("What rules on counts come to now, and why they find nothing."),
});

export const getTimeline = operation({
  id: "getTimeline",
  method: "get",
  path: "/api/v1/recordings/{id}/timeline",
  summary:
    "Decisions about a recording, a location, or a group such as `camera_server/edge-7`, and their reasons, oldest first; of the last 24 hours without `since`.",
  query: z.strictObject({ ...pageParameters, since: instant.optional() }),
  answer: ApiTimeline,
  async handle(deps, { query, param: id }) {
    const fleet = await deps.overview();
    const { inventory } = fleet;
    const recording = inventory.recording(id);
    const isLocation = !recording && inventory.location(id) !== undefined;
    const locationId = isLocation ? id : recording?.locationId;
    const subjects = isLocation ? [locationSubject(id), serviceSubject] : subjectsOf(id, locationId, recording);
    const lines = await deps.timeline(subjects, query.since ?? deps.clock.now() - DEFAULT_PERIOD_MS);
    if (!recording && !isLocation && !lines.some(({ subject }) => subject.id === id))
      throw new HttpError("not_found", "There is no recording or location with this id.");
    const recordingId = isLocation ? undefined : id;
    const counts = locationId === undefined ? [] : countsRows(await deps.countsJudged(), recordingId, locationId);
    const { items, nextCursor } = pageOf(lines, query);
    const names = namesOf(id, locationId, inventory);
    const at = writerOf(deps, names.timezone);
    return { ...names, counts, items: items.map((line) => decisionRow(line, namesIn({ fleet }), at)), nextCursor };
  },
});

const locationSubject = (id: string): Subject => ({ kind: "location", id });

function subjectsOf(id: string, locationId: string | undefined, recording: Recording | undefined): Subject[] {
  const location = locationId === undefined ? [] : [locationSubject(locationId)];
  const groups: Subject[] = recording ? groupSubjects(recording) : [{ kind: "group", id }];
  return [{ kind: "recording", id }, ...location, ...groups, serviceSubject];
}

function namesOf(id: string, locationId: string | undefined, inventory: Inventory) {
  const recording = inventory.recording(id);
  const location = locationId === undefined ? undefined : inventory.location(locationId);
  return {
    recordingId: id,
    recording: recording?.name || (id === locationId && location?.name) || id,
    locationId: locationId ?? null,
    location: location?.name || locationId || null,
    timezone: recording?.timezone ?? location?.timezone ?? "UTC",
  };
}

/** Lines of the same time and kind of subject keep their order. */
function pageOf(lines: readonly LogLine[], query: PageQuery) {
  const positions = new Map<string, number>();
  return listingOf(lines, query, ({ at, subject }) => {
    const key = `${String(at).padStart(16, "0")} ${subject.kind}`;
    const position = positions.get(key) ?? 0;
    positions.set(key, position + 1);
    return `${key} ${String(position).padStart(4, "0")}`;
  });
}

/** Writes instants in the configured zone, else in this one. */
export function writerOf({ clock, config }: Pick<HttpDeps, "clock" | "config">, zone: string) {
  const times = timesSeenAt(clock.now(), config().display?.timezone);
  return (instant: Instant) => times.at(instant, zone);
}

/** A line of the decision log as the API has it. */
export function decisionRow(
  line: LogLine,
  names: IncidentNames,
  written: (instant: Instant) => string,
): z.infer<typeof ApiDecision> {
  const { subject, at, ruleId: rule = null, integration = null, reason, detail = null } = line;
  const about = { ...subject, name: subjectName(subject, names) };
  const ends = { until: isoTime(line.until), eta: isoTime(line.eta) };
  return { at: isoTime(at), about, rule, integration, reason, detail, ...ends, text: sentenceOf(line, written) };
}
