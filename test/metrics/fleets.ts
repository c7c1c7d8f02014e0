/** Fleets for tests: small ones by their recordings, large ones by number. */
import type { AlertState } from "../../src/health/alert-machine.ts";
import type { Location, Recording } from "../../src/health/recording.ts";
import type { FleetSnapshot, RecordingState, ShardState } from "../../src/health/shard-state.ts";
import type { KnownLabels } from "../../src/metrics/metrics.ts";
import { anAlertState, aRecording, aRecordingState } from "../support/fixtures.ts";

export const NOW = Date.parse("2026-01-31T12:00:00.000Z");
export const INTERVAL = 30_000;

/** A recording read as online just now, with changes. */
export function recordingState(id: string, differing: Partial<RecordingState> = {}): RecordingState {
  const [readAt, lastSeenAt] = [NOW - 10_000, NOW - 12_500];
  const seen = { readAt, lastSeenAt, averageQuality: 0.92 };
  return aRecordingState(id, { ...seen, locationId: "loc-1", since: NOW - 3_600_000, ...differing });
}

export function alertState(alertname: string, differing: Partial<AlertState> = {}): AlertState {
  const times = { startsAt: NOW - 600_000, evidenceAt: NOW, firedAt: NOW - 480_000 };
  return anAlertState({ ...times, labels: { alertname, severity: "critical" }, ...differing });
}

export interface FleetParts {
  readonly recordings?: readonly RecordingState[];
  readonly names?: Readonly<Record<string, string>>;
  readonly locations?: readonly { id: string; name?: string; alerts?: RecordingState["alerts"] }[];
  readonly uptimes?: Readonly<Record<string, number>>;
  readonly shards?: readonly ShardState[];
}

/** One shard of these recordings, unless shards are given. */
export function fleetOf(parts: FleetParts): FleetSnapshot {
  const { recordings = [], names = {}, locations = [{ id: "loc-1", name: "Leeds" }], uptimes = {} } = parts;
  const known = new Map(locations.map((location) => [location.id, location]));
  return {
    now: NOW,
    statusIntervalMs: INTERVAL,
    shards: parts.shards ?? [
      {
        sweptAt: NOW,
        recordings: new Map(recordings.map((state) => [state.id, state])),
        locations: new Map(locations.map(({ id, alerts }) => [id, { id, alerts }])),
      },
    ],
    inventory: {
      recording: (id) => (names[id] === undefined ? undefined : recording(id, names[id])),
      location: (id): Location | undefined => {
        const location = known.get(id);
        return location && { id, name: location.name, timezone: "Europe/London" };
      },
    },
    overallUptime: (id) => uptimes[id],
  };
}

function recording(id: string, name: string): Recording {
  return aRecording(id, { name, locationId: "loc-1", organisation: "org", cameraServer: "cs", timezone: "UTC" });
}

/** `size` recordings over 100 shards, `perLocation` a location, each with a name and an uptime. */
export function largeFleet(size: number, perLocation = 5): FleetSnapshot {
  const shards = Array.from({ length: 100 }, () => new Map<string, RecordingState>());
  const inventory = new Map<string, Recording>();
  for (let i = 0; i < size; i += 1) {
    const id = (i * 7919).toString(16).padStart(24, "0");
    const locationId = Math.floor(i / perLocation)
      .toString(16)
      .padStart(24, "g");
    const status = i % 50 === 0 ? "offline" : "online";
    shards[Math.floor(i / perLocation) % 100]?.set(id, recordingState(id, { locationId, status }));
    inventory.set(id, { ...recording(id, `Camera ${i} über dem Eingang`), locationId });
  }
  return {
    now: NOW,
    statusIntervalMs: INTERVAL,
    shards: shards.map((recordings) => ({ sweptAt: NOW, recordings, locations: new Map() })),
    inventory: {
      recording: (id) => inventory.get(id),
      location: (id) => ({ id, name: `Shop ${id}`, timezone: undefined }),
    },
    overallUptime: () => 0.987654,
  };
}

/** `size` recordings that were never read: as fast to make as a large fleet can be. */
export function unreadFleet(size: number): FleetSnapshot {
  const state = recordingState("rec", { readAt: 0 });
  return fleetOf({ recordings: Array.from({ length: size }, (_, i) => ({ ...state, id: `rec-${i}` })) });
}

export const NO_LABELS: KnownLabels = {
  endpoints: [],
  outcomes: [],
  protocolErrors: [],
  suppressReasons: [],
  queues: [],
  heartbeats: [],
  integrations: [],
};
