/** The Core API (contract: "Core API"): health, locations, uptime of one recording and of many. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Clock } from "../lib/clock.ts";
import { issuesText } from "./errors.ts";
import type { Faults, HttpEndpoint } from "./faults.ts";
import type { SimLocation, SimRecording } from "./fleet.ts";
import { answeredByFault, errorBody } from "./http-faults.ts";
import { type CalendarHour, datesBetween, daysBetween, type HourCalendar, isDate, localHourOf } from "./local-time.ts";
import type { TokenIssuer } from "./token-endpoint.ts";
import { uptimeOf } from "./uptime.ts";
import type { World } from "./world.ts";

export interface CoreApiDeps {
  readonly world: World;
  readonly faults: Faults;
  readonly tokens: TokenIssuer;
  readonly calendar: HourCalendar;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Longer ranges are refused; the contract shows no limit. */
const MOST_DAYS = 800;
const RECORDINGS_PER_CHUNK = 100;

const dateOnly = z.string().refine(isDate, { error: "must be a date, YYYY-MM-DD, and no timestamp", abort: true });
const Range = z
  .object({ start: dateOnly, end: dateOnly })
  .refine(({ start, end }) => start <= end, { message: "end must not be before start", path: ["end"] })
  .refine(({ start, end }) => daysBetween(start, end) <= MOST_DAYS, `at most ${MOST_DAYS} days at once`);
const Bulk = z.intersection(Range, z.object({ recids: z.array(z.string()).optional() }));
type Range = z.infer<typeof Range>;

export function registerCoreApi(app: FastifyInstance, deps: CoreApiDeps): void {
  const { world, faults } = deps;
  const route = (endpoint: HttpEndpoint) => ({ config: { endpoint } });

  app.get("/v1/status", route("status"), async (_, reply) =>
    (await answeredByFault(faults, "status", reply, deps.signal)) ? reply : reply.code(200).send(),
  );

  app.get("/v1/location/list", route("location_list"), async (request, reply) => {
    if (await isRefused(deps, "location_list", request, reply)) return reply;
    return reply.send(locationList(world.locations, faults));
  });

  app.get("/v1/recording/:id/uptime", route("uptime"), async (request, reply) => {
    if (await isRefused(deps, "uptime", request, reply)) return reply;
    const range = Range.safeParse(request.query);
    if (!range.success) return badRequest(reply, range.error);
    const recording = world.recording((request.params as { id: string }).id);
    if (!recording) return reply.code(404).send(errorBody("not_found", "no such recording"));
    return reply.send(uptimeResult(recording, range.data, deps, takeView(faults)));
  });

  app.post("/v1/recording/uptimes", route("uptimes"), async (request, reply) => {
    if (await isRefused(deps, "uptimes", request, reply)) return reply;
    const bulk = Bulk.safeParse(request.body);
    if (!bulk.success) return badRequest(reply, bulk.error);
    const { recids } = bulk.data;
    const asked = recids ? [...new Set(recids)].flatMap((id) => world.recording(id) ?? []) : world.recordings;
    return reply.type("application/json").send(Readable.from(jsonArray(asked, bulk.data, deps)));
  });
}

/** Faults first, as a proxy in front would, then the token. */
async function isRefused(
  deps: CoreApiDeps,
  endpoint: HttpEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  if (await answeredByFault(deps.faults, endpoint, reply, deps.signal)) return true;
  const [scheme, token = ""] = (request.headers.authorization ?? "").split(" ");
  const isGood = scheme?.toLowerCase() === "bearer" && deps.tokens.check(token) !== undefined;
  if (isGood && !deps.faults.take("unauthorized", endpoint)) return false;
  reply.code(401).header("www-authenticate", "Bearer").send(errorBody("unauthorized", "token missing or over"));
  return true;
}

function badRequest(reply: FastifyReply, error: z.ZodError): FastifyReply {
  return reply.code(400).send(errorBody("bad_request", issuesText(error)));
}

function locationList(locations: readonly SimLocation[], faults: Faults): unknown {
  const listed = faults.take("empty_list") ? [] : locations;
  const rows = listed.map(({ id, name, timezone }) => ({ id, name, timezone }));
  const shape = faults.take("location_list_shape")?.shape;
  switch (shape) {
    case undefined:
      return rows;
    case "ids":
      return rows.map(({ id }) => id);
    case "_id":
      return rows.map(({ id, ...rest }) => ({ _id: id, ...rest }));
    default:
      return { [shape]: rows };
  }
}

/** Memory stays flat however many recordings are asked for: written a hundred at a time. */
async function* jsonArray(
  recordings: readonly SimRecording[],
  range: Range,
  deps: CoreApiDeps,
): AsyncGenerator<string> {
  yield "[";
  const view = takeView(deps.faults);
  for (let i = 0; i < recordings.length; i += RECORDINGS_PER_CHUNK) {
    const chunk = recordings.slice(i, i + RECORDINGS_PER_CHUNK);
    const text = chunk.map((recording) => JSON.stringify(uptimeResult(recording, range, deps, view))).join(",");
    yield i === 0 ? text : `,${text}`;
    await new Promise(setImmediate);
  }
  yield "]";
}

function uptimeResult(recording: SimRecording, range: Range, deps: CoreApiDeps, view: UptimeView): object {
  const { id, name, location, useUploadingSchedule } = recording;
  const { organisation, cameraServer, timezone } = location;
  return {
    recording: { id, name, organisation, cameraServer, location: location.id, useUploadingSchedule, timezone },
    uptime: uptimeRows(recording, range, deps, view),
  };
}

/** How faults change the buckets of a reply; taken once per reply. */
interface UptimeView {
  readonly isUtc: boolean;
  readonly nullEvery: number | undefined;
}

function takeView(faults: Faults): UptimeView {
  return { isUtc: faults.take("utc_index") !== undefined, nullEvery: faults.take("null_uptime")?.every };
}

function uptimeRows(recording: SimRecording, range: Range, deps: CoreApiDeps, view: UptimeView): object[] {
  const { timezone } = recording.location;
  const hours = datesBetween(range.start, range.end).flatMap((date) =>
    view.isUtc ? utcHoursOf(date, timezone, deps.calendar) : deps.calendar.hoursOf(date, timezone),
  );
  const entries = uptimeOf(recording, hours, deps.world.startedAt, deps.clock.now());
  const { nullEvery } = view;
  return nullEvery ? entries.map((entry, i) => (i % nullEvery === 0 ? { ...entry, ...NO_FIGURES } : entry)) : entries;
}

const NO_FIGURES = {
  segmentsExpected: null,
  segmentsReceived: null,
  avgUptimeOnSegment: null,
  pcSegmentsRecieved: null,
  overallUptime: null,
};

/** Hours of a UTC day; the schedule still follows local time. */
function utcHoursOf(date: string, timezone: string, calendar: HourCalendar): CalendarHour[] {
  return calendar.hoursOf(date, "UTC").map((hour) => ({ ...hour, hour: localHourOf(hour.startAt, timezone).hour }));
}
