/** Sight of a recording in its zones: the people it counts, and those it counts that are not there. */
import { type Instant, MINUTE_MS } from "../../lib/clock.ts";
import { fraction, type Impairment, type Impairments, keyOf, type SimRecording, unimpaired } from "../fleet.ts";
import type { CalendarHour } from "../local-time.ts";
import { deliveryIn, outagesOf } from "../uptime.ts";
import { chanceOf, poisson } from "./chance.ts";
import type { Visits } from "./parameters.ts";
import { minuteOf, personNumberOf, type Visit, visitAt, zoneIn } from "./people.ts";

const DRAW = { order: 91, overlap: 92, detected: 93, sees: 94, turned: 95, aside: 96, ghosts: 97, ghost: 98 };
/** The share that a recording turned aside still sees of its zone, and at most of another. */
const STILL_SEEN = 0.1;
const MOST_ASIDE = 0.4;

/** The recordings of a zone that count a visit to it: each its part, and some what another counts too. */
export function seersOf<T extends { readonly key: number }>(
  cover: readonly T[],
  visit: Visit,
  { detection, overlap }: Visits["cameras"],
): readonly T[] {
  const person = personNumberOf(visit);
  const detects = ({ key }: T) => fraction(key, person, DRAW.detected) < detection;
  const [only] = cover;
  if (only && cover.length === 1) return detects(only) ? cover : [];
  const zone = zoneIn(visit);
  // The order by chance is another for each visit, and that of two does not depend on a third.
  const turn = ({ key }: T) => fraction(key, person, DRAW.order + zone * 64);
  const byChance = cover.toSorted((a, b) => turn(a) - turn(b));
  return byChance.slice(0, fraction(person, zone, DRAW.overlap) < overlap ? 2 : 1).filter(detects);
}

/** The state of a recording in each minute of a day. */
export interface DayOfSight {
  readonly delivers: (minute: number) => boolean;
  /** True where it counts somebody in its part of a zone. */
  readonly sees: (visit: Visit) => boolean;
  readonly impairmentsAt: (minute: number) => Impairments;
  /** Nothing is out of the ordinary all day. */
  readonly isUsual: boolean;
}

/** `startedAt`: of the simulator; the seeded outages lie before. `isEstimate`: as if every segment within the schedule had arrived. */
export function sightOf(
  recording: SimRecording,
  hours: readonly CalendarHour[],
  startedAt: Instant,
  isEstimate: boolean,
): DayOfSight {
  const firstMinute = (hours[0]?.startAt ?? 0) / MINUTE_MS;
  const dayEnd = (firstMinute + hours.length * 60) * MINUTE_MS;
  const outages = isEstimate ? [] : outagesOf(recording, hours, startedAt);
  const spans = recording.impairments.filter(({ from, until }) => from < dayEnd && until > firstMinute * MINUTE_MS);
  const scheduled = hours.map((hour) => deliveryIn(recording, hour, [], dayEnd).withinSchedule);
  const delivers = (minute: number) =>
    scheduled[Math.floor((minute - firstMinute) / 60)] === true &&
    !outages.some(([from, until]) => (minute + 1) * MINUTE_MS > from && minute * MINUTE_MS < until);
  const key = keyOf(recording.id);
  const impairmentsAt = (minute: number) => impairmentsOf(spans, minute * MINUTE_MS);
  function sees(visit: Visit): boolean {
    const minute = minuteOf(visit);
    if (!delivers(minute)) return false;
    if (spans.length === 0) return true;
    const { sees: share, freeze, turned } = impairmentsAt(minute);
    const seen = turned ? share * STILL_SEEN : share;
    return !freeze && (seen >= 1 || fraction(key, personNumberOf(visit), DRAW.sees) < seen);
  }
  const isUsual = spans.length === 0 && outages.length === 0 && scheduled.every(Boolean);
  return { delivers, sees, impairmentsAt, isUsual };
}

/** The impairments at a time: of one kind, the one that began last counts. */
function impairmentsOf(spans: readonly Impairment[], at: Instant): Impairments {
  const now = spans.filter(({ from, until }) => from <= at && at < until);
  return now.length === 0
    ? unimpaired
    : { ...unimpaired, ...Object.fromEntries(now.map(({ kind, value }) => [kind, value])) };
}

/** Visits that a recording counts in its first zone and that were none: ghosts, and what it sees when turned aside. */
export function falseVisits(
  recording: SimRecording,
  { delivers, impairmentsAt }: DayOfSight,
  day: {
    readonly hours: readonly CalendarHour[];
    readonly zone: number;
    readonly visits: Float64Array;
    readonly zones: number;
  },
  { cameras }: Visits,
): Visit[] {
  const key = keyOf(recording.id);
  const first = (day.hours[0]?.startAt ?? 0) / MINUTE_MS;
  const found: Visit[] = [];
  for (let minute = first; minute < first + day.hours.length * 60; minute++) {
    const { ghosts, freeze } = impairmentsAt(minute);
    if (ghosts === 0 || freeze || !delivers(minute)) continue;
    // The light changes from hour to hour.
    const light = 0.4 + 1.2 * fraction(key, Math.floor(minute / 60), DRAW.ghosts);
    const next = chanceOf(key, minute, DRAW.ghost);
    for (let left = poisson((ghosts * light) / 60, next); left > 0; left--) {
      found.push(visitAt(minute, day.zone, Math.floor(next() * 2 ** 23)));
    }
  }
  const aside = Math.floor(fraction(key, 1, DRAW.aside) * day.zones);
  const share = MOST_ASIDE * (0.25 + 0.75 * fraction(key, 2, DRAW.aside)) * (aside === day.zone ? cameras.street : 1);
  for (const visit of day.visits) {
    if (zoneIn(visit) !== aside) continue;
    const minute = minuteOf(visit);
    const { turned, freeze } = impairmentsAt(minute);
    if (!turned || freeze || !delivers(minute)) continue;
    if (fraction(key, personNumberOf(visit), DRAW.turned) < share)
      found.push(visitAt(minute, day.zone, personNumberOf(visit)));
  }
  return found;
}
