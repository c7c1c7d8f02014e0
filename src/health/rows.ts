/**
 * The recordings of a shard after a sweep, in a fixed order. What moves with every sweep is apart from what changes: a
 * recording whose sweep found nothing new keeps its state, and costs two numbers. Never changed once built.
 */
import type { Instant } from "../lib/clock.ts";
import { countLabels, countRows, type LabelCounts, type ShardCounts } from "./shard-counts.ts";
import type { Inventory, RecordingState, ShardState } from "./shard-state.ts";
import { StateColumns } from "./state-columns.ts";

/**
 * What the sweep moved, a number for each recording. NaN: nothing, its state has it all. PRESENT: it was in the answer,
 * without a good reading. READ: it was read, and last seen as its state says. Above 0: it was read, and last seen then.
 */
const PRESENT = -1;
const READ = 0;

/** The same object while the same recordings stand at the same places, and none moved to another location. */
interface Order {
  /** Places by id. */
  readonly sorted: Uint32Array;
  /** Of a revision of the inventory, once somebody asked for them. */
  labels?: { readonly revision: number | undefined; readonly counts: LabelCounts };
}

interface Parts {
  readonly sweptAt: Instant;
  readonly states: StateColumns;
  readonly order: Order;
  readonly moves: Float64Array;
  /** The average quality, NaN where the state has it. */
  readonly qualities: Float64Array;
}

export class Rows implements ReadonlyMap<string, RecordingState> {
  readonly #parts: Parts;
  /** States with what moved, of those that were asked for: the same object each time. */
  readonly #whole = new Map<number, RecordingState>();
  #counted: (ShardCounts & { readonly at: Instant; readonly statusIntervalMs: number }) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The recordings of any state. */
  static of({ sweptAt, recordings }: Pick<ShardState, "sweptAt" | "recordings">): Rows {
    if (recordings instanceof Rows) return recordings;
    return rowsOf(sweptAt, [...recordings.values()]);
  }

  /** Of recordings that none is twice among. */
  static ofStates(sweptAt: Instant, states: readonly RecordingState[]): Rows {
    return rowsOf(sweptAt, states);
  }

  get size(): number {
    return this.#parts.states.ids.length;
  }

  /** The states that `moves` and `qualities` are added to: the same object as before where none changed. */
  get states(): StateColumns {
    return this.#parts.states;
  }

  get moves(): Float64Array {
    return this.#parts.moves;
  }

  get qualities(): Float64Array {
    return this.#parts.qualities;
  }

  /** Of the last good reading. */
  readAt(i: number): Instant {
    const { states, moves, sweptAt } = this.#parts;
    return (moves[i] ?? Number.NaN) >= READ ? sweptAt : states.readAt(i);
  }

  /** Whether the last answer was without it. */
  isAbsent(i: number): boolean {
    const { states, moves, sweptAt } = this.#parts;
    return Number.isNaN(moves[i]) && states.presentAt(i) !== sweptAt;
  }

  /** The recordings counted at `now`; the same object while nothing changes by time alone. */
  counts(now: Instant, statusIntervalMs: number): ShardCounts {
    const known = this.#counted;
    const isSame = known?.statusIntervalMs === statusIntervalMs && known.at <= now && now < known.until;
    if (isSame) return known;
    this.#counted = { ...countRows(this, now, statusIntervalMs), at: now, statusIntervalMs };
    return this.#counted;
  }

  /** The same object while neither the recordings nor names changed. */
  labels(inventory: Inventory): LabelCounts {
    const { order } = this.#parts;
    const revision = inventory.revision?.();
    if (revision === undefined || order.labels?.revision !== revision)
      order.labels = { revision, counts: countLabels(this, inventory) };
    return order.labels.counts;
  }

  /** The same object while the same recordings stand at the same places, and none moved to another location. */
  get order(): object {
    return this.#parts.order;
  }

  /** These recordings after another sweep. `states` are in the same order. */
  after(parts: Omit<Parts, "order">): Rows {
    return new Rows({ ...parts, order: this.#parts.order });
  }

  /** The whole state at a place; undefined where there is none. */
  at(i: number): RecordingState | undefined {
    const { states, moves, sweptAt } = this.#parts;
    const move = moves[i];
    if (move === undefined) return undefined;
    const known = this.#whole.get(i);
    if (known) return known;
    const state = states.at(i);
    const onlineSeenAt = move > READ ? move : state.onlineSeenAt;
    const whole = Number.isNaN(move) ? state : { ...state, ...this.movedAt(i), onlineSeenAt, presentAt: sweptAt };
    this.#whole.set(i, whole);
    return whole;
  }

  /** What sweeps move of the state at a place, without the whole of it. */
  movedAt(i: number): Pick<RecordingState, "readAt" | "lastSeenAt" | "averageQuality"> {
    const { states, moves, qualities } = this.#parts;
    const [move, quality] = [moves[i] ?? Number.NaN, qualities[i] ?? Number.NaN];
    return {
      readAt: this.readAt(i),
      lastSeenAt: move > READ ? move : states.lastSeenAt(i),
      averageQuality: Number.isNaN(quality) ? states.averageQuality(i) : quality,
    };
  }

  /** Gives `find(id)`: its place, or −1. Ids in the order of the rows need no look-up. */
  finder(): (id: string) => number {
    const { ids } = this.#parts.states;
    let ahead = 0;
    return (id) => {
      const place = ids[ahead] === id ? ahead : this.#find(id);
      if (place >= 0) ahead = place + 1;
      return place;
    };
  }

  #find(id: string): number {
    const place = this.#parts.order.sorted[this.#firstFrom(id)] ?? -1;
    return this.#parts.states.ids[place] === id ? place : -1;
  }

  /** The first of the sorted places with this id or a greater one. */
  #firstFrom(id: string): number {
    const { states, order } = this.#parts;
    let [from, to] = [0, order.sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((states.ids[order.sorted[middle] as number] as string) < id) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  has(id: string): boolean {
    return this.#find(id) >= 0;
  }

  get(id: string): RecordingState | undefined {
    return this.at(this.#find(id));
  }

  keys(): MapIterator<string> {
    return this.#parts.states.ids.values();
  }

  *values(): MapIterator<RecordingState> {
    for (const i of this.#parts.states.ids.keys()) yield this.at(i) as RecordingState;
  }

  *entries(): MapIterator<[string, RecordingState]> {
    for (const state of this.values()) yield [state.id, state];
  }

  [Symbol.iterator](): MapIterator<[string, RecordingState]> {
    return this.entries();
  }

  forEach(visit: (state: RecordingState, id: string, map: ReadonlyMap<string, RecordingState>) => void): void {
    for (const [id, state] of this) visit(state, id, this);
  }
}

function rowsOf(sweptAt: Instant, all: readonly RecordingState[], moved: Partial<Parts> = {}): Rows {
  const states = StateColumns.of(all);
  const idAt = (place: number) => states.ids[place] as string;
  const sorted = Uint32Array.from(all.keys()).sort((a, b) => (idAt(a) < idAt(b) ? -1 : 1));
  const none = () => new Float64Array(all.length).fill(Number.NaN);
  return new Rows({ sweptAt, states, order: { sorted }, moves: none(), qualities: none(), ...moved });
}

/** Collects the rows of a sweep after those of the one before. */
export class NextRows {
  readonly #before: Rows;
  readonly #sweptAt: Instant;
  /** By place before: 1 where it is still there. */
  readonly #kept: Uint8Array;
  /** Where more than times or quality differ. */
  readonly #changed = new Map<number, RecordingState>();
  readonly #moves: Float64Array;
  readonly #qualities: Float64Array;
  #hasMoved = false;
  readonly #added = new Map<string, RecordingState>();

  constructor(before: Rows, sweptAt: Instant) {
    this.#before = before;
    this.#sweptAt = sweptAt;
    this.#kept = new Uint8Array(before.size);
    this.#moves = new Float64Array(before.size).fill(Number.NaN);
    this.#qualities = new Float64Array(before.size).fill(Number.NaN);
  }

  /** `place`: of the recording before, −1 where it is new. */
  has(place: number, id: string): boolean {
    return place < 0 ? this.#added.has(id) : this.#kept[place] === 1;
  }

  /** One whose reading says nothing new, but when it was last seen and its quality; false where that is not so. */
  keep(place: number, lastSeenAt: Instant | undefined, averageQuality: number | undefined): boolean {
    if (lastSeenAt === undefined || !(lastSeenAt > READ)) return false;
    if (!this.#setQuality(place, this.#before.states.averageQuality(place), averageQuality)) return false;
    this.#kept[place] = 1;
    this.#moves[place] = lastSeenAt;
    return true;
  }

  /** The whole state of a recording. The state of before is kept where only times or quality differ. */
  put(place: number, state: RecordingState): void {
    if (place < 0) {
      this.#added.set(state.id, state);
      return;
    }
    const before = this.#before.states.at(place);
    if (before.locationId !== state.locationId) this.#hasMoved = true;
    const move = moveOf(before, state, this.#sweptAt);
    const isKept = move !== undefined && this.#setQuality(place, before.averageQuality, state.averageQuality);
    if (!isKept) this.#changed.set(place, state);
    this.#kept[place] = 1;
    this.#moves[place] = isKept ? move : Number.NaN;
  }

  #setQuality(place: number, before: number | undefined, quality: number | undefined): boolean {
    if (quality === before) return true;
    if (quality === undefined || before === undefined) return false;
    this.#qualities[place] = quality;
    return true;
  }

  build(): Rows {
    const [sweptAt, before] = [this.#sweptAt, this.#before];
    const [moves, qualities] = [this.#moves, this.#qualities];
    if (this.#added.size === 0 && !this.#hasMoved && this.#kept.every(Boolean))
      return before.after({ sweptAt, states: before.states.with(this.#changed), moves, qualities });
    const places = [...this.#kept.keys()].filter((place) => this.#kept[place]);
    const kept = places.map((place) => this.#changed.get(place) ?? before.states.at(place));
    const states = [...kept, ...this.#added.values()];
    const compact = (values: Float64Array) =>
      Float64Array.from(states, (_, i) => values[places[i] ?? -1] ?? Number.NaN);
    return rowsOf(sweptAt, states, { moves: compact(moves), qualities: compact(qualities) });
  }
}

/** What `state` moved since `before`; undefined where more than that differs. */
function moveOf(before: RecordingState, state: RecordingState, sweptAt: Instant): number | undefined {
  if (!isSteady(before, state)) return undefined;
  const { readAt, lastSeenAt, onlineSeenAt, presentAt } = state;
  const isSeenAsBefore = lastSeenAt === before.lastSeenAt && onlineSeenAt === before.onlineSeenAt;
  const isAsBefore = isSeenAsBefore && readAt === before.readAt;
  if (presentAt !== sweptAt) {
    const isSame = isAsBefore && presentAt === before.presentAt && state.averageQuality === before.averageQuality;
    return isSame ? Number.NaN : undefined;
  }
  if (isAsBefore) return PRESENT;
  if (readAt !== sweptAt) return undefined;
  if (isSeenAsBefore) return READ;
  return lastSeenAt !== undefined && lastSeenAt === onlineSeenAt && lastSeenAt > READ ? lastSeenAt : undefined;
}

function isSteady(before: RecordingState, state: RecordingState): boolean {
  return (
    before.locationId === state.locationId &&
    before.status === state.status &&
    before.since === state.since &&
    before.history === state.history &&
    before.outage === state.outage &&
    before.alerts === state.alerts
  );
}
