/**
 * The zone of uptime indexes, local or UTC, which the contract leaves open. They are read in local time until most recordings
 * of the last answers contradict that: one recording proves no more than that its own time zone is wrong.
 */
import { type Clock, HOUR_MS, type Instant } from "../lib/clock.ts";
import type { ReportDeviation } from "./reporter.ts";
import type { WallClock } from "./zoned-time.ts";

/** A clock may be wrong by so much. */
const FUTURE_MS = 2 * HOUR_MS;
/** The newest bucket of a recording that delivers began within this time. */
const RECENT_MS = 2 * HOUR_MS;
/** Fewer recordings decide nothing about the others. */
const FEW = 10;
/** Counts are halved at this many recordings: what was read long ago weighs less and less. */
const MOST_COUNTED = 10_000;

/** The newest index of segments that were received, and the zone of the recording. */
export interface NewestIndex {
  readonly index: string;
  readonly timezone: string;
}

export function createIndexZone(deps: {
  readonly wall: WallClock;
  readonly clock: Clock;
  readonly report: ReportDeviation;
  readonly configured: "recording" | "utc";
}) {
  const { wall, clock, report, configured } = deps;
  const zones = new Map<string, { utc: number; all: number }>();
  let isUtc = configured === "utc";

  const at = ({ index }: NewestIndex, zone: string): Instant | undefined => wall.read(index, zone)?.at;
  /** Segments cannot have been received in the future. */
  const isOfFuture = (start: Instant | undefined) => start !== undefined && start > clock.now() + FUTURE_MS;

  /** True or false where a recording shows it: not where it is offline, or its local time is about UTC. */
  function showsUtc(one: NewestIndex): boolean | undefined {
    const now = clock.now();
    const [local, utc] = [at(one, one.timezone), at(one, "UTC")];
    if (local === undefined || utc === undefined || local === utc) return undefined;
    if (isOfFuture(local)) return isOfFuture(utc) ? undefined : true;
    return local >= now - RECENT_MS && (utc > now || utc < now - RECENT_MS) ? false : undefined;
  }

  function count(one: NewestIndex): void {
    const shown = showsUtc(one);
    if (shown === undefined) return;
    const zone = zones.get(one.timezone) ?? { utc: 0, all: 0 };
    zones.set(one.timezone, { utc: zone.utc + (shown ? 1 : 0), all: zone.all + 1 });
  }

  /** Most recordings that show it, and of several zones two at least. */
  function areMostInUtc(): boolean {
    const counts = [...zones.values()];
    const all = counts.reduce((sum, zone) => sum + zone.all, 0);
    const utc = counts.reduce((sum, zone) => sum + zone.utc, 0);
    if (all >= MOST_COUNTED) halve();
    const agreeing = counts.filter((zone) => zone.utc * 2 > zone.all).length;
    return all >= FEW && utc * 2 > all && agreeing >= Math.min(2, counts.length);
  }

  function halve(): void {
    for (const [name, { utc, all }] of zones) {
      if (all < 1) zones.delete(name);
      else zones.set(name, { utc: utc / 2, all: all / 2 });
    }
  }

  return {
    /** Counts what the recordings of one answer show, each once. */
    weigh(newest: Iterable<NewestIndex>): void {
      if (configured === "utc") return;
      for (const one of newest) count(one);
      const wasUtc = isUtc;
      isUtc = areMostInUtc();
      if (isUtc && !wasUtc)
        report("utc_index", () => "uptime indexes seem to be in UTC: set service.uptime_index_timezone");
    },

    /** The zone to read a recording's indexes in; undefined where they are of the future in any. */
    zoneOf(timezone: string, newest: string | undefined): string | undefined {
      const [own, other] = isUtc ? ["UTC", timezone] : [timezone, "UTC"];
      if (configured === "utc" || newest === undefined) return own;
      const one = { index: newest, timezone };
      if (!isOfFuture(at(one, own))) return own;
      report(
        "utc_index",
        () => `uptime indexes of a recording in ${timezone} are of the future: is that its time zone?`,
      );
      return isOfFuture(at(one, other)) ? undefined : other;
    },
  };
}
