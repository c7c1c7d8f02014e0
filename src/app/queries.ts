/** Queries of the HTTP API: few at once, none while the service is in trouble, and each ends in time. */

import { locationsOf, rowsAt } from "../health/fleet-locations.ts";
import type { Location, Recording } from "../health/recording.ts";
import { type FleetSnapshot, ROWS_PER_STEP } from "../health/shard-state.ts";
import type { HttpDeps } from "../http/deps.ts";
import { HttpError } from "../http/errors.ts";
import { runYielding } from "../lib/yield.ts";
import { QueryError, toAsk } from "../query/ask.ts";
import { type Directory, runQuery } from "../query/query.ts";
import { ServiceError } from "../service/service.ts";
import type { Setup } from "./setup.ts";

/** Each has one request in flight, so that sweeps always come through. */
const MOST_AT_ONCE = 2;
const RETRY_AFTER_S = 5;
/** Shorter than the HTTP server's limit for an answer. */
const DEADLINE_MS = 7_000;
const MOST_ROWS = 10_000;

interface QueriesDeps {
  readonly clock: { now(): number };
  setup(): Setup;
  /** Endpoints of the service that did not answer the last time. */
  endpointsDown(): readonly string[];
}

export function createQueries({ clock, setup, endpointsDown }: QueriesDeps): HttpDeps["query"] {
  let running = 0;
  return async (route, options) => {
    const { service, config, engine } = setup();
    const down = endpointsDown();
    if (down.length > 0)
      throw new HttpError("unavailable", `The service does not answer (${down.join(", ")}): try again once it does.`);
    if (running >= MOST_AT_ONCE)
      throw new HttpError(
        "too_many_queries",
        `Other queries are running: try again in ${RETRY_AFTER_S} s.`,
        undefined,
        RETRY_AFTER_S,
      );
    running += 1;
    const signal = AbortSignal.timeout(DEADLINE_MS);
    try {
      const ask = toAsk(route, options, clock.now());
      return await runQuery(ask, {
        ...{ service, signal, now: clock.now(), mostRows: MOST_ROWS },
        directory: directoryOf(await engine.fleet()),
        locationsPerRequest: config.watch.locationsPerRequest,
        attempt: (request) => request(),
      });
    } catch (thrown) {
      throw toHttpError(thrown, signal.aborted);
    } finally {
      running -= 1;
    }
  };
}

function toHttpError(thrown: unknown, isLate: boolean): unknown {
  const late = `No answer within ${DEADLINE_MS / 1000} s: ask for fewer locations or a shorter span.`;
  if (isLate) return new HttpError("unavailable", late, thrown);
  if (thrown instanceof QueryError) return new HttpError("bad_query", `${thrown.message}.`);
  return thrown instanceof ServiceError ? new HttpError("unavailable", thrown.message, thrown) : thrown;
}

/** As the daemon knows the watched fleet. */
function directoryOf(fleet: FleetSnapshot): Directory {
  const { inventory } = fleet;
  return {
    async locations() {
      const ids = (await runYielding(locationsOf(fleet))).keys();
      return [...ids].map((id): Location => inventory.location(id) ?? { id, name: undefined, timezone: undefined });
    },
    async recordings({ locations, ids }) {
      return await runYielding(recordingsIn(fleet, new Set(locations), new Set(ids)));
    },
  };
}

/** Those with the ids, where there are any, else those at the locations. */
function* recordingsIn(fleet: FleetSnapshot, places: ReadonlySet<string>, ids: ReadonlySet<string>) {
  const found: Recording[] = [];
  const all = (yield* locationsOf(fleet)).values();
  let rows = 0;
  for (const row of rowsAt(ids.size > 0 ? all : all.filter(({ id }) => places.has(id)))) {
    if (++rows % ROWS_PER_STEP === 0) yield;
    if (ids.size === 0 || ids.has(row.id)) found.push(fleet.inventory.recording(row.id) ?? unnamed(row));
  }
  return found;
}

function unnamed({ id, locationId }: { readonly id: string; readonly locationId: string }): Recording {
  return { id, name: id, organisation: "", cameraServer: "", locationId, useUploadingSchedule: false, timezone: "UTC" };
}
