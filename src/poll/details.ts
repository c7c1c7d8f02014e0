/** The zones that recordings cover, for messages and counts. Read in the background, and stored: no alert waits for it. */
import type { LocationZones } from "../alerting/impact.ts";
import { chunksOf } from "../lib/chunks.ts";
import { toError } from "../lib/errors.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { AreaContext, Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import { askSlowly } from "./ask-slowly.ts";
import type { PollContext } from "./commit.ts";

const ZONES_PER_RECORDING = 20;
const ZONE_LENGTH = 200;
/** A failed request is repeated after this long, and longer and longer up to `inventory_interval`. */
const RETRY_MS = 60_000;
/** Each waits most of the time (`askSlowly`). */
export const SHARDS_AT_ONCE = 4;

interface RefreshDetailsDeps extends Pick<PollContext, "clock" | "log"> {
  readonly service: Pick<Service, "areaContexts">;
  readonly store: Pick<Store, "shards" | "zones">;
  readonly assigned: Pick<PollContext["assigned"], "locations">;
  readonly locationsPerRequest: number;
  /** Ends the work between two requests. */
  readonly signal: AbortSignal;
}

type DetailsWorkDeps = RefreshDetailsDeps &
  Pick<PollContext, "queues" | "assigned" | "statusIntervalMs"> & {
    readonly inventoryIntervalMs: number;
    readonly refreshCounts: (shard: number) => Promise<"done" | "not_swept">;
  };

/** The worker of a few shards at a time, of their zones or their counts. */
export function createDetailsWork(deps: DetailsWorkDeps): { start(): Promise<void> } {
  const { clock, queues, assigned, statusIntervalMs, inventoryIntervalMs } = deps;
  const failures = new Map<number, number>();
  const refresh = createRefreshDetails(deps);
  const retryMs = (failed: number) =>
    Math.min(RETRY_MS * 2 ** Math.min(20, failed - 1), Math.max(RETRY_MS, inventoryIntervalMs));

  async function again(shard: number, delayMs: number, job?: string): Promise<void> {
    if (!assigned.shards().includes(shard)) return;
    const id = `${job ?? "details"}-${shard}-${Math.ceil((clock.now() + delayMs) / delayMs)}`;
    await queues.add("details", { shard, job }, { id, delayMs });
  }

  return {
    start: () =>
      queues.work("details", SHARDS_AT_ONCE, async ({ data }) => {
        const shard = Number(data.shard);
        if (data.job === "counts") {
          if ((await deps.refreshCounts(shard)) === "not_swept") await again(shard, statusIntervalMs, "counts");
          return;
        }
        const outcome = await refresh(shard);
        const failed = outcome === "failed" ? (failures.get(shard) ?? 0) + 1 : 0;
        failures.set(shard, failed);
        // A shard that was not swept yet is asked for again.
        if (outcome === "not_swept") await again(shard, statusIntervalMs);
        if (failed > 0) await again(shard, retryMs(failed));
      }),
  };
}

/**
 * Gives `refresh(shard)`. That any shard fails is logged once, and what was stored stays. `not_swept`: the recordings of
 * the shard are not known yet.
 */
export function createRefreshDetails(deps: RefreshDetailsDeps) {
  const { store, log, clock, signal } = deps;
  const failing = new Set<number>();

  function note(shard: number, err: Error | undefined): void {
    const wereFailing = failing.size > 0;
    if (err) failing.add(shard);
    else failing.delete(shard);
    if (err && wereFailing) log.debug({ err, shard }, "zones still not read");
    else if (err && !signal.aborted) log.warn({ err, shard }, "zones not read, sending messages without them");
    else if (wereFailing && failing.size === 0) log.info({ shard }, "zones read again");
  }

  return async (shard: number): Promise<"done" | "failed" | "not_swept"> => {
    const { sweptAt, recordings } = (await store.shards.read(shard)).state;
    if (sweptAt === 0) return "not_swept";
    const read = refreshZones(deps, deps.assigned.locations(shard), recordings);
    const error = await read.then(() => undefined, toError);
    note(shard, error);
    await store.shards.noteAttempt(`details:${shard}`, clock.now(), error?.message);
    return error ? "failed" : "done";
  };
}

type ByRecording = ReadonlyMap<string, { readonly locationId: string }>;

async function refreshZones(deps: RefreshDetailsDeps, locations: readonly string[], recordings: ByRecording) {
  for (const entities of chunksOf(locations, deps.locationsPerRequest)) {
    const { contexts } = await askSlowly(deps.signal, () =>
      deps.service.areaContexts({ entities, entityType: "location" }, deps.signal),
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
