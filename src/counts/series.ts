/** The known counts of a location: of its entries, of its zones, and of its tills. */
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";

/** Entries of a location, or of one of its zones. */
export interface CountSeries {
  readonly locationId: string;
  /** Taxonomy of the zone; undefined: the location's entries. */
  readonly zone?: string | undefined;
  readonly timezone: string;
  /**
   * Counted in whole local hours, by the hour's start; the last eight weeks. `null`: the service had no data; absent:
   * not asked.
   */
  readonly hours: ReadonlyMap<Instant, number | null>;
  /**
   * Readings of the last day and a half, oldest first: counted from `since` (a local hour's or day's start) until `at`,
   * as served at `at`.
   */
  readonly readings: readonly { readonly at: Instant; readonly since: Instant; readonly count: number | null }[];
}

/** Everything that is counted at one location. */
export interface CountedSite {
  readonly locationId: string;
  readonly entries: CountSeries;
  /** Zones of the location; none where they are not read. */
  readonly zones: readonly CountSeries[];
  /** Sales at the tills, as `rate × entries`; undefined where they are not read. */
  readonly sales?: CountSeries | undefined;
  readonly recordings: readonly CountedRecording[];
  /** Labels that it shares with other locations: `organisation`, `timezone`, … */
  readonly groups: Readonly<Record<string, string>>;
}

export interface CountedRecording {
  readonly recordingId: string;
  /** Taxonomies of the zones that it covers. */
  readonly zones: readonly string[];
  /** Times at which it did not record: offline, or segments missing; the last eight weeks and now. */
  readonly outages: readonly Interval[];
}
