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
 *       {"location": "L3", "remove": true}
 *   GET    /control/ledger               what truly happened: [{at, change, recordingId, locationId, status}]
 */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { applyChange, parseChange } from "./change.ts";
import { parsed, SimulatorError } from "./errors.ts";
import type { Faults } from "./faults.ts";
import type { SimLocation } from "./fleet.ts";
import type { World } from "./world.ts";

const FaultRequest = z.looseObject({ name: z.string() });
const ChangeRequest = z.union([z.looseObject({}).transform((one) => [one]), z.array(z.looseObject({}))]);
const BAD_BODY = "The request body cannot be used";

/** Registers the control interface under a path. */
export function registerControl(
  app: FastifyInstance,
  prefix: string,
  { world, faults }: { world: World; faults: Faults },
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
        faults.setUntyped(name, params);
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
        const changes = parsed(ChangeRequest, request.body, "bad_change", BAD_BODY).map(parseChange);
        for (const change of changes) applyChange(world, change);
        return world.ledger.slice(before);
      });
      control.get("/ledger", async () => world.ledger);
    },
    { prefix },
  );
}

function shown({ recordings, ...location }: SimLocation): object {
  return {
    ...location,
    recordings: recordings.map(({ location: _, history: __, lastSeenAt: ___, ...recording }) => recording),
  };
}
