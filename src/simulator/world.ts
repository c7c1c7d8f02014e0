/** The true state of the fleet; every change is written to the ledger, to compare alerts with what happened. */
import type { EventEmitter } from "node:events";
import type { Clock, Instant } from "../lib/clock.ts";
import { SimulatorError } from "./errors.ts";
import {
  type Impairment,
  type ImpairmentKind,
  type MutableLocation,
  type MutableRecording,
  makeFleet,
  makeLocation,
  makeRecording,
  type SimLocation,
  type SimRecording,
  unimpaired,
} from "./fleet.ts";
import { Traits } from "./traits.ts";
import { Visits } from "./visits/parameters.ts";

/** One change of one recording; `status` is what it was from then on. */
export interface LedgerEntry {
  readonly at: Instant;
  readonly change: "status" | "quality" | "schedule" | "added" | "removed" | "renamed" | ImpairmentKind;
  readonly recordingId: string;
  readonly locationId: string;
  readonly status: string;
  /** The value of an impairment, from then on. */
  readonly value?: number | boolean;
}

/** A recording's id, or a location and all its recordings. */
export type Target = string | { readonly locationId: string };

/** Oldest entries are dropped beyond these many. */
const LEDGER_LIMIT = 500_000;
const HISTORY_LIMIT = 5_000;

export interface WorldOptions {
  /** Any whole number: the same one gives the same world. */
  readonly seed: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly clock: Clock;
  readonly events: SimulatorEvents;
  readonly traits?: Traits;
  readonly visits?: Visits;
}

export class World {
  readonly #given: WorldOptions & { readonly traits: Traits; readonly visits: Visits };
  /** The time from which the world is watched; the seeded past lies before. */
  readonly startedAt: Instant;
  readonly #locations = new Map<string, MutableLocation>();
  readonly #recordings = new Map<string, MutableRecording>();
  readonly #ledger: LedgerEntry[] = [];
  #locationsMade: number;
  #recordingsMade: number;

  constructor(options: WorldOptions) {
    const { seed, locations, recordingsPerLocation, traits = Traits.parse({}), visits = Visits.parse({}) } = options;
    this.#given = { ...options, traits, visits };
    this.startedAt = options.clock.now();
    for (const location of makeFleet(seed, locations, recordingsPerLocation, this.#given)) {
      this.#locations.set(location.id, location);
      for (const recording of location.recordings) this.#recordings.set(recording.id, recording);
    }
    this.#locationsMade = locations;
    this.#recordingsMade = recordingsPerLocation;
  }

  get locations(): readonly SimLocation[] {
    return [...this.#locations.values()];
  }

  get recordings(): readonly SimRecording[] {
    return [...this.#recordings.values()];
  }

  /** The true changes since the start, in order of time as applied. */
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
  setStatus(target: Target, status: string, at: Instant = this.#given.clock.now()): void {
    this.#change("status", target, at, (recording) => {
      if (recording.status === status) return false;
      if (status === "offline") recording.lastSeenAt = at;
      recording.status = status;
      if (recording.history.push({ at, status }) > HISTORY_LIMIT) recording.history.shift();
      recording.history.sort((a, b) => a.at - b.at);
      return true;
    });
  }

  /** Fraction 0–1, or null where the service has no figure. */
  setQuality(target: Target, quality: number | null, at?: Instant): void {
    this.#change("quality", target, at, (recording) => set(recording, "quality", quality));
  }

  setSchedule(target: Target, useUploadingSchedule: boolean, at?: Instant): void {
    this.#change("schedule", target, at, (recording) => set(recording, "useUploadingSchedule", useUploadingSchedule));
  }

  /** Impairs a recording from `at` on; the usual value ends what is not yet over. Returns what began. */
  impair(target: Target, kind: ImpairmentKind, value: number | boolean, at = this.#given.clock.now()): Impairment[] {
    const begun: Impairment[] = [];
    const isLasting = (one: Impairment) => one.kind === kind && one.until > at;
    const apply = ({ impairments }: MutableRecording) => {
      if (value === unimpaired[kind]) return end(impairments.filter(isLasting), at);
      const one: Impairment = { kind, value, from: at, until: Number.POSITIVE_INFINITY };
      begun.push(one);
      impairments.push(one);
      impairments.sort((a, b) => a.from - b.from);
      return true;
    };
    this.#change(kind, target, at, apply, value);
    return begun;
  }

  /** Ends those that `impair` began, on the recordings that are still there. */
  endImpairments(begun: readonly Impairment[], at = this.#given.clock.now()): void {
    for (const { id, impairments } of this.#recordings.values()) {
      const over = impairments.filter((one) => begun.includes(one));
      const [{ kind } = { kind: undefined }] = over;
      if (!kind) continue;
      const rest = impairments.findLast((one) => one.kind === kind && one.until > at && !over.includes(one));
      this.#change(kind, id, at, () => end(over, at), rest?.value ?? unimpaired[kind]);
    }
  }

  /** A new recording, online, in a location. */
  addRecording(locationId: string, name?: string, at?: Instant): SimRecording {
    return this.#add(this.#mustHave(locationId), this.#recordingsMade++, name, at);
  }

  /** A new location with so many recordings, all online. */
  addLocation(
    given: { name?: string | undefined; timezone?: string | undefined; recordings?: number | undefined } = {},
    at?: Instant,
  ): SimLocation {
    const location = makeLocation(this.#given.seed, this.#locationsMade++, this.#given.traits, given);
    this.#locations.set(location.id, location);
    for (let i = 0; i < (given.recordings ?? 1); i++) this.#add(location, i, undefined, at);
    return location;
  }

  /** Removes a recording, or a location with all of its recordings. */
  remove(target: Target, at?: Instant): void {
    this.#change("removed", target, at, (recording) => {
      const siblings = recording.location.recordings;
      siblings.splice(siblings.indexOf(recording), 1);
      return this.#recordings.delete(recording.id);
    });
    if (typeof target !== "string") this.#locations.delete(target.locationId);
  }

  /** Renames a recording, or a location: its recordings keep their names. */
  rename(target: Target, name: string, at?: Instant): void {
    if (typeof target !== "string") this.#mustHave(target.locationId).name = name;
    this.#change("renamed", target, at, (recording) => {
      if (typeof target === "string") recording.name = name;
      return true;
    });
  }

  /** The recording, or all of the location. Throws SimulatorError `not_found`. */
  recordingsOf(target: Target): readonly SimRecording[] {
    return this.#targets(target);
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

  #add(location: MutableLocation, index: number, name: string | undefined, at: Instant | undefined): SimRecording {
    const recording = makeRecording(this.#given.seed, location, index, this.#given, name);
    location.recordings.push(recording);
    this.#recordings.set(recording.id, recording);
    this.#change("added", recording.id, at, () => true);
    return recording;
  }

  /** Applies a change to each recording, and writes to the ledger where `apply` says that it changed something. */
  #change(
    change: LedgerEntry["change"],
    target: Target,
    at = this.#given.clock.now(),
    apply: (recording: MutableRecording) => boolean,
    value?: number | boolean,
  ): void {
    for (const recording of this.#targets(target)) {
      if (!apply(recording)) continue;
      const { id: recordingId, location, status } = recording;
      location.revision += 1;
      const said = { status, ...(value !== undefined && { value }) };
      const entry = { at, change, recordingId, locationId: location.id, ...said };
      if (this.#ledger.push(entry) > LEDGER_LIMIT) this.#ledger.splice(0, LEDGER_LIMIT / 10);
      this.#given.events.emit("change", entry);
    }
  }
}

function end(impairments: readonly Impairment[], at: Instant): boolean {
  for (const impairment of impairments) impairment.until = at;
  return impairments.length > 0;
}

function set<K extends keyof MutableRecording>(recording: MutableRecording, key: K, value: MutableRecording[K]) {
  if (recording[key] === value) return false;
  recording[key] = value;
  return true;
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

/** Events inside, for tests to wait on: `once(simulator.events, "change")`. */
export type SimulatorEvents = EventEmitter<{
  request: [RequestEvent];
  change: [LedgerEntry];
  fault: [{ type: "set" | "cleared"; name: string }];
}>;
