/**
 * The control interface, for scripts and people with curl. JSON; an error is `{"error": "sentence"}` with 400.
 *
 *   GET    /control/faults               what is on, with parameters
 *   POST   /control/faults               {"name": "http_error", "status": 503, "endpoint": "uptimes"}
 *   DELETE /control/faults[/NAME]        all off, or one
 *   GET    /control/world                locations and their recordings as they are
 *   POST   /control/world                one change, or an array of changes:
 *       {"location": "Leeds Briggate", "status": "offline"}     {"recording": "L3/2", "quality": 0.4}
 *       {"recording": "L3/2", "schedule": true}                 {"location": "L1", "add_recording": "Back Door"}
 *       {"add_location": "York Coney Street", "recordings": 2}  {"recording": "L3/2", "rename": "Front Door"}
 *       {"location": "L3", "remove": true}                      {"recording": "L3/1", "sees": 0, "at": "-5h"}
 *   GET    /control/ledger               what truly happened: [{at, change, recordingId, locationId, status, value?}]
 *   GET    /control/visits?location=L1   who truly came in the last day and what was counted; or recording=L1/1, from=, to=
 */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { applyChange, findLocation, findRecording, parseChange, scenarioTime } from "./change.ts";
import type { SimulatorContext } from "./context.ts";
import { parsed, SimulatorError } from "./errors.ts";
import type { SimLocation, SimRecording } from "./fleet.ts";
import type { VisitCounts } from "./visits/counts.ts";

const FaultRequest = z.looseObject({ name: z.string() });
const ChangeRequest = z.union([z.looseObject({}).transform((one) => [one]), z.array(z.looseObject({}))]);
const instant = z.iso.datetime().transform(Date.parse).optional();
const VisitsQuery = z
  .strictObject({ location: z.string().optional(), recording: z.string().optional(), from: instant, to: instant })
  .refine(
    ({ location, recording }) => (location === undefined) !== (recording === undefined),
    "name a location or a recording",
  );
/** The range of visits is cut to these. */
const MOST_DAYS = 400;
const BAD_BODY = "The request body cannot be used";

/** Registers the control interface under a path. */
export function registerControl(
  app: FastifyInstance,
  prefix: string,
  { world, faults, clock, visits }: Pick<SimulatorContext, "world" | "faults" | "clock" | "visits">,
): void {
  app.register(
    async (control) => {
      control.setErrorHandler(async (error, _, reply) => {
        if (!(error instanceof SimulatorError)) throw error;
        return reply.code(400).send({ error: error.message });
      });
      control.get("/faults", async () => faults.active());
      control.post("/faults", async (request) => {
        const { name, ...params } = parsed(FaultRequest, request.body, "bad_change", BAD_BODY);
        faults.set(name, params);
        return faults.active();
      });
      control.delete("/faults/:name?", async (request) => {
        const { name } = request.params as { name?: string };
        if (name) faults.clear(name);
        else faults.clearAll();
        return faults.active();
      });
      control.get("/world", async () => ({ locations: world.locations.map(shown) }));
      control.post("/world", async (request) => {
        const before = world.ledger.length;
        const changes = parsed(ChangeRequest, request.body, "bad_change", BAD_BODY).map(({ at = "0s", ...change }) => ({
          change: parseChange(change),
          at:
            clock.now() +
            parsed(scenarioTime.pipe(z.number().max(0, "must not be in the future")), at, "bad_change", BAD_BODY),
        }));
        for (const { change, at } of changes) applyChange(world, change, at);
        return world.ledger.slice(before);
      });
      control.get("/ledger", async () => world.ledger);
      control.get("/visits", async (request) => {
        const {
          location,
          recording,
          to = clock.now(),
          ...given
        } = parsed(VisitsQuery, request.query, "bad_change", "The query cannot be used");
        const from = Math.max(given.from ?? to - DAY_MS, to - MOST_DAYS * DAY_MS);
        const one = recording === undefined ? undefined : findRecording(world, recording);
        const at = one?.location ?? findLocation(world, location ?? "");
        return truthOf(at, one, { from, to }, visits);
      });
    },
    { prefix },
  );
}

function truthOf(
  location: SimLocation,
  recording: SimRecording | undefined,
  span: { from: Instant; to: Instant },
  visits: VisitCounts,
) {
  const asked = { ...span, asOf: Number.POSITIVE_INFINITY };
  const zones = visits.zonesOf(location, ({ taxonomy, entrance }) =>
    recording ? recording.taxonomies.includes(taxonomy) : !!entrance,
  );
  return {
    ...span,
    came: zones.reduce((sum, zone) => sum + visits.trueVisits(location, zone, span), 0),
    counted: visits.count(location, zones, asked, "served", recording),
    ...visits.missed(location, zones, span, recording),
    ...(recording ? {} : { sales: visits.sales(location, asked) }),
    faults: (recording ? [recording] : location.recordings).flatMap((one) =>
      visits.faultsOf(one, span).map((fault) => ({ recordingId: one.id, ...fault })),
    ),
  };
}

function shown({ recordings, ...location }: SimLocation): object {
  return {
    ...location,
    recordings: recordings.map(({ location: _, history: __, lastSeenAt: ___, ...recording }) => recording),
  };
}
