/** States of recordings in columns: about 70 bytes each, where an object with its times takes 220. */
import type { Instant } from "../lib/clock.ts";
import type { RecordingState } from "./shard-state.ts";

/** Of each recording, in this order; NaN for undefined. */
const NUMBERS = ["readAt", "since", "presentAt", "lastSeenAt", "onlineSeenAt", "averageQuality"] as const;
const WIDTH = NUMBERS.length;

/** What few recordings have. */
type More = { readonly [K in "history" | "outage" | "alerts"]: RecordingState[K] };
const NOTHING: More = { history: undefined, outage: undefined, alerts: undefined };

interface Columns {
  readonly ids: readonly string[];
  readonly locationIds: readonly string[];
  readonly statuses: RecordingState["status"][];
  readonly numbers: Float64Array;
  /** By place. */
  readonly more: Map<number, More>;
}

/** Never changed once built. */
export class StateColumns {
  readonly #columns: Columns;
  /** Stands for these states without keeping them. */
  readonly #key = {};
  /** Which states these were made of, and where they differ. */
  #before: { readonly key: object; readonly places: readonly number[] } | undefined;

  private constructor(columns: Columns, states: Iterable<readonly [number, RecordingState]>) {
    this.#columns = columns;
    for (const [place, state] of states) set(columns, place, state);
  }

  static of(states: readonly RecordingState[]): StateColumns {
    const ids = states.map(({ id }) => id);
    const locationIds = states.map(({ locationId }) => locationId);
    const statuses = states.map(({ status }) => status);
    const numbers = new Float64Array(states.length * WIDTH);
    return new StateColumns({ ids, locationIds, statuses, numbers, more: new Map() }, states.entries());
  }

  /** With other states at these places, of the same recordings and locations; the same object without any. */
  with(states: ReadonlyMap<number, RecordingState>): StateColumns {
    if (states.size === 0) return this;
    const { statuses, numbers, more, ...same } = this.#columns;
    const columns = { ...same, statuses: [...statuses], numbers: numbers.slice(), more: new Map(more) };
    const next = new StateColumns(columns, states);
    next.#before = { key: this.#key, places: [...states.keys()] };
    return next;
  }

  get ids(): readonly string[] {
    return this.#columns.ids;
  }

  get locationIds(): readonly string[] {
    return this.#columns.locationIds;
  }

  get statuses(): Readonly<Columns["statuses"]> {
    return this.#columns.statuses;
  }

  readAt(place: number): Instant {
    return this.#number(place, 0);
  }

  since(place: number): Instant {
    return this.#number(place, 1);
  }

  presentAt(place: number): Instant {
    return this.#number(place, 2);
  }

  lastSeenAt(place: number): Instant | undefined {
    return defined(this.#number(place, 3));
  }

  averageQuality(place: number): number | undefined {
    return defined(this.#number(place, 5));
  }

  more(place: number): More {
    return this.#columns.more.get(place) ?? NOTHING;
  }

  /** Places of those with alerts. */
  alerting(): number[] {
    return [...this.#columns.more].filter(([, { alerts }]) => alerts).map(([place]) => place);
  }

  /** A new object each time. */
  at(place: number): RecordingState {
    const { ids, locationIds, statuses, more } = this.#columns;
    const { history, outage, alerts } = more.get(place) ?? NOTHING;
    return {
      id: ids[place] as string,
      locationId: locationIds[place] as string,
      status: statuses[place],
      readAt: this.#number(place, 0),
      since: this.#number(place, 1),
      lastSeenAt: defined(this.#number(place, 3)),
      onlineSeenAt: defined(this.#number(place, 4)),
      averageQuality: defined(this.#number(place, 5)),
      presentAt: this.#number(place, 2),
      history,
      outage,
      alerts,
    };
  }

  /** Places of recordings that have another state in `other`; undefined where these states were not made of them. */
  differing(other: StateColumns): readonly number[] | undefined {
    if (other === this) return [];
    return this.#before?.key === other.#key ? this.#before.places : undefined;
  }

  #number(place: number, of: number): number {
    return this.#columns.numbers[place * WIDTH + of] as number;
  }
}

function set({ statuses, numbers, more }: Columns, place: number, state: RecordingState): void {
  const { history, outage, alerts } = state;
  statuses[place] = state.status;
  for (const [i, name] of NUMBERS.entries()) numbers[place * WIDTH + i] = state[name] ?? Number.NaN;
  if (history || outage || alerts) more.set(place, { history, outage, alerts });
  else more.delete(place);
}

function defined(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
