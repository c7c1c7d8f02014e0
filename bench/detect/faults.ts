/** What goes wrong with the recordings of a world, from a seed: each at its own times, seldom, and never two at once. */
import type { Interval } from "../../src/lib/intervals.ts";
import { createYearRandom } from "../year/random.ts";
import type { PastFault, VisitsWorld } from "./visits-world.ts";

/** `blind`: online and counts nobody; `dim`: sees a part; `offline`: its status says so, a distractor. */
export type FaultKind = "blind" | "dim" | "turned" | "ghosts" | "offline";

export interface Fault extends Interval {
  readonly kind: FaultKind;
  readonly locationId: string;
  readonly recordingId: string;
  /** Taxonomies. */
  readonly zones: readonly string[];
  /** Of its zones, one is an entrance. */
  readonly isEntrance: boolean;
  /** Another recording covers one of its zones too. */
  readonly isShared: boolean;
}

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
/** Between two faults of a recording, so that neither explains the other. */
const APART_MS = 3 * DAY_MS;
/** Of a recording in a month, and how long. */
const MIX: Readonly<Record<FaultKind, { readonly each: number; readonly from: number; readonly to: number }>> = {
  blind: { each: 0.2, from: 1.25 * DAY_MS, to: 5 * DAY_MS },
  dim: { each: 0.08, from: 1.25 * DAY_MS, to: 5 * DAY_MS },
  turned: { each: 0.04, from: 1.25 * DAY_MS, to: 5 * DAY_MS },
  ghosts: { each: 0.08, from: 0.5 * DAY_MS, to: 5 * DAY_MS },
  offline: { each: 0.4, from: DAY_MS / 72, to: DAY_MS },
};

/** `entrances`: the taxonomies of zones whose people are a location's entries. */
export function breakWorld(world: VisitsWorld, seed: number, span: Interval, entrances: ReadonlySet<string>): Fault[] {
  return world.locations.flatMap(({ id: locationId, recordings }) =>
    recordings.flatMap((recording) => {
      const random = createYearRandom(seed, `faults ${recording.id}`);
      const others = recordings.filter((other) => other !== recording).flatMap(({ taxonomies }) => taxonomies);
      const isShared = recording.taxonomies.some((zone) => others.includes(zone));
      const isEntrance = recording.taxonomies.some((zone) => entrances.has(zone));
      return timesOf(random, span).map(({ kind, from, to }): Fault => {
        world.impair(recording.id, impairmentOf(kind, random), from, to);
        const zones = recording.taxonomies;
        return { kind, from, to, locationId, recordingId: recording.id, zones, isEntrance, isShared };
      });
    }),
  );
}

function timesOf(random: ReturnType<typeof createYearRandom>, { from, to }: Interval) {
  const kinds = Object.entries(MIX) as [FaultKind, (typeof MIX)[FaultKind]][];
  const planned = kinds.flatMap(([kind, { each, ...length }]) =>
    [...random.moments({ from, to }, (each * (to - from)) / MONTH_MS)].map((at) => {
      const begins = Math.round(at / 60_000) * 60_000;
      const lasts = Math.round(random.length(length) / 60_000) * 60_000;
      return { kind, from: begins, to: begins + lasts };
    }),
  );
  let free = from;
  return planned
    .sort((a, b) => a.from - b.from)
    .filter((fault) => {
      const isFree = fault.from >= free && fault.to < to;
      if (isFree) free = fault.to + APART_MS;
      return isFree;
    });
}

function impairmentOf(kind: FaultKind, random: ReturnType<typeof createYearRandom>): PastFault {
  if (kind === "offline") return { offline: true };
  if (kind === "turned") return { turned: true };
  if (kind === "dim") return { sees: random.between({ from: 0.25, to: 0.75 }) };
  if (kind === "ghosts") return { ghosts: Math.round(random.length({ from: 6, to: 90 })) };
  return random.chance(0.5) ? { freeze: true } : { sees: 0 };
}
