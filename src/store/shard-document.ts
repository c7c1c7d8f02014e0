/**
 * A ShardState as the fields of a hash: `d`, what each sweep moves, about 6 bytes for a recording, and one for each
 * location with all that changes less often, about 65 bytes for a healthy recording. Times are offsets from when a field
 * was written.
 */
import { Rows } from "../health/rows.ts";
import type {
  AlertStates,
  LocationState,
  RecordingState,
  ReportedOutage,
  ShardState,
  StateHistory,
  StatusStretch,
} from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { parseDocument } from "./documents.ts";

const FORMAT = 4;
const STATUSES = ["online", "offline", "degraded"] as const;
/** Before the id of a location: a field of its own. */
const LOCATION = "l:";

/** id, place, status (−1 none), readAt, since, lastSeenAt, onlineSeenAt, quality, presentAt, alerts and so on. */
type Row = [
  ...[string, number, number, number, number, Maybe, Maybe, Maybe, number],
  (AlertStates | null)?,
  (HistoryRow | null)?,
  (readonly [from: number, until: Maybe])?,
];
type Maybe = number | null;
/** The time at which the newest state was taken; then status, from and count of each stretch. */
type HistoryRow = readonly number[];

interface LocationDocument {
  readonly t: Instant;
  /** Absent where only recordings say that they are there. */
  readonly a?: AlertStates | null | undefined;
  readonly r: readonly Row[];
}

/** The moves of a sweep: ms before it, or null, false and true for the other values of `Rows.moves`. */
type Move = number | boolean | null;

interface Heartbeat {
  readonly v: number;
  readonly t: Instant;
  /** Gaps. */
  readonly g?: readonly number[] | undefined;
  /** Another text after each write of a location. */
  readonly w: string;
  readonly m: readonly Move[];
  readonly q?: readonly Maybe[] | undefined;
}

/** A shard as it is in Redis. */
export interface StoredShard {
  /** "" where nothing is stored. */
  readonly nonce: string;
  readonly state: ShardState;
  /** The mark of the last write of a location. */
  readonly written: string;
}

/** The shard state before the first sweep. */
export const emptyShard: ShardState = { sweptAt: 0, recordings: new Map(), locations: new Map() };

/** The fields to write so that the hash has this state. `isWhole`: it has nothing else. */
export interface ShardFields {
  readonly document: string;
  readonly isWhole: boolean;
  /** Names and texts in turn. */
  readonly more: readonly string[];
  readonly written: string;
}

/** The fields that differ from the `stored` ones; all of them where that is not known. `token` is another one each time. */
export function encodeShard(state: ShardState, token: string, stored?: StoredShard): ShardFields {
  const rows = Rows.of(state);
  const changed = stored?.written ? changedLocations(stored.state, state) : undefined;
  const written = stored && changed?.size === 0 ? stored.written : token;
  const more = encodeLocations(rows, state, changed).flatMap(([id, document]) => [
    LOCATION + id,
    JSON.stringify(document),
  ]);
  return { document: encodeHeartbeat(rows, state, written), isWhole: !changed, more, written };
}

/** Locations where anything differs but what a sweep moves; undefined where recordings or locations came, left or moved. */
function changedLocations(before: ShardState, { recordings, locations }: ShardState): Set<string> | undefined {
  const [old, rows] = [before.recordings, recordings];
  if (!(old instanceof Rows && rows instanceof Rows && rows.order === old.order)) return undefined;
  if (locations.size !== before.locations.size) return undefined;
  const changed = new Set<string>();
  for (const [id, location] of locations) {
    const known = before.locations.get(id);
    if (!known) return undefined;
    if (known.alerts !== location.alerts) changed.add(id);
  }
  const places = rows.states.differing(old.states);
  for (const place of places ?? []) changed.add(rows.states.locationIds[place] ?? "");
  return places && changed;
}

function encodeLocations(
  rows: Rows,
  { sweptAt: t, locations }: ShardState,
  only: ReadonlySet<string> | undefined,
): [string, LocationDocument][] {
  const documents = new Map<string, { t: Instant; a?: AlertStates | null; r: Row[] }>();
  for (const id of only ?? locations.keys()) {
    const location = locations.get(id);
    documents.set(id, { t, ...(location && { a: location.alerts ?? null }), r: [] });
  }
  if (only?.size === 0) return [];
  const ids = rows.states.locationIds;
  for (let place = 0; place < ids.length; place++) {
    const locationId = ids[place] ?? "";
    if (only && !only.has(locationId)) continue;
    const document = documents.get(locationId) ?? { t, r: [] };
    documents.set(locationId, document);
    document.r.push(toRow(rows.states.at(place), place, t));
  }
  return [...documents];
}

function encodeHeartbeat({ moves, qualities }: Rows, { sweptAt: t, gaps }: ShardState, w: string): string {
  // A loop: `Array.from` takes four times as long, for each recording and sweep.
  const m = new Array<Move>(moves.length);
  for (let i = 0; i < m.length; i++) m[i] = toMove(moves[i] ?? Number.NaN, t);
  const q = hasNumber(qualities) ? Array.from(qualities, (one) => (Number.isNaN(one) ? null : one)) : undefined;
  return JSON.stringify({ v: FORMAT, t, g: gaps, w, m, q } satisfies Heartbeat);
}

function hasNumber(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) return true;
  return false;
}

function toMove(move: number, t: Instant): Move {
  return move > 0 ? t - move : move === 0 ? true : move < 0 ? false : null;
}

function toRow(recording: RecordingState, place: number, t: Instant): Row {
  const { status, lastSeenAt, onlineSeenAt, averageQuality, alerts, history, outage } = recording;
  const row: Row = [
    recording.id,
    place,
    status === undefined ? -1 : STATUSES.indexOf(status),
    t - recording.readAt,
    t - recording.since,
    lastSeenAt === undefined ? null : t - lastSeenAt,
    onlineSeenAt === undefined ? null : t - onlineSeenAt,
    averageQuality ?? null,
    t - recording.presentAt,
  ];
  if (outage) row.push(alerts ?? null, history ? toHistoryRow(history, t) : null, toOutageRow(outage, t));
  else if (history) row.push(alerts ?? null, toHistoryRow(history, t));
  else if (alerts) row.push(alerts);
  return row;
}

function toHistoryRow({ sampledAt, stretches }: StateHistory, t: Instant): HistoryRow {
  const triples = stretches.flatMap(({ status, from, count }) => [STATUSES.indexOf(status), t - from, count]);
  return [t - sampledAt, ...triples];
}

function toOutageRow({ from, until }: ReportedOutage, t: Instant): [number, Maybe] {
  return [t - from, until === undefined ? null : t - until];
}

/** The shard of all fields of its hash. Throws as `parseDocument`. */
export function decodeShard(fields: Readonly<Record<string, string>>): StoredShard {
  const { n: nonce = "", d: text } = fields;
  if (text === undefined) return { nonce, state: emptyShard, written: "" };
  const document = parseDocument<Heartbeat>(text, FORMAT);
  const states: RecordingState[] = [];
  const locations = new Map<string, LocationState>();
  for (const [field, json] of Object.entries(fields)) {
    if (!field.startsWith(LOCATION)) continue;
    const id = field.slice(LOCATION.length);
    const { t, a, r } = JSON.parse(json) as LocationDocument;
    if (a !== undefined) locations.set(id, { id, alerts: a ?? undefined });
    for (const row of r) states[row[1]] = fromRow(row, id, t);
  }
  return fromHeartbeat(nonce, document, { rows: Rows.ofStates(document.t, states), locations });
}

/** The shard of this nonce and document, where no location was written since `known`; else undefined. */
export function decodeMoves(nonce: string, text: string, { state, written }: StoredShard): StoredShard | undefined {
  const document = parseDocument<Heartbeat>(text, FORMAT);
  if (document.w !== written) return undefined;
  return fromHeartbeat(nonce, document, { rows: Rows.of(state), locations: state.locations });
}

function fromHeartbeat(
  nonce: string,
  { t, g, w, m, q = [] }: Heartbeat,
  { rows, locations }: { readonly rows: Rows; readonly locations: ShardState["locations"] },
): StoredShard {
  const moves = Float64Array.from(m, (move) =>
    typeof move === "number" ? t - move : move === null ? NaN : Number(move) - 1,
  );
  const qualities = Float64Array.from(m, (_, i) => q[i] ?? Number.NaN);
  const recordings = rows.after({ sweptAt: t, states: rows.states, moves, qualities });
  return { nonce, written: w, state: { sweptAt: t, gaps: g, recordings, locations } };
}

function fromRow(row: Row, locationId: string, t: Instant): RecordingState {
  return {
    id: row[0],
    locationId,
    status: STATUSES[row[2]],
    readAt: t - row[3],
    since: t - row[4],
    lastSeenAt: row[5] === null ? undefined : t - row[5],
    onlineSeenAt: row[6] === null ? undefined : t - row[6],
    averageQuality: row[7] ?? undefined,
    presentAt: t - row[8],
    history: row[10] ? fromHistoryRow(row[10], t) : undefined,
    outage: row[11] && { from: t - row[11][0], until: row[11][1] === null ? undefined : t - row[11][1] },
    alerts: row[9] ?? undefined,
  };
}

function fromHistoryRow([sampled = 0, ...triples]: HistoryRow, t: Instant): StateHistory {
  const stretches: StatusStretch[] = [];
  for (let i = 0; i < triples.length; i += 3) {
    const [status = 0, from = 0, count = 0] = triples.slice(i, i + 3);
    stretches.push({ status: STATUSES[status] ?? "online", from: t - from, count });
  }
  return { sampledAt: t - sampled, stretches };
}
