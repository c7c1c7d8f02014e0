/** Counts that the service has of a world's visits, in any span of time and as of any instant; nothing depends on the order of asking. */
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from "../../lib/clock.ts";
import { fraction, type Impairment, keyOf, type SimLocation, type SimRecording } from "../fleet.ts";
import type { CalendarHour, HourCalendar } from "../local-time.ts";
import type { Traits } from "../traits.ts";
import { outagesOf } from "../uptime.ts";
import type { Visits } from "./parameters.ts";
import { type DayOfVisits, drawDay, firstVisitAt, minuteOf, personNumberOf, type Visit, zoneIn } from "./people.ts";
import { type DayPlan, dayPlanOf, type Shop, shopOf } from "./shops.ts";
import { type DayOfSight, falseVisits, seersOf, sightOf } from "./sight.ts";

/** From its beginning until before its end; whole minutes count. `asOf`: when it is asked; never asked again: infinity. */
export interface CountSpan {
  readonly from: Instant;
  readonly to: Instant;
  readonly asOf: Instant;
}

/** `estimated`: as if every segment had arrived; `visible`: as if moreover nothing impaired a recording; `false`: what was none. */
type View = "served" | "estimated" | "visible" | "false";

/** A failure of a recording, and its times. */
type Fault = Readonly<Omit<Impairment, "kind">> & { readonly kind: Impairment["kind"] | "offline" };

/** The selection of visits: in a zone, in a view, by all of its recordings or only one. */
interface Asked {
  readonly location: SimLocation;
  readonly zone: number;
  readonly view: View;
  readonly only: SimRecording | undefined;
}

interface LocalDay {
  readonly n: number;
  readonly hours: readonly CalendarHour[];
  readonly startAt: Instant;
  readonly endAt: Instant;
  readonly plan: DayPlan;
  drawn: DayOfVisits | undefined;
  revision: number;
  readonly counted: Map<string, Float64Array>;
  readonly sights: Map<string, DayOfSight>;
}

/** Time zones are at most so far from UTC. */
const FARTHEST_MS = 14 * HOUR_MS;
/** Drawn visits kept, 8 bytes each and as much again for what is counted of them. */
const MOST_VISITS = 4_000_000;
/** At this local hour counts of the day before are corrected. */
const CORRECTION_HOUR = 3;
const DRAW = { phase: 111, correction: 112, corrected: 113 };

interface VisitCountsOptions {
  readonly seed: number;
  readonly world: Visits;
  readonly traits: Traits;
  readonly calendar: HourCalendar;
  /** The start of the simulator; the seeded outages lie before. */
  readonly startedAt: Instant;
}

export class VisitCounts {
  readonly #given: VisitCountsOptions;
  readonly #shops = new Map<string, { readonly shop: Shop; readonly days: Map<number, LocalDay> }>();
  #drawnVisits = 0;

  constructor(given: VisitCountsOptions) {
    this.#given = given;
  }

  /** Places, in the world's zones, of those that recordings of the location cover, or of the entrances among them. */
  zonesOf(location: SimLocation, only?: (zone: Visits["zones"][number]) => boolean): number[] {
    const covered = new Set(location.recordings.flatMap(({ taxonomies }) => taxonomies));
    const { zones } = this.#given.world;
    return zones.flatMap((zone, i) => (covered.has(zone.taxonomy) && (only?.(zone) ?? true) ? [i] : []));
  }

  taxonomyOf(zone = -1): string {
    return this.#given.world.zones[zone]?.taxonomy ?? "";
  }

  /** Visits counted in a zone, as parts that are each in order of time. */
  *parts(
    location: SimLocation,
    zone: number,
    span: CountSpan,
    view: View = "served",
    only?: SimRecording,
  ): Generator<Float64Array> {
    const until = Math.min(span.to, this.servedUntil(span.asOf));
    const asked = { location, zone, view, only };
    const isServed = view === "served" || view === "estimated";
    const corrected = isServed && until > span.from ? this.#correctedUntil(location, span.asOf) : until;
    for (const day of this.#daysIn(location, span.from, until)) {
      const final = Math.min(until, corrected);
      yield between(this.#counted(day, asked, true), span.from, final);
      if (until > corrected) yield between(this.#counted(day, asked, false), Math.max(span.from, corrected), until);
    }
  }

  count(location: SimLocation, zones: readonly number[], span: CountSpan, view?: View, only?: SimRecording): number {
    let counted = 0;
    for (const zone of zones) for (const part of this.parts(location, zone, span, view, only)) counted += part.length;
    return counted;
  }

  /** True where a segment of a recording of these zones arrived in the part of the span that is served by then. */
  isKnown(location: SimLocation, zones: readonly number[], span: CountSpan, view: View = "served"): boolean {
    const until = Math.min(span.to, this.servedUntil(span.asOf));
    const cover = new Set(zones.flatMap((zone) => this.#cover(location, zone)));
    for (const day of this.#daysIn(location, span.from, until)) {
      const first = Math.ceil(Math.max(span.from, day.startAt) / MINUTE_MS);
      const end = Math.min(until, day.endAt) / MINUTE_MS;
      for (const recording of cover) {
        const { isUsual, delivers } = this.#sight(recording, day, view !== "served");
        for (let minute = first; minute < end; minute++) if (isUsual || delivers(minute)) return true;
      }
    }
    return false;
  }

  /** `missed`: what its recordings, or the one, would have counted within their schedule; `false`: what was no visit. */
  missed(location: SimLocation, zones: readonly number[], { from, to }: Omit<CountSpan, "asOf">, only?: SimRecording) {
    const span = { from, to, asOf: Number.POSITIVE_INFINITY };
    const count = (view: View) => this.count(location, zones, span, view, only);
    const none = count("false");
    return { missed: count("visible") - (count("served") - none), false: none };
  }

  /** People who truly came to a zone, staff included. */
  trueVisits(location: SimLocation, zone: number, { from, to }: Omit<CountSpan, "asOf">): number {
    let came = 0;
    for (const day of this.#daysIn(location, from, to)) {
      for (const visit of between(this.#drawn(location, day).visits, from, to)) if (zoneIn(visit) === zone) came += 1;
    }
    return came;
  }

  /** Sales at the tills, which no camera counts. */
  sales(location: SimLocation, { from, to, asOf }: CountSpan): number {
    const until = Math.min(to, this.servedUntil(asOf));
    let sold = 0;
    for (const day of this.#daysIn(location, from, until)) {
      const { sales } = this.#drawn(location, day);
      sold += lowerBound(sales, Math.ceil(until / MINUTE_MS)) - lowerBound(sales, Math.ceil(from / MINUTE_MS));
    }
    return sold;
  }

  /** Failures of a recording, offline or impaired: the spans that touch this one, in order of their beginning. */
  faultsOf(recording: SimRecording, { from, to }: Omit<CountSpan, "asOf">): Fault[] {
    const { calendar, startedAt } = this.#given;
    const hours = calendar.hoursBetween(from - HOUR_MS, to, recording.location.timezone);
    const offline = outagesOf(recording, hours, startedAt).map(
      ([start, end]): Fault => ({ kind: "offline", value: true, from: start, until: end }),
    );
    return [...offline, ...recording.impairments]
      .filter((one) => one.from < to && one.until > from)
      .sort((a, b) => a.from - b.from);
  }

  /** The plan of the location's local day that holds an instant. */
  planAt(location: SimLocation, at: Instant): DayPlan {
    return this.#dayAt(location, at).plan;
  }

  /** Counts until then are there at `asOf`: they come on a grid of the service's own. */
  servedUntil(asOf: Instant): Instant {
    const { counts_refresh: refresh, counts_delay: delay } = this.#given.traits;
    if (refresh === 0 || asOf === Number.POSITIVE_INFINITY) return asOf - delay;
    const phase = Math.floor((fraction(this.#given.seed, DRAW.phase) * refresh) / MINUTE_MS) * MINUTE_MS;
    return Math.floor((asOf - phase) / refresh) * refresh + phase - delay;
  }

  #correctedUntil(location: SimLocation, asOf: Instant): Instant {
    if (this.#given.traits.counts_correction === 0 || asOf === Number.POSITIVE_INFINITY)
      return Number.POSITIVE_INFINITY;
    const day = this.#dayAt(location, asOf);
    const at = correctionOf(day);
    return at <= asOf ? at : correctionOf(this.#day(location, day.n - 1));
  }

  #cover(location: SimLocation, zone: number): SimRecording[] {
    const taxonomy = this.taxonomyOf(zone);
    return location.recordings.filter(({ taxonomies }) => taxonomies.includes(taxonomy));
  }

  #counted(day: LocalDay, asked: Asked, isFinal: boolean): Float64Array {
    const key = `${asked.zone} ${asked.view} ${asked.only?.id ?? ""} ${isFinal}`;
    const known = day.counted.get(key);
    if (known) return known;
    const counted = isFinal
      ? this.#final(day, asked)
      : this.#uncorrected(asked.location, this.#counted(day, asked, true));
    day.counted.set(key, counted);
    return counted;
  }

  #final(day: LocalDay, asked: Asked): Float64Array {
    const seen = asked.view === "false" ? [] : this.#seen(day, asked);
    const none = asked.view === "visible" ? [] : this.#falseVisits(day, asked);
    return none.length === 0 ? Float64Array.from(seen) : Float64Array.from([...seen, ...none]).sort();
  }

  #seen(day: LocalDay, { location, zone, view, only }: Asked): Visit[] {
    const cover = this.#cover(location, zone).map((recording) => {
      const { delivers, isUsual, sees } = this.#sight(recording, day, view !== "served");
      const counts = view === "visible" ? (visit: Visit) => delivers(minuteOf(visit)) : isUsual ? () => true : sees;
      return { key: keyOf(recording.id), counts: only && only.id !== recording.id ? () => false : counts };
    });
    const seen: Visit[] = [];
    for (const visit of this.#drawn(location, day).visits) {
      if (zoneIn(visit) !== zone) continue;
      const seers = seersOf(cover, visit, this.#given.world.cameras);
      if (seers.some(({ counts }) => counts(visit))) seen.push(visit);
    }
    return seen;
  }

  #falseVisits(day: LocalDay, { location, zone, view, only }: Asked): Visit[] {
    const { zones } = this.#given.world;
    return this.#cover(location, zone).flatMap((recording) => {
      if (recording.impairments.length === 0 || (only && only.id !== recording.id)) return [];
      if (recording.taxonomies[0] !== zones[zone]?.taxonomy) return [];
      const { visits } = this.#drawn(location, day);
      const sight = this.#sight(recording, day, view === "estimated");
      return falseVisits(recording, sight, { hours: day.hours, zone, visits, zones: zones.length }, this.#given.world);
    });
  }

  /** Until they are corrected, an hour's counts lack a few or have a few twice. */
  #uncorrected(location: SimLocation, counted: Float64Array): Float64Array {
    const most = this.#given.traits.counts_correction;
    return Float64Array.from(
      [...counted].flatMap((visit) => {
        const hour = Math.floor(minuteOf(visit) / 60);
        const excess = most * (1.4 * fraction(keyOf(location.id), hour, DRAW.correction) - 1);
        const draw = fraction(personNumberOf(visit), zoneIn(visit), DRAW.corrected);
        return draw >= Math.abs(excess) ? [visit] : excess > 0 ? [visit, visit] : [];
      }),
    );
  }

  #sight(recording: SimRecording, day: LocalDay, isEstimate: boolean): DayOfSight {
    const key = `${recording.id} ${isEstimate}`;
    const known = day.sights.get(key) ?? sightOf(recording, day.hours, this.#given.startedAt, isEstimate);
    day.sights.set(key, known);
    return known;
  }

  #drawn(location: SimLocation, day: LocalDay): DayOfVisits {
    if (day.drawn) return day.drawn;
    if (this.#drawnVisits > MOST_VISITS) {
      for (const { days } of this.#shops.values()) days.clear();
      this.#drawnVisits = 0;
    }
    day.drawn = drawDay(this.#shop(location).shop, day.hours, day.plan, this.#given.world);
    this.#drawnVisits += day.drawn.visits.length;
    return day.drawn;
  }

  #shop(location: SimLocation) {
    const { seed, world } = this.#given;
    const known = this.#shops.get(location.id) ?? { shop: shopOf(seed, location, world), days: new Map() };
    this.#shops.set(location.id, known);
    return known;
  }

  #day(location: SimLocation, n: number): LocalDay {
    const { shop, days } = this.#shop(location);
    const known = days.get(n) ?? this.#newDay(location, shop, n);
    if (known.revision !== location.revision) {
      known.counted.clear();
      known.sights.clear();
      known.revision = location.revision;
    }
    days.set(n, known);
    return known;
  }

  #newDay({ timezone, revision }: SimLocation, shop: Shop, n: number): LocalDay {
    const hours = this.#given.calendar.hoursOf(new Date(n * DAY_MS).toISOString().slice(0, 10), timezone);
    const startAt = hours[0]?.startAt ?? n * DAY_MS;
    const plan = dayPlanOf(shop, n, this.#given.world);
    const endAt = startAt + hours.length * HOUR_MS;
    return { n, hours, startAt, endAt, plan, drawn: undefined, revision, counted: new Map(), sights: new Map() };
  }

  *#daysIn(location: SimLocation, from: Instant, to: Instant): Generator<LocalDay> {
    if (to <= from) return;
    const last = Math.floor((to + FARTHEST_MS) / DAY_MS);
    for (let n = Math.floor((from - FARTHEST_MS) / DAY_MS); n <= last; n++) {
      const day = this.#day(location, n);
      if (day.startAt < to && day.endAt > from) yield day;
    }
  }

  #dayAt(location: SimLocation, at: Instant): LocalDay {
    const [day] = this.#daysIn(location, at, at + 1);
    return day as LocalDay;
  }
}

function correctionOf({ hours, startAt }: LocalDay): Instant {
  return hours.find(({ hour }) => hour >= CORRECTION_HOUR)?.startAt ?? startAt;
}

function between(visits: Float64Array, from: Instant, to: Instant): Float64Array {
  const end = to === Number.POSITIVE_INFINITY ? visits.length : lowerBound(visits, firstVisitAt(to));
  return visits.subarray(lowerBound(visits, firstVisitAt(from)), end);
}

function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
