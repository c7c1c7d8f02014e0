/** The series per recording as bytes, kept between scrapes: a value that changes is written in place, into a copy. */
import type { Inventory } from "../health/shard-state.ts";
import { distinct, labelText } from "./labels.ts";
import type { Member } from "./members.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { type ExpositionFormat, renderHead, renderLabel, renderNumber, renderSample } from "./text.ts";

interface Family {
  readonly row: MetricRow;
  readonly value: (member: Member) => number | undefined;
  readonly extra: string;
  /** A value that is as long as the one before is written over it. */
  readonly textOf: (value: number) => string;
}

/** Of more recordings no bytes are kept, which bounds their memory: 220 bytes a series, 88 MB. */
const MOST_KEPT = 100_000;
const NEWLINE = 10;

const families: readonly Family[] = [
  { row: fleetRows.online, value: ({ status }) => (status === "offline" ? 0 : 1), extra: "", textOf: renderNumber },
  { row: fleetRows.quality, value: ({ averageQuality }) => averageQuality, extra: "", textOf: renderNumber },
  {
    row: fleetRows.lastSeen,
    value: ({ lastSeenAt }) => lastSeenAt && lastSeenAt / 1000,
    extra: "",
    textOf: (seconds) => seconds.toFixed(3),
  },
  {
    row: fleetRows.uptime,
    value: ({ uptime }) => uptime,
    extra: `,${renderLabel("window", "24h")}`,
    textOf: renderNumber,
  },
];

/** A recording as it is named: `recording_id="…",recording="…",location_id="…",location="…"`. */
interface Row {
  readonly id: string;
  readonly recording: string;
  readonly locationId: string;
  readonly location: string;
  readonly labels: string;
}

/** Rows that are rendered together, by family. */
interface Block {
  readonly rows: readonly Row[];
  /** NaN has no sample. */
  readonly values: readonly Float64Array[];
  /** Never written to: scrapes that are still read have them. Both formats have the same samples. */
  readonly texts: (Text | undefined)[];
}

interface Text {
  readonly bytes: Buffer;
  /** As `startsOf`, once that is needed. */
  readonly starts: Uint32Array | undefined;
}

interface Kept {
  /** The revision of the inventory. */
  readonly names: number | undefined;
  readonly shards: readonly (readonly Block[])[];
}

/** Keeps the blocks of the last scrape, by shard; the bytes of up to `mostKept` recordings. */
export function createBlocks(mostKept = MOST_KEPT) {
  let kept: Kept = { names: undefined, shards: [] };

  /** Begins a scrape. */
  return (inventory: Inventory) => {
    const before = kept;
    const names = inventory.revision?.();
    const rowsOf = createRows(before, inventory);
    const shards: Block[][] = [];
    return {
      /** The next rows of a shard: the block of before, brought up to date, where they are the same. */
      add(shard: number, members: readonly Member[]): void {
        shards[shard] ??= [];
        const blocks = shards[shard];
        const old = before.shards[shard]?.[blocks.length];
        const rows = rowsOf(shard, members, old);
        const block = rows === old?.rows ? old : emptyBlock(rows);
        for (const family of families.keys()) setValues(block, family, members);
        blocks.push(block);
      },
      /** The series of all rows, in pieces. */
      *render(format: ExpositionFormat): Generator<string | Uint8Array, void> {
        kept = { names, shards };
        const blocks = shards.flat();
        const areFew = blocks.reduce((sum, { rows }) => sum + rows.length, 0) <= mostKept;
        for (const [family, { row }] of families.entries()) {
          yield renderHead(row, format);
          for (const block of blocks) {
            const text = block.texts[family] ?? renderBlock(block, family);
            if (areFew) block.texts[family] = text;
            yield text.bytes;
          }
        }
      },
    };
  };
}

function emptyBlock(rows: readonly Row[]): Block {
  return { rows, values: families.map(() => new Float64Array(rows.length).fill(Number.NaN)), texts: [] };
}

/** The rows of members: those of before, first sought at their place, while nothing in them differs. */
function createRows({ names, shards }: Kept, inventory: Inventory) {
  const hasSameNames = names !== undefined && names === inventory.revision?.();
  const known = new Map<number, ReadonlyMap<string, Row>>();
  const find = (shard: number, id: string) => {
    const rows = known.get(shard) ?? new Map(shards[shard]?.flatMap(({ rows }) => rows.map((row) => [row.id, row])));
    known.set(shard, rows);
    return rows.get(id);
  };
  const locationOf = createLocationNames(inventory);
  const rowOf = (shard: number, { id, locationId }: Member, expected: Row | undefined): Row => {
    const row = expected?.id === id ? expected : find(shard, id);
    const recording = row && hasSameNames ? row.recording : inventory.recording(id)?.name || id;
    const location = locationOf(locationId);
    if (row && row.recording === recording && row.locationId === locationId && row.location === location) return row;
    const labels = labelText(fleetRows.online.labels, [distinct(id), recording, locationId, location]);
    return { id, recording, locationId, location, labels };
  };
  return (shard: number, members: readonly Member[], old: Block | undefined): readonly Row[] => {
    const rows = members.map((member, i) => rowOf(shard, member, old?.rows[i]));
    return old?.rows.length === rows.length && rows.every((row, i) => row === old.rows[i]) ? old.rows : rows;
  };
}

/** Names of locations; recordings of one mostly follow each other. */
function createLocationNames(inventory: Inventory) {
  let last = { id: "", name: "" };
  return (id: string): string => {
    if (last.id !== id) last = { id, name: inventory.location(id)?.name || id };
    return last.name;
  };
}

/** Sets a family's values, and writes them over the old ones in a copy of its text, where they are as long. */
function setValues(block: Block, family: number, members: readonly Member[]): void {
  const { value, textOf } = families[family] as Family;
  const values = block.values[family] as Float64Array;
  let text = block.texts[family];
  let isCopy = false;
  for (let i = 0; i < members.length; i++) {
    const member = members[i] as Member;
    const next = (member.status === "unknown" ? undefined : value(member)) ?? Number.NaN;
    if (Object.is(values[i], next)) continue;
    if (text && !isCopy) text = { bytes: Buffer.from(text.bytes), starts: text.starts ?? startsOf(text.bytes, values) };
    isCopy = true;
    if (text && (Number.isNaN(next) || !overwrite(text, i, textOf(next)))) text = undefined;
    values[i] = next;
  }
  block.texts[family] = text;
}

/** Whether there was a value of that length. */
function overwrite({ bytes, starts }: Text, row: number, value: string): boolean {
  const start = starts?.[row] ?? 0;
  if (start === 0 || bytes[start + value.length] !== NEWLINE) return false;
  bytes.write(value, start, "latin1");
  return true;
}

/** Where the value of each row begins; 0 without a sample. */
function startsOf(bytes: Buffer, values: Float64Array): Uint32Array {
  let end = -1;
  return Uint32Array.from(values, (value) => {
    if (Number.isNaN(value)) return 0;
    end = bytes.indexOf(NEWLINE, end + 1);
    return bytes.lastIndexOf(" ", end) + 1;
  });
}

function renderBlock({ rows, values }: Block, family: number): Text {
  const { row, extra, textOf } = families[family] as Family;
  const sample = ({ labels }: Row, i: number) =>
    renderSample(row.name, labels + extra, values[family]?.[i] ?? Number.NaN, textOf);
  return { bytes: Buffer.from(rows.map(sample).join("")), starts: undefined };
}
