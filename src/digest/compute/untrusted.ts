/** Days with unreliable visitor counts, and what was counted on the same weekday before. */
import { median } from "../../health/lens.ts";
import { SETTLING_MS } from "../../health/uptime.ts";
import { isBelow } from "../../lib/format.ts";
import { compareText } from "../../lib/text.ts";
import type { CountsAnswer, Digest, DigestScope, UntrustedDay } from "../digest.ts";
import { type DigestCalendar, dayUptime } from "./calendar.ts";
import type { LocationRecords } from "./locations.ts";

const WEEK = 7;
const WEEKS_BACK = 8;
/** Fewer weeks give no usual count. */
const MIN_WEEKS = 4;

type Scope = Pick<DigestScope, "now" | "dayZone" | "untrustedBelow">;

/**
 * The untrusted days of the period. A day without figures is one too, after the location's first figures and unless all
 * of it is outside the schedule.
 */
export function untrustedDays(
  locations: readonly LocationRecords[],
  calendar: DigestCalendar,
  scope: Scope,
): UntrustedDay[] {
  const worst = (days: readonly UntrustedDay[]) =>
    Math.min(...days.map(({ uptime }) => uptime ?? scope.untrustedBelow));
  return locations
    .map((location) => ({ location, days: daysOf(location, calendar, scope) }))
    .filter(({ days }) => days.length > 0)
    .sort((a, b) => worst(a.days) - worst(b.days) || compareText(a.location.name, b.location.name))
    .flatMap(({ days }) => days);
}

function daysOf(
  location: LocationRecords,
  calendar: DigestCalendar,
  { now, dayZone, untrustedBelow: below }: Scope,
): UntrustedDay[] {
  const { id, name, days } = location;
  const timezone = dayZone ?? location.timezone;
  const first = days.weight.findIndex((weight) => weight > 0);
  const found: UntrustedDay[] = [];
  for (let at = calendar.periodFrom; at < calendar.dates.length; at += 1) {
    const uptime = dayUptime(days, at);
    const isUnknown = uptime === undefined && first >= 0 && first < at && (days.expected[at] ?? 0) > 0;
    if (!isUnknown && (uptime === undefined || !isBelow(uptime, below))) continue;
    if (!calendar.isOver(at, now - SETTLING_MS, timezone)) continue;
    const day = { timezone, date: calendar.dates[at] ?? "", uptime, alike: alikeOf(location, calendar, at, below) };
    found.push({ locationId: id, locationName: name, ...day, entries: undefined, usual: undefined });
  }
  return found;
}

/** Days without figures are included: most of them are from before lenswatch was installed. */
function alikeOf({ days }: LocationRecords, { dates }: DigestCalendar, at: number, below: number): string[] {
  return Array.from({ length: WEEKS_BACK }, (_, week) => at - (week + 1) * WEEK)
    .filter((past) => past >= 0 && !isBelow(dayUptime(days, past) ?? 1, below))
    .map((past) => dates[past] ?? "");
}

/** Visitor counts: location id → day → people; undefined and absent are no figure, never 0. */
type Entries = ReadonlyMap<string, ReadonlyMap<string, number | undefined>>;

/** The digest with the counts of its untrusted days, and the usual ones. */
export function withEntries(digest: Digest, entries: Entries, counts: CountsAnswer): Digest {
  const untrusted = digest.untrusted.map((day) => {
    const counted = entries.get(day.locationId);
    const past = day.alike.map((date) => counted?.get(date)).filter((n) => n !== undefined);
    const usual = past.length >= MIN_WEEKS ? Math.round(median(past)) : undefined;
    return { ...day, entries: counted?.get(day.date), usual };
  });
  return { ...digest, untrusted, counts };
}

/** How many fewer than usual were counted; undefined where either is unknown, or not fewer. */
export function shortfall({ entries, usual }: Pick<UntrustedDay, "entries" | "usual">): number | undefined {
  if (entries === undefined || usual === undefined || entries >= usual) return undefined;
  return usual - entries;
}
