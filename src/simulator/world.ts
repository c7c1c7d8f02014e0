/**
 * The true state of the fleet. Every change is written to the ledger with its time, so that alerts can be compared with
 * what happened.
 */

import { EventEmitter } from "node:events";
import type { Clock, Instant } from "../lib/clock.ts";
import { SimulatorError } from "./errors.ts";
import {
  type MutableLocation,
  type MutableRecording,
  makeFleet,
  makeLocation,
  makeRecording,
  type SimLocation,
  type SimRecording,
} from "./fleet.ts";

export type LedgerChange = "status" | "quality" | "schedule" | "added" | "removed" | "renamed";

/** One change of one recording; `status` is what it was from then on. */
export interface LedgerEntry {
  readonly at: Instant;
  readonly change: LedgerChange;
  readonly recordingId: string;
  readonly locationId: string;
  readonly status: string;
}

/** A recording's id, or every recording of a location. */
export type Target = string | { readonly locationId: string };

/** Oldest entries are dropped beyond these many. */
const LEDGER_LIMIT = 500_000;
const HISTORY_LIMIT = 5_000;

export interface WorldOptions {
  readonly seed: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly clock: Clock;
  readonly events: SimulatorEvents;
}

export class World {
  readonly seed: number;
  /** When the world began to be watched; the seeded past lies before. */
  readonly startedAt: Instant;
  readonly #clock: Clock;
  readonly #events: SimulatorEvents;
  readonly #locations = new Map<string, MutableLocation>();
  readonly #recordings = new Map<string, MutableRecording>();
  readonly #ledger: LedgerEntry[] = [];
  #locationsMade: number;
  #recordingsMade: number;

  constructor(options: WorldOptions) {
    this.seed = options.seed;
    this.#clock = options.clock;
    this.#events = options.events;
    this.startedAt = options.clock.now();
    for (const location of makeFleet(options.seed, options.locations, options.recordingsPerLocation)) {
      this.#locations.set(location.id, location);
      for (const recording of location.recordings) this.#recordings.set(recording.id, recording);
    }
    this.#locationsMade = options.locations;
    this.#recordingsMade = options.recordingsPerLocation;
  }

  get locations(): readonly SimLocation[] {
    return [...this.#locations.values()];
  }

  get recordings(): readonly SimRecording[] {
    return [...this.#recordings.values()];
  }

  /** What truly happened since the start, in order of time as applied. */
  get ledger(): readonly LedgerEntry[] {
    return this.#ledger;
  }

  location(id: string): SimLocation | undefined {
    return this.#locations.get(id);
  }

  recording(id: string): SimRecording | undefined {
    return this.#recordings.get(id);
  }

  /** Any string may be a status: the service may say a word nobody has heard. `at` defaults to now. */
  setStatus(target: Target, status: string, at: Instant = this.#clock.now()): void {
    for (const recording of this.#targets(target)) {
      if (recording.status === status) continue;
      if (status === "offline") recording.lastSeenAt = at;
      recording.status = status;
      recording.history.push({ at, status });
      if (recording.history.length > HISTORY_LIMIT) recording.history.shift();
      this.#write("status", recording, at);
    }
  }

  /** Fraction 0–1, or null where the service has no figure. */
  setQuality(target: Target, quality: number | null, at: Instant = this.#clock.now()): void {
    for (const recording of this.#targets(target)) {
      if (recording.quality === quality) continue;
      recording.quality = quality;
      this.#write("quality", recording, at);
    }
  }

  setSchedule(target: Target, useUploadingSchedule: boolean, at: Instant = this.#clock.now()): void {
    for (const recording of this.#targets(target)) {
      if (recording.useUploadingSchedule === useUploadingSchedule) continue;
      recording.useUploadingSchedule = useUploadingSchedule;
      this.#write("schedule", recording, at);
    }
  }

  /** A new recording, online, in a location. */
  addRecording(locationId: string, name?: string, at: Instant = this.#clock.now()): SimRecording {
    const location = this.#mustHave(locationId);
    const recording = makeRecording(this.seed, location, this.#recordingsMade++, { name });
    location.recordings.push(recording);
    this.#recordings.set(recording.id, recording);
    this.#write("added", recording, at);
    return recording;
  }

  removeRecording(recordingId: string, at: Instant = this.#clock.now()): void {
    for (const recording of this.#targets(recordingId)) {
      const siblings = recording.location.recordings;
      siblings.splice(siblings.indexOf(recording), 1);
      this.#recordings.delete(recording.id);
      this.#write("removed", recording, at);
    }
  }

  /** A new location with so many recordings, all online. */
  addLocation(
    given: { name?: string | undefined; timezone?: string | undefined; recordings?: number | undefined } = {},
    at: Instant = this.#clock.now(),
  ): SimLocation {
    const location = makeLocation(this.seed, this.#locationsMade++, given);
    this.#locations.set(location.id, location);
    for (let i = 0; i < (given.recordings ?? 1); i++) {
      const recording = makeRecording(this.seed, location, i);
      location.recordings.push(recording);
      this.#recordings.set(recording.id, recording);
      this.#write("added", recording, at);
    }
    return location;
  }

  removeLocation(locationId: string, at: Instant = this.#clock.now()): void {
    const location = this.#mustHave(locationId);
    for (const recording of [...location.recordings]) this.removeRecording(recording.id, at);
    this.#locations.delete(locationId);
  }

  renameRecording(recordingId: string, name: string, at: Instant = this.#clock.now()): void {
    for (const recording of this.#targets(recordingId)) {
      recording.name = name;
      this.#write("renamed", recording, at);
    }
  }

  /** Renames the location itself; its recordings keep their names. */
  renameLocation(locationId: string, name: string, at: Instant = this.#clock.now()): void {
    const location = this.#mustHave(locationId);
    location.name = name;
    for (const recording of location.recordings) this.#write("renamed", recording, at);
  }

  #targets(target: Target): readonly MutableRecording[] {
    if (typeof target !== "string") return [...this.#mustHave(target.locationId).recordings];
    const recording = this.#recordings.get(target);
    if (recording) return [recording];
    throw new SimulatorError("not_found", `There is no recording ${target}; give the id of one that exists.`);
  }

  #mustHave(locationId: string): MutableLocation {
    const location = this.#locations.get(locationId);
    if (location) return location;
    throw new SimulatorError("not_found", `There is no location ${locationId}; give the id of one that exists.`);
  }

  #write(change: LedgerChange, recording: MutableRecording, at: Instant): void {
    const { id, location, status } = recording;
    const entry = { at, change, recordingId: id, locationId: location.id, status };
    this.#ledger.push(entry);
    if (this.#ledger.length > LEDGER_LIMIT) this.#ledger.splice(0, LEDGER_LIMIT / 10);
    this.#events.emit("change", entry);
  }
}

/** A request that has been dealt with, over HTTP or the socket; `endpoint` is a name, never an address. */
export interface RequestEvent {
  readonly transport: "http" | "socket";
  readonly endpoint: string;
  /** HTTP: the status. Socket: `answered`, `error` or `ignored`. */
  readonly outcome: number | "answered" | "error" | "ignored";
  /** The caller's request id, on the socket. */
  readonly id?: string;
  /** The body as parsed; never the token request's. */
  readonly body?: unknown;
  readonly at: Instant;
}

export interface SocketEvent {
  readonly type: "opened" | "refused" | "closed";
  /** Number of the connection, from 1; 0 for one that was refused. */
  readonly connection: number;
  /** Open connections after this event. */
  readonly open: number;
}

export interface FaultSwitch {
  readonly type: "set" | "cleared";
  readonly name: string;
}

export interface SimulatorEventMap {
  request: [RequestEvent];
  socket: [SocketEvent];
  change: [LedgerEntry];
  fault: [FaultSwitch];
}

/** What happens inside, for tests to wait on: `once(simulator.events, "change")`. */
export type SimulatorEvents = EventEmitter<SimulatorEventMap>;

export function createEvents(): SimulatorEvents {
  return new EventEmitter<SimulatorEventMap>().setMaxListeners(0);
}
