/** What each of the six routes answers. */
import type { Clock } from "../lib/clock.ts";
import type { Faults, SocketRoute } from "./faults.ts";
import { socketRoutes } from "./faults.ts";
import type { SimRecording } from "./fleet.ts";
import type { HourCalendar } from "./local-time.ts";
import { metricPayload } from "./metrics.ts";
import { actionOf, DetailBody, MetricBody, parseRequest, RequestError, StatusBody } from "./requests.ts";
import { applyRowFaults, statusRows } from "./status-rows.ts";
import type { World } from "./world.ts";

export interface RouteDeps {
  readonly world: World;
  readonly faults: Faults;
  readonly calendar: HourCalendar;
  readonly clock: Clock;
  readonly offlineOutsideSchedule: boolean;
}

/** The route of a request. Throws RequestError where there is none of that action and name. */
export function routeNamed(action: string, name: string): SocketRoute {
  const route = socketRoutes.find((known) => known === name);
  if (route && actionOf[route] === action) return route;
  throw new RequestError("unknown_route", `no route ${name} under action ${action}`);
}

/** The payload of a request. Throws RequestError for a body the contract does not allow. */
export function answer(route: SocketRoute, body: unknown, deps: RouteDeps): unknown {
  switch (route) {
    case "status/uptime": {
      const { entities, entityType } = parseRequest(StatusBody, body);
      const recordings = recordingsOf(entities, entityType, deps.world);
      return applyRowFaults(statusRows(recordings, deps.clock.now(), deps.offlineOutsideSchedule), deps.faults);
    }
    case "detail/list": {
      const { entities, entityType } = parseRequest(DetailBody, body);
      return recordingsOf(entities, entityType, deps.world).map(({ id, taxonomy }) => ({
        area_type: "taxonomy",
        taxonomy,
        recording_id: id,
      }));
    }
    default: {
      const metric = parseRequest(MetricBody, body);
      const locations = [...new Set(metric.entities)].flatMap((id) => deps.world.location(id) ?? []);
      const { calendar, world, clock } = deps;
      return metricPayload(route, metric, locations, { calendar, startedAt: world.startedAt, now: clock.now() });
    }
  }
}

/** Recordings of the entities that exist, in the order asked, each once. */
function recordingsOf(entities: readonly string[], entityType: "location" | "recording", world: World): SimRecording[] {
  return [...new Set(entities)].flatMap((id) =>
    entityType === "location" ? (world.location(id)?.recordings ?? []) : (world.recording(id) ?? []),
  );
}
