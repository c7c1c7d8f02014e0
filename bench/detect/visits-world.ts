/** A world of visits without a server and without timers: counts in any past span as served at any instant, and the truth. */
import { EventEmitter } from "node:events";
import type { Instant } from "../../src/lib/clock.ts";
import type { Interval } from "../../src/lib/intervals.ts";
import { findLocation, findRecording } from "../../src/simulator/change.ts";
import type { Impairments, SimLocation } from "../../src/simulator/fleet.ts";
import { createHourCalendar } from "../../src/simulator/local-time.ts";
import type { Scenario } from "../../src/simulator/scenario.ts";
import { Traits } from "../../src/simulator/traits.ts";
import { VisitCounts } from "../../src/simulator/visits/counts.ts";
import { Visits } from "../../src/simulator/visits/parameters.ts";
import { World } from "../../src/simulator/world.ts";
import { createIdeal } from "./ideal.ts";

export interface VisitsWorldOptions {
  readonly seed: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  /** Its `traits` and `visits`; events are not played. */
  readonly scenario?: Scenario | undefined;
  /** Recordings are offline now and then until a day before; afterwards only as `impair` says. */
  readonly startedAt: Instant;
}

/** A location as a whole, or one of its zones by taxonomy. */
export interface Place {
  readonly locationId: string;
  readonly zone?: string | undefined;
}

export interface PlaceAndTime extends Place {
  readonly from: Instant;
  readonly to: Instant;
  /** When it is asked; left out: when nothing is corrected any more. */
  readonly asOf?: Instant | undefined;
}

/** Every instant may lie in the past; `offline` is a status, the others leave it online. */
export type PastFault = Partial<Impairments> & { readonly offline?: true };

export type VisitsWorld = ReturnType<typeof makeVisitsWorld>;

/** The same options give the same world. */
export function makeVisitsWorld(options: VisitsWorldOptions) {
  const { startedAt, seed } = options;
  const { traits = Traits.parse({}), visits = Visits.parse({}) } = options.scenario ?? {};
  const world = new World({ ...options, traits, visits, clock: { now: () => startedAt }, events: new EventEmitter() });
  const counts = new VisitCounts({ seed, traits, world: visits, calendar: createHourCalendar(), startedAt });
  const locationAt = (id: string) => world.location(id) ?? findLocation(world, id);
  /** A location with the zone of that taxonomy, or with its covered entrances. */
  const placeOf = (location: SimLocation, zone?: string): [location: SimLocation, zones: number[]] => {
    return [location, counts.zonesOf(location, ({ taxonomy, entrance }) => (zone ? taxonomy === zone : !!entrance))];
  };
  const places = new Map<string, ReturnType<typeof placeOf>>();
  const resolve = ({ locationId, zone }: Place) => {
    const key = `${locationId} ${zone ?? ""}`;
    const place = places.get(key) ?? placeOf(locationAt(locationId), zone);
    places.set(key, place);
    return place;
  };
  const ideal = createIdeal({ seed, visits, planAt: (location, at) => counts.planAt(location, at) });
  const spanOf = ({ from, to, asOf = Number.POSITIVE_INFINITY }: PlaceAndTime) => ({ from, to, asOf });
  return {
    /** Locations with their recordings and zones. */
    locations: world.locations,
    /** What is wrong with a recording from one instant to another; do not let two of one kind overlap. */
    impair(recordingId: string, { offline, ...impairments }: PastFault, from: Instant, until: Instant): void {
      const { id } = findRecording(world, recordingId);
      for (const [kind, value] of Object.entries(impairments) as [keyof Impairments, number | boolean][]) {
        world.endImpairments(world.impair(id, kind, value, from), until);
      }
      if (!offline) return;
      world.setStatus(id, "offline", from);
      world.setStatus(id, "online", until);
    },
    /** People entering (or in the zone) as the service says; null: not one segment arrived. */
    countedBetween(asked: PlaceAndTime): number | null {
      const [location, zones] = resolve(asked);
      const count = counts.count(location, zones, spanOf(asked));
      return count > 0 || counts.isKnown(location, zones, spanOf(asked)) ? count : null;
    },
    /** Sales at the tills, whatever cameras saw. */
    salesBetween({ locationId, ...asked }: Omit<PlaceAndTime, "zone">): number {
      return counts.sales(locationAt(locationId), spanOf({ locationId, ...asked }));
    },
    /** People who truly came. */
    trueVisitsBetween(asked: Omit<PlaceAndTime, "asOf">): number {
      const [location, zones] = resolve(asked);
      return zones.reduce((sum, zone) => sum + counts.trueVisits(location, zone, asked), 0);
    },
    /** Visits that would have been counted and were not, and those that were counted and were none. */
    missedBetween(
      asked:
        | Omit<PlaceAndTime, "asOf">
        | { readonly recordingId: string; readonly from: Instant; readonly to: Instant },
    ) {
      if (!("recordingId" in asked)) return counts.missed(...resolve(asked), asked);
      const recording = findRecording(world, asked.recordingId);
      return counts.missed(recording.location, counts.zonesOf(recording.location), asked, recording);
    },
    /** The surprise, in nats, of nobody counted by a recording, for one who knows the true rates. */
    idealSurprise({ recordingId, ...span }: { readonly recordingId: string } & Interval): number {
      const { location, taxonomies } = findRecording(world, recordingId);
      return ideal(location, taxonomies, span);
    },
    /** When a recording was offline or impaired. */
    faultsBetween({
      recordingId,
      from,
      to,
    }: {
      readonly recordingId: string;
      readonly from: Instant;
      readonly to: Instant;
    }) {
      return counts.faultsOf(findRecording(world, recordingId), { from, to });
    },
    /** How the local day that holds an instant was planned. */
    dayAt: (locationId: string, at: Instant) => counts.planAt(locationAt(locationId), at),
  };
}
