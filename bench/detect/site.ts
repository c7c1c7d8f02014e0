/** One location as lenswatch knows it on an accelerated clock: what was served when it was read, and nothing else. */
import { DateTime } from "luxon";
import { type CountsOfSite, countsOf, type LearnedSite, learnSite } from "../../src/counts/evaluate.ts";
import type { CountedSite, CountSeries } from "../../src/counts/series.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { LocalHours } from "../../src/lib/local-hours.ts";
import type { Fault } from "./faults.ts";
import type { VisitsWorld } from "./visits-world.ts";

type Location = VisitsWorld["locations"][number];
type Reading = { readonly at: Instant; readonly since: Instant; readonly count: number | null };
type Count = (from: Instant, to: Instant, asOf: Instant) => number | null;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const READINGS_MS = 36 * HOUR_MS;
const MOST_OLD = 50;
/** Place of the sales among the series. */
const SALES = 1;
const PAST_DAYS = 57;
/** Counts of a day are corrected in the night after it. */
const CORRECTED_AT_HOUR = 4;

/** What one series was served: at each step since its day began, and each day's hours when they are corrected. */
interface Drawn {
  readonly zone: string | undefined;
  /** By place of the step; null: no data. */
  readonly served: (number | null)[];
  /** By the day's place, from the first that is learned from. */
  readonly corrected: (number | null)[][];
}

interface Day {
  readonly start: Instant;
  readonly end: Instant;
}

interface Series extends CountSeries {
  readonly hours: Map<Instant, number | null>;
  readonly readings: Reading[];
}

/** Draws all that will be read, once: a world forgets what it drew. */
export class SeenSite {
  readonly location: Location;
  /** When it is read. */
  readonly steps: readonly Instant[];
  readonly #days: readonly Day[];
  readonly #drawn: readonly Drawn[];
  readonly #series: readonly Series[];
  readonly #hours: LocalHours;
  readonly #offline: readonly Fault[];
  #step = 0;
  /** Place of today, and whether yesterday was read again. */
  #today = PAST_DAYS;
  #hasYesterday = true;
  #learned: LearnedSite | undefined;

  constructor(
    world: VisitsWorld,
    location: Location,
    faults: readonly Fault[],
    span: { readonly from: Instant; readonly to: Instant; readonly every: number },
    hours: LocalHours,
  ) {
    this.location = location;
    this.#hours = hours;
    this.#offline = faults.filter(({ kind, locationId }) => kind === "offline" && locationId === location.id);
    this.#days = daysOf(location.timezone, span);
    this.steps = stepsOf(world, location, this.#days, span);
    this.#drawn = drawAll(world, location, this.#days, this.steps);
    const { id: locationId, timezone } = location;
    this.#series = this.#drawn.map(({ zone }) => ({ locationId, zone, timezone, hours: new Map(), readings: [] }));
    for (let day = 0; day < PAST_DAYS; day++) this.#readDay(day);
  }

  /** Reads what is served at `now`; false: it is not read then. */
  read(now: Instant): boolean {
    if (this.steps[this.#step] !== now) return false;
    while (now > (this.#days[this.#today]?.end ?? now)) {
      this.#today++;
      this.#hasYesterday = false;
    }
    const { start } = this.#days[this.#today] as Day;
    for (const [i, { readings }] of this.#series.entries()) {
      // Sales are read since the day before began, as a rate needs entries.
      const since = i === SALES ? (this.#days[this.#today - 1] as Day).start : start;
      readings.push({ at: now, since, count: this.#drawn[i]?.served[this.#step] ?? null });
      const old = readings.findIndex(({ at }) => at > now - READINGS_MS);
      // Not each time: it copies.
      if (old > MOST_OLD) readings.splice(0, old);
    }
    this.#step++;
    if (this.#hasYesterday || now < start + CORRECTED_AT_HOUR * HOUR_MS) return true;
    this.#hasYesterday = true;
    this.#readDay(this.#today - 1);
    this.#learned = undefined;
    return true;
  }

  /** Learned once a day: the past changes no more often here. */
  counts(now: Instant, withTills = true): CountsOfSite {
    const [entries, sales, ...zones] = this.#series;
    const { id: locationId, timezone, organisation, recordings } = this.location;
    const site: CountedSite = {
      ...{ locationId, entries: entries as CountSeries, sales: withTills ? sales : undefined, zones },
      recordings: recordings.map(({ id: recordingId, taxonomies }) => ({
        ...{ recordingId, zones: taxonomies },
        outages: this.#offline.flatMap((fault) =>
          fault.recordingId === recordingId && fault.from <= now
            ? [{ from: fault.from, to: Math.min(now, fault.to) }]
            : [],
        ),
      })),
      groups: { timezone, organisation },
    };
    this.#learned ??= learnSite(site, now, { hours: this.#hours });
    return countsOf(site, this.#learned, now, { hours: this.#hours });
  }

  #readDay(day: number): void {
    const { start } = this.#days[day] as Day;
    for (const [i, { hours }] of this.#series.entries()) {
      for (const [nth, count] of (this.#drawn[i]?.corrected[day] ?? []).entries()) {
        hours.set(start + nth * HOUR_MS, count);
      }
      for (const hour of hours.keys()) {
        if (hour >= start - PAST_DAYS * DAY_MS) break;
        hours.delete(hour);
      }
    }
  }
}

function daysOf(zone: string, { from, to }: { readonly from: Instant; readonly to: Instant }): Day[] {
  const days: Day[] = [];
  let at = DateTime.fromMillis(from, { zone }).startOf("day").minus({ days: PAST_DAYS });
  for (; at.toMillis() < to; at = at.plus({ days: 1 }))
    days.push({ start: at.toMillis(), end: at.plus({ days: 1 }).toMillis() });
  return days;
}

/** At night once an hour is enough. */
function stepsOf(
  world: VisitsWorld,
  { id }: Location,
  days: readonly Day[],
  { from, to, every }: { readonly from: Instant; readonly to: Instant; readonly every: number },
): Instant[] {
  const steps: Instant[] = [];
  for (const { start, end } of days.slice(PAST_DAYS)) {
    const { opens, closes } = world.dayAt(id, (start + end) / 2);
    for (let now = Math.floor(start / every) * every + every; now <= end; now += every) {
      const minute = (now - start) / 60_000;
      const isAwake = now % HOUR_MS === 0 || (minute >= opens - 60 && minute <= closes + 120);
      if (isAwake && now > from && now <= to) steps.push(now);
    }
  }
  return steps;
}

function drawAll(
  world: VisitsWorld,
  { id: locationId, recordings }: Location,
  days: readonly Day[],
  steps: readonly Instant[],
): Drawn[] {
  const counted =
    (zone?: string): Count =>
    (from, to, asOf) =>
      world.countedBetween({ locationId, zone, from, to, asOf });
  const sales: Count = (from, to, asOf) => {
    // A rate is undefined where nobody was counted.
    const isCounted = (world.countedBetween({ locationId, from, to, asOf }) ?? 0) > 0;
    return isCounted ? world.salesBetween({ locationId, from, to, asOf }) : null;
  };
  const zones = [...new Set(recordings.flatMap(({ taxonomies }) => taxonomies))];
  const all = [
    { zone: undefined, count: counted() },
    { zone: undefined, count: sales },
    ...zones.map((zone) => ({ zone, count: counted(zone) })),
  ];
  const drawn = all.map(({ zone }): Drawn => ({ zone, served: [], corrected: [] }));
  let step = 0;
  // Day by day, so that each is drawn once.
  for (const [place, { start, end }] of days.entries()) {
    const from = steps[step] ?? Number.POSITIVE_INFINITY;
    const asOf = Math.max(end + CORRECTED_AT_HOUR * HOUR_MS, place < PAST_DAYS ? (days[PAST_DAYS]?.start ?? 0) : 0);
    const begun = step;
    while ((steps[step] ?? Number.POSITIVE_INFINITY) <= end) step++;
    for (const [i, { count }] of all.entries()) {
      const own = drawn[i] as Drawn;
      const since = i === SALES ? (days[place - 1]?.start ?? start) : start;
      for (const now of from <= end ? steps.slice(begun, step) : []) own.served.push(count(since, now, now));
      const hours: (number | null)[] = [];
      for (let hour = start; hour < end; hour += HOUR_MS) hours.push(count(hour, hour + HOUR_MS, asOf));
      own.corrected.push(hours);
    }
  }
  return drawn;
}
