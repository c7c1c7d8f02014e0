/** Every recording of the fleet once, in chunks. */
import type { RecordingStatus } from "../health/recording.ts";
import { Rows } from "../health/rows.ts";
import { currentStatus, type FleetSnapshot, type RecordingState, recordingsById } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import { DAY_MS } from "../lib/clock.ts";

/** Which recordings have series of their own; by default all of up to `MOST_BY_DEFAULT`, of more none. */
export type PerRecording = "all" | "off";

export const MOST_BY_DEFAULT = 100_000;

/** What takes about a millisecond to render. */
export const ROWS_PER_BLOCK = 1_024;

/** A recording as it is now, and what it counts towards. */
export interface Member {
  readonly id: string;
  readonly locationId: string;
  readonly alerts: RecordingState["alerts"];
  readonly history: RecordingState["history"];
  readonly lastSeenAt: RecordingState["lastSeenAt"];
  readonly averageQuality: RecordingState["averageQuality"];
  readonly status: RecordingStatus;
  /** Of 24 hours; undefined where there is no figure, or no good reading. */
  readonly uptime: number | undefined;
  readonly organisation: string;
  readonly cameraServer: string;
}

/** The recordings of a shard at the last scrape, and what they belong to: look-ups are the most of a scrape. */
interface Roster {
  readonly ids: readonly string[];
  readonly organisations: readonly string[];
  readonly cameraServers: readonly string[];
}

interface Known {
  readonly rosters: readonly Roster[];
  /** Whether each recording stands in one shard. */
  readonly isOnce: boolean;
  /** The revision of the inventory. */
  readonly names: number | undefined;
}

type Recordings = FleetSnapshot["shards"][number]["recordings"];

/** Keeps who was there at the last scrape. Gives the number of recordings, and chunks of a shard's members. */
export function createMembers() {
  let known: Known = { rosters: [], isOnce: false, names: undefined };

  return function* (snapshot: FleetSnapshot) {
    const { shards, inventory } = snapshot;
    const names = inventory.revision?.();
    const before = known;
    const hasSameNames = names !== undefined && names === before.names;
    const isSame: boolean[] = [];
    for (const [i, { recordings }] of shards.entries()) {
      isSame.push(hasIds(recordings, before.rosters[i]?.ids));
      yield "";
    }
    const isKnown = before.isOnce && before.rosters.length === shards.length && isSame.every(Boolean);
    const found = isKnown
      ? { fleet: shards.map(({ recordings }) => recordings), isOnce: true }
      : yield* eachOnce(shards);
    const rosters: Roster[] = [];
    for (const [i, recordings] of found.fleet.entries()) {
      const roster = isKnown && hasSameNames ? before.rosters[i] : undefined;
      rosters.push(roster ?? newRoster(recordings, inventory));
      yield "";
    }
    known = { rosters, isOnce: found.isOnce, names };
    return {
      count: found.fleet.reduce((sum, { size }) => sum + size, 0),
      *chunks(): Generator<{ readonly shard: number; readonly members: readonly Member[] }> {
        for (const [shard, recordings] of found.fleet.entries()) {
          const rows = Rows.of({ sweptAt: 0, recordings });
          let row = 0;
          for (const ids of chunksOf(rows.states.ids, ROWS_PER_BLOCK))
            yield { shard, members: ids.map((id) => memberOf(id, rows, snapshot, rosters[shard], row++)) };
        }
      },
    };
  };
}

function memberOf(id: string, rows: Rows, snapshot: FleetSnapshot, roster: Roster | undefined, row: number): Member {
  const { readAt, lastSeenAt, averageQuality } = rows.movedAt(row);
  const { states } = rows;
  const status = currentStatus({ status: states.statuses[row], readAt }, snapshot.now, snapshot.statusIntervalMs);
  return {
    id,
    locationId: states.locationIds[row] as string,
    ...states.more(row),
    status,
    lastSeenAt,
    averageQuality,
    uptime: status === "unknown" ? undefined : snapshot.overallUptime(id, DAY_MS),
    organisation: roster?.organisations[row] ?? "",
    cameraServer: roster?.cameraServers[row] ?? "",
  };
}

function hasIds(recordings: Recordings, ids: readonly string[] | undefined): boolean {
  if (recordings.size !== ids?.length) return false;
  let row = 0;
  for (const id of recordings.keys()) if (id !== ids[row++]) return false;
  return true;
}

function newRoster(states: Recordings, inventory: FleetSnapshot["inventory"]): Roster {
  const ids = [...states.keys()];
  const recordings = ids.map((id) => inventory.recording(id));
  return {
    ids,
    organisations: recordings.map((recording) => recording?.organisation ?? ""),
    cameraServers: recordings.map((recording) => recording?.cameraServer ?? ""),
  };
}

/** The recordings by shard; of one that stands in two, the later reading alone. */
function* eachOnce(shards: FleetSnapshot["shards"]) {
  const walk = recordingsById({ shards });
  let step = walk.next();
  for (; !step.done; step = walk.next()) yield "";
  const byId = step.value;
  const fleet: Recordings[] = [];
  for (const { recordings } of shards) {
    fleet.push(new Map(recordings.entries().filter(([id, state]) => byId.get(id) === state)));
    yield "";
  }
  return { fleet, isOnce: shards.reduce((sum, { recordings }) => sum + recordings.size, 0) === byId.size };
}
