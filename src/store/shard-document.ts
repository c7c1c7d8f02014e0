/** A ShardState as text: arrays and offsets from the sweep, about 70 bytes for a healthy recording. */
import type {
  AlertStates,
  LocationState,
  RecordingState,
  ShardState,
  StateHistory,
  StatusStretch,
} from "../health/shard-state.ts";
import { parseDocument } from "./documents.ts";

const FORMAT = 2;
const STATUSES = ["online", "offline", "degraded"] as const;

/** id, location index, status (−1 none), readAt, since, lastSeenAt, onlineSeenAt, quality, presentAt, alerts and so on. */
type Row = [
  ...[string, number, number, number, number, Maybe, Maybe, Maybe, number],
  (AlertStates | null)?,
  (HistoryRow | null)?,
  (readonly [ms: number, ago: number])?,
];
type Maybe = number | null;
/** When the newest state was taken; then status, from and count of each stretch. */
type HistoryRow = readonly number[];

type LocationRow = [string] | [string, AlertStates];

interface Document {
  v: number;
  t: number;
  /** Slow gaps. */
  g?: readonly number[] | undefined;
  l: LocationRow[];
  r: Row[];
}

/** The shard state before the first sweep. */
export const emptyShard: ShardState = { sweptAt: 0, recordings: new Map(), locations: new Map() };

/** The document to store. */
export function encodeShard(state: ShardState): string {
  const index = new Map<string, number>();
  const l: LocationRow[] = [];
  const place = (id: string, alerts: AlertStates | undefined): number => {
    const known = index.get(id);
    if (known !== undefined) return known;
    index.set(id, l.length);
    return l.push(alerts ? [id, alerts] : [id]) - 1;
  };
  for (const location of state.locations.values()) place(location.id, location.alerts);
  const t = state.sweptAt;
  const r: Row[] = [];
  for (const recording of state.recordings.values()) {
    r.push(toRow(recording, place(recording.locationId, undefined), t));
  }
  return JSON.stringify({ v: FORMAT, t, g: state.slowGaps, l, r } satisfies Document);
}

function toRow(recording: RecordingState, location: number, t: number): Row {
  const { status, lastSeenAt, onlineSeenAt, averageQuality, alerts, history, outage } = recording;
  const row: Row = [
    recording.id,
    location,
    status === undefined ? -1 : STATUSES.indexOf(status),
    t - recording.readAt,
    t - recording.since,
    lastSeenAt === undefined ? null : t - lastSeenAt,
    onlineSeenAt === undefined ? null : t - onlineSeenAt,
    averageQuality ?? null,
    t - recording.presentAt,
  ];
  if (outage) row.push(alerts ?? null, history ? toHistoryRow(history, t) : null, [outage.ms, t - outage.until]);
  else if (history) row.push(alerts ?? null, toHistoryRow(history, t));
  else if (alerts) row.push(alerts);
  return row;
}

function toHistoryRow({ sampledAt, stretches }: StateHistory, t: number): HistoryRow {
  const triples = stretches.flatMap(({ status, from, count }) => [STATUSES.indexOf(status), t - from, count]);
  return [t - sampledAt, ...triples];
}

/** The state of a stored document. Throws as `parseDocument`. */
export function decodeShard(text: string): ShardState {
  const document = parseDocument<Document>(text, FORMAT);
  const locations = new Map<string, LocationState>();
  for (const [id, alerts] of document.l) locations.set(id, { id, alerts });
  const recordings = new Map<string, RecordingState>();
  for (const row of document.r) recordings.set(row[0], fromRow(row, document));
  return { sweptAt: document.t, slowGaps: document.g, recordings, locations };
}

function fromRow(row: Row, { t, l }: Document): RecordingState {
  return {
    id: row[0],
    locationId: l[row[1]]?.[0] ?? "",
    status: STATUSES[row[2]],
    readAt: t - row[3],
    since: t - row[4],
    lastSeenAt: row[5] === null ? undefined : t - row[5],
    onlineSeenAt: row[6] === null ? undefined : t - row[6],
    averageQuality: row[7] ?? undefined,
    presentAt: t - row[8],
    history: row[10] ? fromHistoryRow(row[10], t) : undefined,
    outage: row[11] && { ms: row[11][0], until: t - row[11][1] },
    alerts: row[9] ?? undefined,
  };
}

function fromHistoryRow([sampled = 0, ...triples]: HistoryRow, t: number): StateHistory {
  const stretches: StatusStretch[] = [];
  for (let i = 0; i < triples.length; i += 3) {
    const [status = 0, from = 0, count = 0] = triples.slice(i, i + 3);
    stretches.push({ status: STATUSES[status] ?? "online", from: t - from, count });
  }
  return { sampledAt: t - sampled, stretches };
}
