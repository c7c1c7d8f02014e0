/** The impact of an alert on people counting, as annotations: zones affected, usual entries of that weekday. */
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Alert, Labels, ProblemKind } from "../health/alert.ts";
import { contactLine, type DirectoryLookup } from "../health/directory.ts";
import type { Instant } from "../lib/clock.ts";
import { count } from "../lib/format.ts";
import type { LocalHours } from "../lib/local-hours.ts";
import type { AlertImpact } from "./model.ts";
import type { VisitWorth } from "./uncounted.ts";

/** The details known of locations, by id. */
export interface LocationDetails {
  readonly zones: ReadonlyMap<string, LocationZones>;
  readonly usual: ReadonlyMap<string, UsualEntries>;
  /** Recordings of the location that are online, of those known. */
  readonly here?: ReadonlyMap<string, { readonly online: number; readonly of: number }>;
  /** Outages of an alert that ended in the last seven days, by its key. */
  readonly outages?: ReadonlyMap<string, number>;
  /** Visits not counted while an alert fired, by its episode, and what one is worth. */
  readonly visits?: ReadonlyMap<string, VisitsLost> | undefined;
  readonly worth?: VisitWorth | undefined;
  /** The directory, for the contacts of a location. */
  readonly shop?: DirectoryLookup["shop"] | undefined;
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

/** The alert with `contact`, `zones` and `impact` where they are known; itself where nothing is. */
export function withImpact<A extends Alert>(alert: A, details: LocationDetails, now: Instant, hours: LocalHours): A {
  const id = locationIdOf(alert);
  if (id === undefined) return alert;
  const zones = zonesText(zonesOf(alert, details.zones.get(id)));
  const impact = impactText(details.usual.get(id), now, alert.facts.timezone, hours);
  const contact = alert.state === "firing" ? contactLine(details.shop?.(id)?.contacts ?? []) : "";
  const known: Labels = { ...(contact && { contact }), ...(zones && { zones }), ...(impact && { impact }) };
  const uncounted = details.visits?.get(alert.id);
  const context = alert.state === "firing" ? contextOf(alert, id, details) : {};
  const more = { ...context, uncounted, worth: uncounted && details.worth };
  if (Object.keys(known).length === 0 && !Object.values(more).some((fact) => fact)) return alert;
  return { ...alert, annotations: { ...known, ...alert.annotations }, impact: { ...more, usual: impact } };
}

const OUTAGES: ReadonlySet<ProblemKind | undefined> = new Set(["offline", "missing", "location_offline"]);

function contextOf({ key, subject, facts }: Alert, location: string, details: LocationDetails): AlertImpact {
  if (!OUTAGES.has(facts.problem)) return {};
  const earlier = details.outages?.get(key) ?? 0;
  return {
    here: subject.kind === "location" ? undefined : details.here?.get(location),
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

/** Usual entries of a whole day by weekday, Monday first; undefined where too little is known. */
export type UsualEntries = readonly (number | undefined)[];
