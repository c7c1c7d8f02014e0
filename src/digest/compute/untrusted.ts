/** Which days' visitor counts cannot be trusted, and what was counted on days like them. */
import { median } from "../../health/usual-entries.ts";
import type { Instant } from "../../lib/clock.ts";
import type { CountsAnswer, Digest, UntrustedDay } from "../digest.ts";
import type { Calendar } from "./calendar.ts";
import { compare, type LocationRecords } from "./groups.ts";
import { dayUptime } from "./location-days.ts";

/** The service refreshes its figures every ten minutes. */
const SETTLED_AFTER_MS = 15 * 60_000;
const WEEK = 7;
const WEEKS_BACK = 8;
/** Sums of ratios are off by less. */
const HARDLY = 1e-9;
/** Of fewer weeks nothing is usual. */
const LEAST_WEEKS = 4;

interface Rules {
  readonly now: Instant;
  readonly dayZone: string | undefined;
  /** Ratio 0–1. */
  readonly below: number;
}

/**
 * The days of the period, of every location that had figures before them: a day without any is one nobody knows of,
 * unless the whole of it lies outside the schedule.
 */
export function untrustedDays(
  locations: readonly LocationRecords[],
  calendar: Calendar,
  rules: Rules,
): UntrustedDay[] {
  return locations
    .map((location) => ({ location, days: daysOf(location, calendar, rules) }))
    .filter(({ days }) => days.length > 0)
    .sort((a, b) => worst(a.days, rules) - worst(b.days, rules) || compare(a.location.name, b.location.name))
    .flatMap(({ days }) => days);
}

function worst(days: readonly UntrustedDay[], { below }: Rules): number {
  return Math.min(...days.map(({ uptime }) => uptime ?? below));
}

function daysOf(
  location: LocationRecords,
  calendar: Calendar,
  { now, dayZone, below }: Rules,
): UntrustedDay[] {
  const { id, name, days } = location;
  const timezone = dayZone ?? location.timezone;
  const first = days.weight.findIndex((weight) => weight > 0);
  const found: UntrustedDay[] = [];
  for (let at = calendar.periodFrom; at < calendar.dates.length; at += 1) {
    const uptime = dayUptime(days, at);
    const isUnknown = uptime === undefined && first >= 0 && first < at && (days.expected[at] ?? 0) > 0;
    if (!isUnknown && (uptime === undefined || uptime >= below - HARDLY)) continue;
    if (!calendar.isOver(at, now - SETTLED_AFTER_MS, timezone)) continue;
    found.push({
      locationId: id,
      locationName: name,
      timezone,
      date: calendar.dates[at] ?? "",
      uptime,
      alike: alikeOf(location, calendar, at, below),
      entries: undefined,
      usual: undefined,
    });
  }
  return found;
}

/** Days nobody knows of may have been good ones: before lenswatch came, most of them were. */
function alikeOf({ days }: LocationRecords, { dates }: Calendar, at: number, below: number): string[] {
  return Array.from({ length: WEEKS_BACK }, (_, week) => at - (week + 1) * WEEK)
    .filter((past) => past >= 0 && (dayUptime(days, past) ?? 1) >= below)
    .map((past) => dates[past] ?? "");
}

/** What the service counted: location id → day → people; undefined and absent are no figure, never 0. */
export type Entries = ReadonlyMap<string, ReadonlyMap<string, number | undefined>>;

/** The digest with what was counted on its untrusted days, and what usually is. */
export function withEntries(digest: Digest, entries: Entries, counts: CountsAnswer): Digest {
  const untrusted = digest.untrusted.map((day) => {
    const counted = entries.get(day.locationId);
    const past = day.alike.map((date) => counted?.get(date)).filter((n) => n !== undefined);
    return {
      ...day,
      entries: counted?.get(day.date),
      usual: past.length >= LEAST_WEEKS ? median(past) : undefined,
    };
  });
  return { ...digest, untrusted, counts };
}

/** How many fewer than usual were counted; undefined where that cannot be said, or they were not fewer. */
export function shortfall({ entries, usual }: Pick<UntrustedDay, "entries" | "usual">): number | undefined {
  if (entries === undefined || usual === undefined || entries >= usual) return undefined;
  return usual - entries;
}
