/**
 * What is stored of the recordings of a sweep beside their own shard: names, other shards that list them or had them before
 * they moved here, and alerts.
 */

import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Alert } from "../health/alert.ts";
import type { Attempt } from "../health/attempt.ts";
import { firingIn, recordingOf, shardOfAlerts } from "../health/known-alerts.ts";
import type { Reading } from "../health/recording.ts";
import { allowedGapMs } from "../health/rhythm.ts";
import type { RecordingState, ShardState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import type { StoredShard } from "../store/shard-document.ts";
import type { Store } from "../store/store.ts";

/** Looking up the names of all recordings costs as much as evaluating them: it is done this often. */
const LOOK_AT_ALL_MS = 30_000;

interface ReadContextDeps {
  readonly firing: Store["firing"];
  readonly assigned: Pick<Assigned, "shardOf">;
  readonly inventory: Pick<Store["inventory"], "recording" | "saveRecordings">;
  readonly store: Pick<Store["shards"], "unstored">;
  readonly statusIntervalMs: number;
  /** Makes sure names are known before they are frozen into labels; never throws, never waits long. */
  nameThem(recordingIds: readonly string[]): Promise<void>;
  /** Undefined where it cannot be read: its own replica notes that, and may be of a later build, which can. */
  read(shard: number): Promise<ShardState | undefined>;
}

interface Swept {
  readonly stored: StoredShard;
  readonly readings: readonly Reading[];
  readonly locationIds: readonly string[];
  readonly attempts: ReadonlyMap<string, Attempt>;
  readonly now: Instant;
}

/** The context of a sweep beside its own shard. */
interface SweepContext {
  /** The shard before the sweep: as it is stored or, where it is not, as its alerts tell. */
  readonly before: StoredShard;
  /** Recordings that another shard evaluates. */
  readonly elsewhere: ReadonlyMap<string, RecordingState>;
  /** Recordings that begin here as another shard left them. */
  readonly begun: ReadonlyMap<string, RecordingState> | undefined;
  /** Alerts that fire in the shard, and are stored nowhere else: they begin to fire again. */
  readonly lost: readonly Alert[];
}

/** Gives `read(shard, …)`. Names are known afterwards, and the inventory has recordings at the locations that list them. */
export function createReadContext(deps: ReadContextDeps) {
  const { assigned, inventory, store, statusIntervalMs, nameThem, read } = deps;
  /** The last look at all recordings of a shard. */
  const lookedAt = new Map<number, Instant>();
  const shardAt = (locationId: string | undefined) => (locationId ? assigned.shardOf(locationId) : undefined);
  const knownAt = (id: string) => inventory.recording(id)?.locationId;

  /** New recordings at once; all of them now and then, for names that could not be read before and alerts that were lost. */
  async function readContext(shard: number, { stored, readings, locationIds, ...swept }: Swept): Promise<SweepContext> {
    const { now } = swept;
    const last = lookedAt.get(shard) ?? 0;
    const all = now < last || now - last >= LOOK_AT_ALL_MS;
    if (all) lookedAt.set(shard, now);
    const fresh = readings.filter(({ recordingId }) => !stored.state.recordings.has(recordingId));
    const isLost = stored.nonce === "";
    const firing = isLost || fresh.length > 0 ? await deps.firing() : [];
    const before = isLost ? { ...stored, state: shardOfAlerts(firing, locationIds, now) } : stored;
    const { recordings } = before.state;
    const named = all ? readings : fresh;
    const ids = named.map(({ recordingId }) => recordingId);
    if (all) await nameThem([...new Set([...recordings.keys(), ...ids])]);
    else if (ids.length > 0) await nameThem(ids);
    const known = new Set(ids);
    recordings.forEach(({ id, alerts, absentSince }) => {
      if (all || alerts || absentSince !== undefined) known.add(id);
    });
    const elsewhere = await listedElsewhere(shard, known, swept);
    const isHere = ({ recordingId }: Reading) => !elsewhere.has(recordingId);
    const taken = new Set(fresh.filter(isHere).map(({ recordingId }) => recordingId));
    const begun = taken.size > 0 ? await begunElsewhere(shard, taken, firing) : undefined;
    await noteMoves(shard, named.filter(isHere));
    return { before, elsewhere, begun, lost: all ? await lostOf(before.state, now) : [] };
  }

  async function lostOf(state: ShardState, now: Instant): Promise<readonly Alert[]> {
    const own = firingIn(state, now);
    const unstored = await store.unstored(own.map(({ id }) => id));
    return own.filter(({ id }) => unstored.has(id));
  }

  /**
   * A recording listed at locations of two shards belongs to the one of its known location, while that is swept and
   * lists it: one that moved is let go there first. Where answers lack recordings only a reading proves that one is listed:
   * those whose absence is not believed are kept as present.
   */
  async function listedElsewhere(
    shard: number,
    ids: ReadonlySet<string>,
    { attempts, now }: Pick<Swept, "attempts" | "now">,
  ) {
    const elsewhere = new Map<string, RecordingState>();
    for (const [other, here] of Map.groupBy(ids, (id) => shardAt(knownAt(id)))) {
      const state = other === undefined || other === shard ? undefined : await read(other);
      if (!state || now - state.sweptAt > allowedGapMs(state.gaps, statusIntervalMs)) continue;
      const isWhole = !attempts.get(`shard:${other}`)?.absent;
      for (const id of here) {
        const one = state.recordings.get(id);
        const isListed = one && one.absentSince === undefined && (isWhole || one.readAt === state.sweptAt);
        if (isListed) elsewhere.set(id, one);
      }
    }
    return elsewhere;
  }

  /**
   * New recordings as they were where they are known, or where an alert about them began: that shard lets them go without
   * ending what goes on here. Where no shard has one any more, its alerts tell of it.
   */
  async function begunElsewhere(shard: number, ids: ReadonlySet<string>, firing: readonly Alert[]) {
    const about = Map.groupBy(firing, ({ subject }) => (subject.kind === "recording" ? subject.id : undefined));
    const places = [...ids].flatMap((id) => {
      const labels = about.get(id)?.map((alert) => alert.labels.location_id) ?? [];
      return [knownAt(id), ...labels].map((place) => ({ id, other: shardAt(place) }));
    });
    const begun = new Map<string, RecordingState>();
    for (const [other, here] of Map.groupBy(places, (place) => place.other)) {
      const state = other === undefined || other === shard ? undefined : await read(other);
      for (const { id } of here) {
        const one = state?.recordings.get(id);
        if (one) begun.set(id, one);
      }
    }
    for (const id of ids) {
      const alerts = about.get(id);
      if (alerts && !begun.has(id)) begun.set(id, recordingOf(id, alerts));
    }
    return begun;
  }

  /** The inventory learns of recordings that are here, not in the shard of their known location: none is missing there. */
  async function noteMoves(shard: number, readings: readonly Reading[]): Promise<void> {
    const moved = readings.flatMap(({ recordingId, locationId }) => {
      const known = inventory.recording(recordingId);
      const isHere = !known || !locationId || assigned.shardOf(known.locationId) === shard;
      return isHere ? [] : [{ ...known, locationId }];
    });
    if (moved.length > 0) await inventory.saveRecordings(moved);
  }

  return readContext;
}
