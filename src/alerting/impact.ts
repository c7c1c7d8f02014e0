/** What an alert means for people counting, as annotations: zones affected, usual entries of that weekday. */
import type { Alert, Labels, ProblemKind } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { count } from "../lib/format.ts";
import type { LocalHours } from "../lib/local-hours.ts";
import type { AlertImpact } from "./notification.ts";

/** What is known of locations, by id. */
export interface LocationDetails {
  readonly zones: ReadonlyMap<string, LocationZones>;
  readonly usual: ReadonlyMap<string, UsualEntries>;
  /** Recordings of the location that are online, of those known. */
  readonly here?: ReadonlyMap<string, { readonly online: number; readonly of: number }>;
  /** Outages of an alert that ended in the last seven days, by its key. */
  readonly outages?: ReadonlyMap<string, number>;
  /** Hours of the week of a recording with an uploading schedule, as in `KnownSchedule`. */
  scheduleOf?(recordingId: string): string | undefined;
}

const ZONES_NAMED = 8;
const ZONES_LENGTH = 300;
const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const HOURS_OF_DAY = 24;

/** The location id of an alert on a recording or a location; undefined for any other. */
export function locationIdOf({ subject, labels }: Pick<Alert, "subject" | "labels">): string | undefined {
  if (subject.kind === "location") return subject.id;
  return subject.kind === "recording" ? labels.location_id : undefined;
}

/** The alert with `zones` and `impact` where they are known; itself where nothing is. */
export function withImpact<A extends Alert>(alert: A, details: LocationDetails, now: Instant, hours: LocalHours): A {
  const id = locationIdOf(alert);
  if (id === undefined) return alert;
  const zones = zonesText(zonesOf(alert, details.zones.get(id)));
  const impact = impactText(details.usual.get(id), now, alert.facts.timezone, hours);
  const known: Labels = { ...(zones && { zones }), ...(impact && { impact }) };
  const more = alert.state === "firing" ? contextOf(alert, id, details, { now, hours }) : {};
  if (Object.keys(known).length === 0 && !Object.values(more).some((fact) => fact)) return alert;
  return { ...alert, annotations: { ...known, ...alert.annotations }, impact: { ...more, usual: impact } };
}

const OUTAGES: ReadonlySet<ProblemKind | undefined> = new Set(["offline", "missing", "location_offline"]);

function contextOf(
  alert: Alert,
  location: string,
  details: LocationDetails,
  { now, hours }: { now: Instant; hours: LocalHours },
): AlertImpact {
  const { key, subject, facts, startsAt } = alert;
  if (!OUTAGES.has(facts.problem)) return {};
  const isLocation = subject.kind === "location";
  const here = details.here?.get(location);
  const usual = details.usual.get(location);
  const share = isLocation ? (facts.offline ?? 0) / (facts.of || 1) : here && 1 / here.of;
  const schedule = isLocation ? undefined : details.scheduleOf?.(subject.id);
  const outage = { from: startsAt, to: now, timezone: facts.timezone, schedule };
  const earlier = details.outages?.get(key) ?? 0;
  return {
    here: isLocation ? undefined : here,
    uncounted: usual && share ? uncountedOf({ ...outage, share }, usual, hours) : undefined,
    outages: earlier > 0 ? earlier + 1 : undefined,
  };
}

function zonesOf({ subject }: Alert, zones: LocationZones | undefined): readonly string[] {
  if (subject.kind === "recording") return zones?.get(subject.id) ?? [];
  return [...new Set([...(zones?.values() ?? [])].flat())];
}

/** `Ground:Service:Tills, Ground:Fashion:Shoes and 3 more`. */
function zonesText(zones: readonly string[]): string {
  const named: string[] = [];
  let left = ZONES_LENGTH;
  for (const zone of zones.slice(0, ZONES_NAMED)) {
    left -= zone.length + 2;
    if (left < 0 && named.length > 0) break;
    named.push(zone);
  }
  const more = zones.length - named.length;
  return named.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}

function impactText(
  usual: UsualEntries | undefined,
  now: Instant,
  timezone: string,
  hours: LocalHours,
): string | undefined {
  if (!usual) return undefined;
  const weekday = Math.floor(hours.at(now, timezone).ofWeek / HOURS_OF_DAY);
  const entries = usual[weekday];
  if (entries === undefined) return undefined;
  const many = entries === 0 ? "no entries" : entries === 1 ? "1 entry" : `${count(rounded(entries))} entries`;
  return `the location usually counts ${many} on a ${WEEKDAYS[weekday]}`;
}

/** Not an exact figure: tens from a hundred on. */
function rounded(entries: number): number {
  return entries < 100 ? entries : Math.round(entries / 10) * 10;
}

/** By recording id: taxonomies of the zones it covers (contract: `<Group>:<Subgroup>:<Name>`). */
export type LocationZones = ReadonlyMap<string, readonly string[]>;

/** Median entries of a whole day by weekday, Monday first; undefined where too few days are known. */
export type UsualEntries = readonly (number | undefined)[];

/** People counted in on one local day, `YYYY-MM-DD`. */
export type DayEntries = { readonly day: string; readonly entries: number };

const FEWEST_DAYS = 3;
const DAYS_OF_WEEK = 7;

/**
 * Each weekday's median of these days; half counts are rounded up. Where all medians are 0 nothing is counted at this
 * location, and nothing is known.
 */
export function usualEntries(days: readonly DayEntries[]): UsualEntries {
  const counts: number[][] = Array.from({ length: DAYS_OF_WEEK }, () => []);
  for (const { day, entries } of days) counts[weekdayOf(day)]?.push(entries);
  const usual = counts.map((all) => (all.length < FEWEST_DAYS ? undefined : median(all)));
  return usual.some((entries) => entries) ? usual : usual.map(() => undefined);
}

/** 0 Monday to 6 Sunday. */
function weekdayOf(day: string): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % DAYS_OF_WEEK;
}

/** Of a list that is not empty; of two middle ones their mean, rounded up. */
export function median(counts: readonly number[]): number {
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - 1], sorted[middle]];
  return Math.round(sorted.length % 2 === 0 ? (low + high) / 2 : high);
}

const QUARTER_MS = 900_000;
/** Longer outages are not estimated. */
const LONGEST_MS = 14 * 86_400_000;
const SHORTEST_MS = 60_000;
/** Of a location without a schedule: its visits are taken to come from 9:00 to 18:00. */
const USUAL_OPEN = { from: 9, to: 18 };

interface Outage {
  readonly from: Instant;
  readonly to: Instant;
  readonly timezone: string;
  /** Of the location's recordings, those that are offline, 0–1: each is taken to count the same. */
  readonly share: number;
  /** `1` within the schedule, for each hour from Monday 00:00 on; undefined without one. */
  readonly schedule: string | undefined;
}

/**
 * The day's usual visits, spread evenly over its open hours, for the open time of the outage; rounded. Undefined under a
 * minute, for less than five visits, and where a day has no usual count.
 */
export function uncountedOf(outage: Outage, usual: UsualEntries, hours: LocalHours): number | undefined {
  const { from, to, timezone, share, schedule } = outage;
  if (to - from < SHORTEST_MS || to - from > LONGEST_MS) return undefined;
  const isOpen = (ofWeek: number) => isOpenAt(ofWeek, schedule);
  let visits = 0;
  for (let at = from; at < to; ) {
    const next = Math.min(to, (Math.floor(at / QUARTER_MS) + 1) * QUARTER_MS);
    const { ofWeek } = hours.at(at, timezone);
    const weekday = Math.floor(ofWeek / HOURS_OF_DAY);
    const entries = usual[weekday];
    if (isOpen(ofWeek)) {
      if (entries === undefined) return undefined;
      visits += ((next - at) / 3_600_000) * (entries / openHours(weekday, isOpen));
    }
    at = next;
  }
  return roundedVisits(visits * share);
}

function isOpenAt(ofWeek: number, schedule: string | undefined): boolean {
  const hour = ofWeek % HOURS_OF_DAY;
  return schedule === undefined ? hour >= USUAL_OPEN.from && hour < USUAL_OPEN.to : schedule[ofWeek] === "1";
}

function openHours(weekday: number, isOpen: (ofWeek: number) => boolean): number {
  return Array.from({ length: HOURS_OF_DAY }, (_, i) => weekday * HOURS_OF_DAY + i).filter(isOpen).length;
}

/** To fives, from a hundred on to tens, from a thousand on to hundreds. */
function roundedVisits(visits: number): number | undefined {
  const step = visits < 100 ? 5 : visits < 1_000 ? 10 : 100;
  return Math.round(visits / step) * step || undefined;
}
