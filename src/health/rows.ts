/**
 * The recordings of a shard after a sweep, in a fixed order. What moves with every sweep is apart from what changes: a
 * recording whose sweep found nothing new keeps its object, and costs two numbers. Never changed once built.
 */
import type { Instant } from "../lib/clock.ts";
import { countLabels, countRows, type LabelCounts, type ShardCounts } from "./shard-counts.ts";
import type { Inventory, RecordingState, ShardState } from "./shard-state.ts";

/**
 * What the sweep moved, a number for each recording. NaN: nothing, its state has it all. PRESENT: it was in the answer,
 * without a good reading. READ: it was read, and last seen as its state says. Above 0: it was read, and last seen then.
 */
const PRESENT = -1;
const READ = 0;

/** The same object while the same recordings stand at the same places, and none moved to another location. */
interface Order {
  readonly index: ReadonlyMap<string, number>;
  /** Places by id, once somebody asked for them. */
  sorted?: Uint32Array;
  /** Of a revision of the inventory, once somebody asked for them. */
  labels?: { readonly revision: number | undefined; readonly counts: LabelCounts };
}

interface Parts {
  readonly sweptAt: Instant;
  readonly states: readonly RecordingState[];
  readonly order: Order;
  readonly moves: Float64Array;
  /** The average quality, NaN where the state has it. */
  readonly qualities: Float64Array;
}

export class Rows implements ReadonlyMap<string, RecordingState> {
  readonly #parts: Parts;
  /** States with what moved, of those that were asked for: the same object each time. */
  #whole: (RecordingState | undefined)[] | undefined;
  #counted: (ShardCounts & { readonly at: Instant; readonly statusIntervalMs: number }) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The recordings of any state. */
  static of({ sweptAt, recordings }: Pick<ShardState, "sweptAt" | "recordings">): Rows {
    if (recordings instanceof Rows) return recordings;
    return rowsOf(sweptAt, [...recordings.values()]);
  }

  get size(): number {
    return this.#parts.states.length;
  }

  /** The states that `moves` and `qualities` are added to: the same objects as before where nothing changed. */
  get states(): readonly RecordingState[] {
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
    return (moves[i] ?? Number.NaN) >= READ ? sweptAt : (states[i]?.readAt ?? 0);
  }

  /** Whether the last answer was without it. */
  isAbsent(i: number): boolean {
    const { states, moves, sweptAt } = this.#parts;
    return Number.isNaN(moves[i]) && states[i]?.presentAt !== sweptAt;
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

  /** The whole state at a place. */
  at(i: number): RecordingState | undefined {
    const { states, moves, sweptAt } = this.#parts;
    const state = states[i];
    const move = moves[i] ?? Number.NaN;
    if (!state || Number.isNaN(move)) return state;
    this.#whole ??= new Array(states.length).fill(undefined);
    const onlineSeenAt = move > READ ? move : state.onlineSeenAt;
    this.#whole[i] ??= { ...state, ...this.movedAt(i), onlineSeenAt, presentAt: sweptAt };
    return this.#whole[i];
  }

  /** What sweeps move of the state at a place, without the whole of it. */
  movedAt(i: number): Pick<RecordingState, "readAt" | "lastSeenAt" | "averageQuality"> {
    const { states, moves, qualities, sweptAt } = this.#parts;
    const state = states[i] as RecordingState;
    const [move, quality] = [moves[i] ?? Number.NaN, qualities[i] ?? Number.NaN];
    return {
      readAt: move >= READ ? sweptAt : state.readAt,
      lastSeenAt: move > READ ? move : state.lastSeenAt,
      averageQuality: Number.isNaN(quality) ? state.averageQuality : quality,
    };
  }

  /** Gives `find(id)`: its place, or −1. Ids in the order of the rows need no look-up. */
  finder(): (id: string) => number {
    const { states } = this.#parts;
    const { index } = this.#parts.order;
    let ahead = 0;
    return (id) => {
      const place = states[ahead]?.id === id ? ahead : (index.get(id) ?? -1);
      if (place >= 0) ahead = place + 1;
      return place;
    };
  }

  /** The places of those with a greater id, by id. */
  *placesAfter(id: string): Generator<number, void> {
    const { states, order } = this.#parts;
    const idAt = (place = 0) => states[place]?.id ?? "";
    order.sorted ??= Uint32Array.from(states.keys()).sort((a, b) => (idAt(a) < idAt(b) ? -1 : 1));
    let [from, to] = [0, states.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (idAt(order.sorted[middle]) <= id) from = middle + 1;
      else to = middle;
    }
    yield* order.sorted.subarray(from);
  }

  has(id: string): boolean {
    return this.#parts.order.index.has(id);
  }

  get(id: string): RecordingState | undefined {
    const i = this.#parts.order.index.get(id);
    return i === undefined ? undefined : this.at(i);
  }

  keys(): MapIterator<string> {
    return this.#parts.order.index.keys();
  }

  *values(): MapIterator<RecordingState> {
    for (const i of this.#parts.states.keys()) yield this.at(i) as RecordingState;
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

function rowsOf(sweptAt: Instant, states: readonly RecordingState[], moved: Partial<Parts> = {}): Rows {
  const index = new Map(states.map(({ id }, i) => [id, i]));
  const none = () => new Float64Array(states.length).fill(Number.NaN);
  return new Rows({ sweptAt, states, order: { index }, moves: none(), qualities: none(), ...moved });
}

/** Collects the rows of a sweep after those of the one before. */
export class NextRows {
  readonly #before: Rows;
  readonly #sweptAt: Instant;
  /** By place before; a hole where it is not there. */
  readonly #states: (RecordingState | undefined)[];
  readonly #moves: Float64Array;
  readonly #qualities: Float64Array;
  #kept = 0;
  #hasMoved = false;
  readonly #added = new Map<string, RecordingState>();

  constructor(before: Rows, sweptAt: Instant) {
    this.#before = before;
    this.#sweptAt = sweptAt;
    this.#states = new Array(before.size).fill(undefined);
    this.#moves = new Float64Array(before.size).fill(Number.NaN);
    this.#qualities = new Float64Array(before.size).fill(Number.NaN);
  }

  /** `place`: of the recording before, −1 where it is new. */
  has(place: number, id: string): boolean {
    return place < 0 ? this.#added.has(id) : this.#states[place] !== undefined;
  }

  /** One whose reading says nothing new, but when it was last seen and its quality; false where that is not so. */
  keep(place: number, lastSeenAt: Instant | undefined, averageQuality: number | undefined): boolean {
    const state = this.#before.states[place];
    if (!state || lastSeenAt === undefined || !(lastSeenAt > READ)) return false;
    if (!this.#setQuality(place, state, averageQuality)) return false;
    this.#set(place, state, lastSeenAt);
    return true;
  }

  /** The whole state of a recording. The object of before is kept where only times or quality differ. */
  put(place: number, state: RecordingState): void {
    if (place < 0) {
      this.#added.set(state.id, state);
      return;
    }
    const before = this.#before.states[place];
    if (before?.locationId !== state.locationId) this.#hasMoved = true;
    const move = before && moveOf(before, state, this.#sweptAt);
    if (before && move !== undefined && this.#setQuality(place, before, state.averageQuality))
      this.#set(place, before, move);
    else this.#set(place, state, Number.NaN);
  }

  #set(place: number, state: RecordingState, move: number): void {
    if (this.#states[place] === undefined) this.#kept++;
    this.#states[place] = state;
    this.#moves[place] = move;
  }

  #setQuality(place: number, { averageQuality: before }: RecordingState, quality: number | undefined): boolean {
    if (quality === before) return true;
    if (quality === undefined || before === undefined) return false;
    this.#qualities[place] = quality;
    return true;
  }

  build(): Rows {
    const sweptAt = this.#sweptAt;
    const [moves, qualities] = [this.#moves, this.#qualities];
    if (this.#added.size === 0 && this.#kept === this.#before.size && !this.#hasMoved)
      return this.#before.after({ sweptAt, states: this.#states as RecordingState[], moves, qualities });
    const places = [...this.#states.keys()].filter((place) => this.#states[place]);
    const states = [...places.map((place) => this.#states[place] as RecordingState), ...this.#added.values()];
    const compact = (values: Float64Array) =>
      Float64Array.from(states, (_, i) => values[places[i] ?? -1] ?? Number.NaN);
    return rowsOf(sweptAt, states, { moves: compact(moves), qualities: compact(qualities) });
  }
}

/** What `state` moved since `before`; undefined where more than that differs. */
function moveOf(before: RecordingState, state: RecordingState, sweptAt: Instant): number | undefined {
  if (state === before) return Number.NaN;
  if (state.presentAt !== sweptAt || !isSteady(before, state)) return undefined;
  const { readAt, lastSeenAt, onlineSeenAt } = state;
  const isSeenAsBefore = lastSeenAt === before.lastSeenAt && onlineSeenAt === before.onlineSeenAt;
  if (readAt === before.readAt) return isSeenAsBefore ? PRESENT : undefined;
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
