/** The HTTP routes: tokens (contract: "Authentication"), and the Core API: health, locations, uptime of recordings. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { inChunks, jsonList } from "../lib/yield.ts";
import type { SimulatorContext } from "./context.ts";
import { issuesText } from "./errors.ts";
import type { HttpEndpoint } from "./faults.ts";
import type { SimRecording } from "./fleet.ts";
import { type CalendarHour, datesBetween, daysBetween, type HourCalendar, localHourOf } from "./local-time.ts";
import { errorBody } from "./traits.ts";
import { uptimeOf } from "./uptime.ts";

/** Longer ranges are refused; the contract shows no limit. */
const MOST_DAYS = 800;

const dateOnly = z.iso.date({ error: "must be a date, YYYY-MM-DD, and no timestamp", abort: true });
const Range = z
  .object({ start: dateOnly, end: dateOnly })
  .refine(({ start, end }) => start <= end, { message: "end must not be before start", path: ["end"] })
  .refine(({ start, end }) => daysBetween(start, end) <= MOST_DAYS, `at most ${MOST_DAYS} days at once`);
const Bulk = z.intersection(Range, z.object({ recids: z.array(z.string()).optional() }));

export function registerCoreApi(app: FastifyInstance, context: SimulatorContext): void {
  const { world, faults, tokens, traits } = context;
  const badRequest = (error: z.ZodError, reply: FastifyReply) =>
    reply.code(400).send(errorBody(traits, "bad_request", issuesText(error)));
  const route = (endpoint: HttpEndpoint) => ({ config: { endpoint } });

  /** After the faults: they are as a proxy's in front. */
  app.addHook("preHandler", async (request, reply) => {
    const { endpoint } = request.routeOptions.config;
    if (!endpoint || endpoint === "token" || endpoint === "status") return;
    const [scheme, token = ""] = (request.headers.authorization ?? "").split(" ");
    const isGood = scheme?.toLowerCase() === "bearer" && tokens.check(token) !== undefined;
    if (isGood && !faults.take("unauthorized", endpoint)) return;
    return reply
      .code(401)
      .header("www-authenticate", "Bearer")
      .send(errorBody(traits, "unauthorized", "token missing or over"));
  });

  app.get("/v1/status", route("status"), async (_, reply) => reply.code(200).send());

  app.get("/v1/location/list", route("location_list"), async () =>
    world.locations.map(({ id, name, timezone }) => ({ id, name, timezone })),
  );

  app.get("/v1/recording/:id/uptime", route("uptime"), async (request, reply) => {
    const range = Range.safeParse(request.query);
    if (!range.success) return badRequest(range.error, reply);
    const recording = world.recording((request.params as { id: string }).id);
    if (!recording) return reply.code(404).send(errorBody(traits, "not_found", "no such recording"));
    return uptimesIn(range.data, context)(recording);
  });

  app.post("/v1/recording/uptimes", route("uptimes"), async (request, reply) => {
    const bulk = Bulk.safeParse(request.body);
    if (!bulk.success) return badRequest(bulk.error, reply);
    const { recids } = bulk.data;
    const asked = recids ? [...new Set(recids)].flatMap((id) => world.recording(id) ?? []) : world.recordings;
    // Memory stays flat however many recordings are asked for.
    const json = jsonList(asked.values().map(uptimesIn(bulk.data, context)));
    return reply.type("application/json").send(Readable.from(inChunks(json)));
  });
}

function uptimesIn(range: z.infer<typeof Range>, { calendar, world, clock, traits }: SimulatorContext) {
  const isUtc = traits.uptime_index === "utc";
  const hoursOf = isUtc ? utcHoursOf : (date: string, zone: string) => calendar.hoursOf(date, zone);
  const dates = datesBetween(range.start, range.end);
  return (recording: SimRecording): object => {
    const { id, name, location, cameraServer, useUploadingSchedule } = recording;
    const { organisation, timezone } = location;
    const hours = dates.flatMap((date) => hoursOf(date, timezone, calendar));
    return {
      recording: { id, name, organisation, cameraServer, location: location.id, useUploadingSchedule, timezone },
      uptime: uptimeOf(recording, hours, world.startedAt, clock.now()),
    };
  };
}

/** Hours of a UTC day; the schedule still follows local time. */
function utcHoursOf(date: string, timezone: string, calendar: HourCalendar): CalendarHour[] {
  return calendar
    .hoursOf(date, "UTC")
    .map(({ startAt, index }) => ({ ...localHourOf(startAt, timezone), startAt, index }));
}

const TokenRequest = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  audience: z.string(),
  grant_type: z.string(),
});

/** `POST /oauth/token`. */
export function registerTokenEndpoint(app: FastifyInstance, context: SimulatorContext): void {
  const { faults, tokens, credentials, traits } = context;
  app.post("/oauth/token", { config: { endpoint: "token" } }, async (request, reply) => {
    const body = TokenRequest.safeParse(request.body).data;
    if (!body) {
      const missing = "client_id, client_secret, audience and grant_type are required strings";
      return reply.code(400).send({ error: "invalid_request", error_description: missing });
    }
    const refused = faults.take("token_refused");
    if (refused) return reply.code(refused.status).send({ error: "access_denied" });
    if (body.client_id !== credentials.clientId || body.client_secret !== credentials.clientSecret)
      return reply.code(401).send({ error: "invalid_client" });
    if (body.audience !== credentials.audience) return reply.code(401).send({ error: "access_denied" });
    if (body.grant_type !== "client_credentials") return reply.code(400).send({ error: "unsupported_grant_type" });
    const lifetimeMs = traits.token_lifetime;
    return reply
      .header("cache-control", "no-store")
      .send({
        access_token: tokens.issue(lifetimeMs),
        token_type: "Bearer",
        ...(faults.take("no_expires_in") ? {} : { expires_in: lifetimeMs / 1000 }),
      });
  });
}
