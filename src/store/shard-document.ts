/**
 * A shard as the fields of a hash: one for each recording with what is cold of it, and one for each location that it
 * watches with its alerts, written when that changed; `d`, what is hot of all recordings, written with every sweep; `c`,
 * the version of the cold state that `d` follows.
 */
import { isDeepStrictEqual } from "node:util";
import type { Subject } from "../health/alert.ts";
import type { AlertStates } from "../health/alert-machine.ts";
import { byId, type ShardPatch } from "../health/shard-patch.ts";
import {
  type ColdState,
  coldOf,
  type LocationState,
  type RecordingState,
  type ShardState,
} from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { parseDocument } from "./documents.ts";

const FORMAT = 7;
/** Before the id of a recording or a location: a field of its own. */
const [RECORDING, LOCATION] = ["r:", "l:"];

/** The field of a recording or a location, there as long as the shard has it. */
export function fieldOf({ kind, id }: Pick<Subject, "kind" | "id">): string {
  return (kind === "location" ? LOCATION : RECORDING) + id;
}

type ColdRow = Omit<ColdState, "id">;

type Column = readonly (number | null)[];

/** Columns have a value for each recording, in the order of ids; times are ms before `t`. */
interface HotDocument {
  readonly v: number;
  readonly t: Instant;
  readonly gaps?: readonly number[] | undefined;
  readonly cold: string;
  /** The places of recordings that were not read at `t`, with when they were, if ever. */
  readonly unread: readonly (readonly [place: number, ms: number | null])[];
  readonly seen: Column;
  readonly quality: Column;
}

/** A shard as it is in Redis. */
export interface StoredShard {
  /** "" where nothing is stored. */
  readonly nonce: string;
  readonly state: ShardState;
  /** The version of the cold state; undefined where nothing is stored. */
  readonly cold?: string | undefined;
}

/** The shard state before the first sweep. */
export const emptyShard: ShardState = { sweptAt: 0, recordings: new Map(), locations: new Map() };

/** The fields to write so that the hash has the state after a sweep. `isWhole`: it has nothing else. */
export interface ShardFields {
  readonly document: string;
  readonly isWhole: boolean;
  /** Names and texts in turn. */
  readonly more: readonly string[];
  /** Names of those to delete. */
  readonly gone: readonly string[];
  readonly cold: string;
}

/** The fields that a sweep changes; all where nothing is stored yet. `version` is new each time. */
export function encodeSweep(before: Omit<StoredShard, "nonce">, patch: ShardPatch, version: string): ShardFields {
  const { state } = before;
  const isWhole = before.cold === undefined;
  const rows = isWhole ? patch.states : [...patch.changed.values()];
  const places = [...patch.locations.values()].filter(({ id, alerts }) => {
    const known = state.locations.get(id);
    return isWhole || !known || !isDeepStrictEqual(known.alerts, alerts);
  });
  const gone = isWhole ? [] : goneFields(state, patch);
  const isSame = !isWhole && rows.length + places.length + gone.length === 0;
  const cold = isSame ? (before.cold ?? version) : version;
  const document = JSON.stringify(encodeHot(patch, cold));
  if (isSame) return { document, isWhole, more: [], gone, cold };
  const more = [
    ...["c", cold],
    ...rows.flatMap((row) => [RECORDING + row.id, JSON.stringify(coldOf(row))]),
    ...places.flatMap(({ id, alerts = {} }) => [LOCATION + id, JSON.stringify(alerts)]),
  ];
  return { document, isWhole, more, gone, cold };
}

function goneFields(before: ShardState, { isSame, states, locations }: ShardPatch): string[] {
  const stay = new Set(isSame ? [] : states.map(({ id }) => id));
  const left = isSame ? [] : [...before.recordings.keys()].filter((id) => !stay.has(id));
  const unwatched = [...before.locations.keys()].filter((id) => !locations.has(id));
  return [...left.map((id) => RECORDING + id), ...unwatched.map((id) => LOCATION + id)];
}

function encodeHot({ sweptAt: t, gaps, states, reads }: ShardPatch, cold: string): HotDocument {
  const unread: [number, number | null][] = [];
  const hot = states.map((state, place) => {
    const read = reads[place];
    if (!read && state.readAt !== t) unread.push([place, state.readAt === 0 ? null : t - state.readAt]);
    return read ?? state;
  });
  const seen = hot.map(({ lastSeenAt }) => (lastSeenAt === undefined ? null : t - lastSeenAt));
  const quality = hot.map(({ averageQuality }) => averageQuality ?? null);
  return { v: FORMAT, t, gaps, cold, unread, seen, quality };
}

/** The shard of all fields of its hash. Throws as `parseDocument`. */
export function decodeShard(fields: Readonly<Record<string, string>>): StoredShard {
  const { n: nonce = "", d: text, c: cold } = fields;
  if (text === undefined) return { nonce, state: emptyShard };
  const hot = parseDocument<HotDocument>(text, FORMAT);
  const states: RecordingState[] = [];
  const locations = new Map<string, LocationState>();
  /** Each id once: an equal string takes as much memory again. */
  const ids = new Map<string, string>();
  for (const [field, json] of Object.entries(fields)) {
    const id = field.slice(RECORDING.length);
    if (field.startsWith(LOCATION)) locations.set(id, { id, alerts: alertsIn(json) });
    if (!field.startsWith(RECORDING)) continue;
    const row = JSON.parse(json) as ColdRow;
    const locationId = ids.get(row.locationId) ?? row.locationId;
    ids.set(locationId, locationId);
    states.push(notRead({ ...row, id, locationId }));
  }
  const state = {
    sweptAt: hot.t,
    gaps: hot.gaps,
    recordings: new Map(states.sort(byId).map((one) => [one.id, one])),
    locations,
  };
  return withHot(nonce, hot, { nonce, state, cold }) ?? { nonce, state, cold };
}

function alertsIn(json: string): AlertStates | undefined {
  return json === "{}" ? undefined : (JSON.parse(json) as AlertStates);
}

/** The known shard with the hot values of another document, if nothing cold was written since; else undefined. */
export function decodeHot(nonce: string, text: string, known: StoredShard): StoredShard | undefined {
  return withHot(nonce, parseDocument<HotDocument>(text, FORMAT), known);
}

/** Hot values replace those of the known shard. What follows another cold state is dropped: its recordings are not read. */
function withHot(nonce: string, hot: HotDocument, { state, cold }: StoredShard): StoredShard | undefined {
  const { t: sweptAt, gaps, unread, seen, quality } = hot;
  if (hot.cold !== cold || seen.length !== state.recordings.size) return undefined;
  const readAgo = new Map(unread);
  let i = 0;
  for (const one of state.recordings.values()) {
    const ago = readAgo.get(i);
    one.readAt = ago === null ? 0 : sweptAt - (ago ?? 0);
    one.lastSeenAt = before(sweptAt, seen[i]);
    one.averageQuality = quality[i] ?? undefined;
    i++;
  }
  return { nonce, cold, state: { ...state, sweptAt, gaps } };
}

function before(t: Instant, ms: number | null | undefined): Instant | undefined {
  return ms === null || ms === undefined ? undefined : t - ms;
}

/** A recording with its fields in the order of every other: all are objects of one shape. */
function notRead({ id, locationId, status, since, ...cold }: ColdState): RecordingState {
  const { onlineSeenAt, absentSince, history, outage, alerts } = cold;
  const hot = { lastSeenAt: undefined, averageQuality: undefined };
  return { id, locationId, status, readAt: 0, since, ...hot, onlineSeenAt, absentSince, history, outage, alerts };
}
