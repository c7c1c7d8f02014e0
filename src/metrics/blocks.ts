/** The series per recording as bytes, kept between scrapes: only blocks of rows that changed are rendered again. */
import type { Recording, RecordingStatus } from "../health/recording.ts";
import {
  currentStatus,
  type FleetSnapshot,
  type RecordingState,
  ROWS_PER_STEP,
  recordingsById,
} from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import { DAY_MS } from "../lib/clock.ts";
import { distinct, labelText } from "./labels.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { type ExpositionFormat, renderHead, renderLabel, renderSample } from "./text.ts";

interface Family {
  readonly row: MetricRow;
  readonly value: (state: RecordingState, snapshot: FleetSnapshot) => number | undefined;
  readonly extra: string;
  /** It changes with every sweep: keeping its text would take memory and save nothing. */
  readonly isVolatile?: boolean;
}

/** Of more recordings no bytes are kept, which bounds their memory: 160 bytes a series, 64 MB. */
const MOST_KEPT = 100_000;

const families: readonly Family[] = [
  { row: fleetRows.online, value: ({ status }) => (status === "offline" ? 0 : 1), extra: "" },
  { row: fleetRows.quality, value: ({ averageQuality }) => averageQuality, extra: "" },
  { row: fleetRows.lastSeen, value: ({ lastSeenAt }) => lastSeenAt && lastSeenAt / 1000, extra: "", isVolatile: true },
  {
    row: fleetRows.uptime,
    value: ({ id }, { overallUptime }) => overallUptime(id, DAY_MS),
    extra: `,${renderLabel("window", "24h")}`,
  },
];

/** A recording as it is named: `recording_id="…",recording="…",location_id="…",location="…"`. */
interface Row {
  readonly id: string;
  readonly recording: Recording | undefined;
  readonly locationId: string;
  readonly location: string;
  readonly labels: string;
}

/** Up to ROWS_PER_STEP rows of a shard. Only `bytes` are added to: scrapes that are still read keep their blocks. */
interface Block {
  readonly rows: readonly Row[];
  /** By family; NaN has no sample. */
  readonly values: readonly Float64Array[];
  /** By family, rendered when first written: both formats have the same samples. */
  readonly bytes: (Uint8Array | undefined)[];
}

interface Kept {
  /** The revision of the inventory. */
  readonly names: number | undefined;
  readonly shards: readonly (readonly Block[])[];
}

interface Scrape {
  readonly snapshot: FleetSnapshot;
  /** Whether no recording was renamed since the blocks of before: look-ups in large maps are the most of a scrape. */
  readonly hasSameNames: boolean;
  readonly see: See;
}

/** Called for each recording of the fleet, once. */
export type See = (state: RecordingState, status: RecordingStatus) => void;

export type Blocks = ReturnType<typeof createBlocks>;

/** Keeps the blocks of the last scrape, by shard; the bytes of up to `mostKept` recordings. */
export function createBlocks(mostKept = MOST_KEPT) {
  let kept: Kept = { names: undefined, shards: [] };

  function* update(snapshot: FleetSnapshot, see: See): Generator<string, Block[]> {
    const before = kept;
    const names = snapshot.inventory.revision?.();
    const hasSameNames = names !== undefined && names === before.names;
    const next: Block[][] = [];
    for (const states of yield* statesByShard(snapshot))
      next.push(yield* blocksOf(states, before.shards[next.length] ?? [], { snapshot, hasSameNames, see }));
    kept = { names, shards: next };
    return next.flat();
  }

  return {
    /** The series per recording, in pieces; an empty piece only yields to the event loop. */
    *render(snapshot: FleetSnapshot, format: ExpositionFormat, see: See): Generator<string | Uint8Array, void> {
      const blocks = yield* update(snapshot, see);
      const areFew = blocks.reduce((sum, { rows }) => sum + rows.length, 0) <= mostKept;
      for (const [family, { row, isVolatile }] of families.entries()) {
        yield renderHead(row, format);
        for (const block of blocks) {
          const bytes = block.bytes[family] ?? bytesOf(block, family);
          if (areFew && !isVolatile) block.bytes[family] = bytes;
          yield bytes;
        }
      }
    },
  };
}

/** Each recording once, as `recordingsById`. */
function* statesByShard({ shards }: FleetSnapshot): Generator<string, Iterable<RecordingState[]>> {
  const walk = recordingsById({ shards });
  let step = walk.next();
  for (; !step.done; step = walk.next()) yield "";
  const byId = step.value;
  const isOnce = shards.reduce((sum, { recordings }) => sum + recordings.size, 0) === byId.size;
  return shards.values().map(({ recordings }) => {
    const states = [...recordings.values()];
    return isOnce ? states : states.filter((state) => byId.get(state.id) === state);
  });
}

function* blocksOf(
  states: readonly RecordingState[],
  before: readonly Block[],
  scrape: Scrape,
): Generator<string, Block[]> {
  const { snapshot, see } = scrape;
  const blocks: Block[] = [];
  const rowOf = createRows(before, scrape);
  for (const some of chunksOf(states, ROWS_PER_STEP)) {
    const current = some.map((state) => {
      const status = currentStatus(state, snapshot.now, snapshot.statusIntervalMs);
      see(state, status);
      return status === "unknown" ? undefined : state;
    });
    const old = before[blocks.length];
    const rows = some.map((state, i) => rowOf(state, old?.rows[i]));
    const values = families.map(({ value }) =>
      Float64Array.from(current, (state) => (state && value(state, snapshot)) ?? Number.NaN),
    );
    blocks.push({ rows, values, bytes: old && isSame(rows, old.rows) ? sameBytes(values, old) : [] });
    yield "";
  }
  return blocks;
}

/** The row of a state: that of before, first sought at its place, while nothing in it differs. */
function createRows(before: readonly Block[], { snapshot: { inventory }, hasSameNames }: Scrape) {
  let known: ReadonlyMap<string, Row> | undefined;
  const find = (id: string) => {
    known ??= new Map(before.flatMap(({ rows }) => rows.map((row) => [row.id, row] as const)));
    return known.get(id);
  };
  return ({ id, locationId }: RecordingState, expected: Row | undefined): Row => {
    const row = expected?.id === id ? expected : find(id);
    const recording = row && hasSameNames ? row.recording : inventory.recording(id);
    const location = inventory.location(locationId)?.name || locationId;
    if (row && row.recording === recording && row.locationId === locationId && row.location === location) return row;
    const labels = labelText(fleetRows.online.labels, [distinct(id), recording?.name || id, locationId, location]);
    return { id, recording, locationId, location, labels };
  };
}

function sameBytes(values: readonly Float64Array[], old: Block): Block["bytes"] {
  return values.map((some, family) => (isSame(some, old.values[family] ?? []) ? old.bytes[family] : undefined));
}

function isSame<T>(some: ArrayLike<T>, others: ArrayLike<T>): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i++) if (!Object.is(some[i], others[i])) return false;
  return true;
}

function bytesOf({ rows, values }: Block, family: number): Uint8Array {
  const { row, extra } = families[family] as Family;
  const sample = ({ labels }: Row, i: number) => renderSample(row.name, labels + extra, values[family]?.[i] ?? NaN);
  return Buffer.from(rows.map(sample).join(""));
}
