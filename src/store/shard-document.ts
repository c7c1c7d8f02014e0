/**
 * A shard as the fields of a hash: one for each location with what is cold of its recordings, written when that changed;
 * `d`, what is hot of all of them, written with every sweep; `c`, the version of the cold state that `d` follows.
 */
import type { AlertStates } from "../health/alert-machine.ts";
import { byId, type ShardPatch } from "../health/shard-patch.ts";
import type { ColdState, LocationState, RecordingState, ShardState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { parseDocument } from "./documents.ts";

const FORMAT = 5;
/** Before the id of a location: a field of its own. */
const LOCATION = "l:";

type ColdRow = Omit<ColdState, "locationId">;

interface LocationDocument {
  readonly alerts?: AlertStates | undefined;
  /** The shard watches the location itself. */
  readonly watched: boolean;
  readonly recordings: readonly ColdRow[];
}

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
  readonly cold: string;
}

/** The fields that a sweep changes; all where others belong to the shard than before. `version` is new each time. */
export function encodeSweep(before: Omit<StoredShard, "nonce">, patch: ShardPatch, version: string): ShardFields {
  const { state } = before;
  const isWhole = before.cold === undefined || !patch.isSame || !keepsLocations(state, patch);
  const changed = isWhole ? undefined : changedLocations(state, patch);
  const cold = (changed?.size === 0 ? before.cold : undefined) ?? version;
  const document = JSON.stringify(encodeHot(patch, cold));
  if (cold === before.cold) return { document, isWhole, more: [], cold };
  const locations = encodeLocations(patch, changed);
  const fields = [...locations].flatMap(([id, location]) => [LOCATION + id, JSON.stringify(location)]);
  return { document, isWhole, more: ["c", cold, ...fields], cold };
}

function keepsLocations(before: ShardState, { locations }: ShardPatch): boolean {
  return locations.size === before.locations.size && locations.keys().every((id) => before.locations.has(id));
}

function changedLocations(before: ShardState, { changed, locations }: ShardPatch): Set<string> {
  const ids = new Set<string>();
  locations.forEach(({ id, alerts }) => {
    if (alerts !== before.locations.get(id)?.alerts) ids.add(id);
  });
  for (const [id, { locationId }] of changed) {
    ids.add(locationId);
    ids.add(before.recordings.get(id)?.locationId ?? locationId);
  }
  return ids;
}

function encodeLocations(
  { states, locations }: ShardPatch,
  only: ReadonlySet<string> | undefined,
): Map<string, LocationDocument> {
  const documents = new Map<string, LocationDocument & { readonly recordings: ColdRow[] }>();
  const add = (id: string) => {
    const location = locations.get(id);
    const document = { alerts: location?.alerts, watched: location !== undefined, recordings: [] as ColdRow[] };
    documents.set(id, document);
    return document;
  };
  for (const id of only ?? locations.keys()) add(id);
  for (const state of states) {
    if (only && !only.has(state.locationId)) continue;
    (documents.get(state.locationId) ?? add(state.locationId)).recordings.push(coldOf(state));
  }
  return documents;
}

function coldOf({ id, status, since, onlineSeenAt, absentSince, history, outage, alerts }: ColdState): ColdRow {
  return { id, status, since, onlineSeenAt, absentSince, history, outage, alerts };
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
  for (const [field, json] of Object.entries(fields)) {
    if (!field.startsWith(LOCATION)) continue;
    const id = field.slice(LOCATION.length);
    const { alerts, watched, recordings } = JSON.parse(json) as LocationDocument;
    if (watched) locations.set(id, { id, alerts });
    for (const row of recordings) states.push(notRead({ ...row, locationId: id }));
  }
  const state = {
    sweptAt: hot.t,
    gaps: hot.gaps,
    recordings: new Map(states.sort(byId).map((one) => [one.id, one])),
    locations,
  };
  return withHot(nonce, hot, { nonce, state, cold }) ?? { nonce, state, cold };
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
