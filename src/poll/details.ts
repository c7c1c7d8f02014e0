/** The zones that recordings cover, for messages and counts. Read in the background, and stored: no alert waits for it. */
import type { LocationZones } from "../alerting/impact.ts";
import { chunksOf } from "../lib/chunks.ts";
import { toError } from "../lib/errors.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { AreaContext, Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import { askSlowly } from "./ask-slowly.ts";
import type { PollContext } from "./commit.ts";
import { createFailureLog } from "./rounds.ts";

const ZONES_PER_RECORDING = 20;
const ZONE_LENGTH = 200;

interface RefreshDetailsDeps extends Pick<PollContext, "clock" | "log"> {
  readonly service: Pick<Service, "areaContexts">;
  readonly store: Pick<Store, "shards" | "zones">;
  readonly assigned: Pick<PollContext["assigned"], "locations">;
  readonly locationsPerRequest: number;
}

/** Gives `refresh(shard, signal)`; where it fails, what was stored stays. Ends between two requests once the signal is aborted. */
export function createRefreshDetails(deps: RefreshDetailsDeps) {
  const { store, log, clock } = deps;
  const note = createFailureLog(log, "zones not read, sending messages without them", "zones read again");
  return async (shard: number, signal: AbortSignal): Promise<void> => {
    const { sweptAt, recordings } = (await store.shards.read(shard)).state;
    if (sweptAt === 0) return;
    const read = refreshZones(deps, deps.assigned.locations(shard), recordings, signal);
    const error = await read.then(() => undefined, toError);
    if (signal.aborted) return;
    note(shard, error);
    await store.shards.noteAttempt(`details:${shard}`, clock.now(), error?.message);
  };
}

type ByRecording = ReadonlyMap<string, { readonly locationId: string }>;

async function refreshZones(
  deps: RefreshDetailsDeps,
  locations: readonly string[],
  recordings: ByRecording,
  signal: AbortSignal,
) {
  for (const entities of chunksOf(locations, deps.locationsPerRequest)) {
    const { contexts } = await askSlowly(signal, () =>
      deps.service.areaContexts({ entities, entityType: "location" }, signal),
    );
    await deps.store.zones.save(zonesByLocation(entities, contexts, recordings));
  }
}

/** Every location asked for, those without a zone as well; rows of unknown recordings are left out. */
export function zonesByLocation(
  locations: readonly string[],
  contexts: readonly AreaContext[],
  recordings: ByRecording,
): Map<string, LocationZones> {
  const zones = new Map(locations.map((id) => [id, new Map<string, string[]>()]));
  for (const { recordingId = "", taxonomy } of contexts) {
    const own = zones.get(recordings.get(recordingId)?.locationId ?? "");
    const zone = cut(stripControls((taxonomy ?? "").slice(0, 4 * ZONE_LENGTH)).trim(), ZONE_LENGTH);
    if (!own || zone === "") continue;
    const known = own.get(recordingId) ?? [];
    if (known.length < ZONES_PER_RECORDING && !known.includes(zone)) own.set(recordingId, [...known, zone]);
  }
  return zones;
}
