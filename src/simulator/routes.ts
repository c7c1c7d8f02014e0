/** What each of the six routes answers. */
import { type SocketRoute, socketRoutes } from "./faults.ts";
import type { SimRecording } from "./fleet.ts";
import { metricPayload } from "./metrics.ts";
import { DetailBody, MetricBody, parseRequest, RequestError, StatusBody } from "./requests.ts";
import type { SimulatorContext } from "./simulator.ts";
import { statusRows } from "./status-rows.ts";
import type { World } from "./world.ts";

/** The route of a request (contract: "Routes"). Throws RequestError where there is none of that action and name. */
export function routeNamed(action: string, name: string): SocketRoute {
  const route = socketRoutes.find((known) => known === name);
  const expected = route === "status/uptime" ? "status" : route === "detail/list" ? "detail" : "metric";
  if (route && action === expected) return route;
  throw new RequestError("unknown_route", `no route ${name} under action ${action}`);
}

/** The payload of a request. Throws RequestError for a body the contract does not allow. */
export function answer(route: SocketRoute, body: unknown, context: SimulatorContext): unknown {
  const { world } = context;
  switch (route) {
    case "status/uptime": {
      const { entities, entityType } = parseRequest(StatusBody, body);
      return statusRows(recordingsOf(entities, entityType, world), context);
    }
    case "detail/list": {
      const { entities, entityType } = parseRequest(DetailBody, body);
      return recordingsOf(entities, entityType, world).map(({ id, taxonomy }) => ({
        area_type: "taxonomy",
        taxonomy,
        recording_id: id,
      }));
    }
    default: {
      const metric = parseRequest(MetricBody, body);
      const locations = [...new Set(metric.entities)].flatMap((id) => world.location(id) ?? []);
      return metricPayload(route, metric, locations, context);
    }
  }
}

/** Recordings of the entities that exist, in the order asked, each once. */
function recordingsOf(entities: readonly string[], entityType: "location" | "recording", world: World): SimRecording[] {
  return [...new Set(entities)].flatMap((id) =>
    entityType === "location" ? (world.location(id)?.recordings ?? []) : (world.recording(id) ?? []),
  );
}
