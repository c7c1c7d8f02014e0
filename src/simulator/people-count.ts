/** Counts people into rows: one group per period, location and zone as asked, split by who they are. */
import type { Instant } from "../lib/clock.ts";
import type { SimLocation, SimRecording } from "./fleet.ts";
import { type CalendarHour, HOUR_MS, type HourCalendar } from "./local-time.ts";
import { ageBands, genderValues, passersIn, personOf, purchasesOf, roleValues } from "./people.ts";
import type { Dimension } from "./requests.ts";
import { deliveryIn, outagesOf, SEGMENTS_PER_HOUR } from "./uptime.ts";

export interface CountQuery {
  readonly from: Instant;
  /** Hours that begin before this. */
  readonly to: Instant;
  readonly locations: readonly SimLocation[];
  /** Only recordings of these zones. */
  readonly taxonomy?: readonly string[] | undefined;
  readonly by: readonly Dimension[];
  readonly ages?: readonly string[] | undefined;
  readonly genders?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Whether dwell times are asked for; without them, and unsplit, people need not be looked at one by one. */
  readonly withDwell: boolean;
  /** Absent: one row for the whole range. */
  readonly period?: "hour" | "day" | "month" | undefined;
  /** Who would have been counted had nothing been lost, instead of who was. */
  readonly estimated?: boolean;
}

export interface CountRow {
  /** `index` and a field for each dimension asked for. */
  readonly labels: Readonly<Record<string, string>>;
  /** False: not one segment arrived, so nothing is known. */
  readonly isKnown: boolean;
  readonly people: number;
  /** 0 where `withDwell` is not asked. */
  readonly dwellSeconds: number;
  readonly purchases: number;
}

type Cell = { -readonly [K in keyof CountRow]: CountRow[K] };
interface Group {
  readonly labels: Record<string, string>;
  segments: number;
  readonly cells: Map<string, Cell>;
}

export interface CountDeps {
  readonly calendar: HourCalendar;
  readonly startedAt: Instant;
  readonly now: Instant;
}

const PERSON_DIMENSIONS = ["age", "gender", "role"] as const;

/** Rows in order of period, location and zone as asked; every combination is there, with 0 where nobody was counted. */
export function countPeople(query: CountQuery, deps: CountDeps): CountRow[] {
  const groups = new Map<string, Group>();
  for (const location of query.locations) {
    const hours = deps.calendar
      .hoursBetween(query.from, query.to, location.timezone)
      .filter((hour) => hour.startAt < deps.now);
    for (const recording of location.recordings) {
      if (query.taxonomy && !query.taxonomy.includes(recording.taxonomy)) continue;
      countRecording(recording, hours, query, deps, groups);
    }
  }
  const rows = [...groups.values()].flatMap(({ segments, cells }) =>
    [...cells.values()].map((cell) => ({ ...cell, isKnown: segments > 0 })),
  );
  return query.period ? rows.sort((a, b) => compare(a.labels.index, b.labels.index)) : rows;
}

function compare(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function countRecording(
  recording: SimRecording,
  hours: readonly CalendarHour[],
  query: CountQuery,
  deps: CountDeps,
  groups: Map<string, Group>,
): void {
  const first = hours[0]?.startAt ?? query.from;
  const last = (hours.at(-1)?.startAt ?? query.from) + HOUR_MS;
  const outages = query.estimated ? [] : outagesOf(recording, first, last, deps.startedAt);
  let group: Group | undefined;
  let date: string | undefined;
  for (const hour of hours) {
    // Most hours belong to the group of the hour before.
    if (!group || query.period === "hour" || hour.date !== date) {
      group = groupOf(recording, hour, query, groups);
      date = hour.date;
    }
    const { received } = deliveryIn(recording, hour, outages, deps.now);
    const counted = Math.floor((passersIn(recording, hour) * received) / SEGMENTS_PER_HOUR);
    group.segments += received;
    addPeople(recording, hour, counted, query, group);
  }
}

function addPeople(
  recording: SimRecording,
  hour: CalendarHour,
  counted: number,
  query: CountQuery,
  { cells }: Group,
): void {
  const purchases = purchasesOf(recording, hour, counted);
  const all = query.withDwell ? undefined : cells.get("");
  if (all) {
    all.people += counted;
    all.purchases += purchases;
    return;
  }
  for (let nth = 0; nth < counted; nth++) {
    const person = personOf(recording, hour, nth);
    const cell = cells.get(personKey(query.by, person));
    if (!cell) continue;
    cell.people += 1;
    cell.dwellSeconds += person.dwellSeconds;
    if (nth < purchases) cell.purchases += 1;
  }
}

function groupOf(recording: SimRecording, hour: CalendarHour, query: CountQuery, groups: Map<string, Group>): Group {
  const labels = labelsOf(recording, hour, query);
  const key = Object.values(labels).join("\n");
  const known = groups.get(key);
  if (known) return known;
  const group = { labels, segments: 0, cells: emptyCells(labels, query) };
  groups.set(key, group);
  return group;
}

function labelsOf(recording: SimRecording, hour: CalendarHour, { period, by }: CountQuery): Record<string, string> {
  return {
    ...(period ? { index: periodStart(hour, period) } : {}),
    ...(by.includes("entity") ? { location: recording.location.id } : {}),
    ...(by.includes("taxonomy") ? { taxonomy: recording.taxonomy } : {}),
  };
}

/** `YYYY-MM-DDTHH:mm:ss.sss` in the location's own time, without a zone. */
function periodStart(hour: CalendarHour, period: "hour" | "day" | "month"): string {
  if (period === "hour") return `${hour.index.replace(" ", "T")}:00.000`;
  const date = period === "day" ? hour.date : `${hour.date.slice(0, 7)}-01`;
  return `${date}T00:00:00.000`;
}

/** A cell for every combination of the values asked for. */
function emptyCells(labels: Record<string, string>, { by, ages, genders, roles }: CountQuery): Map<string, Cell> {
  const values = { age: ages ?? ageBands, gender: genders ?? genderValues, role: roles ?? roleValues };
  let combinations: Record<string, string>[] = [{}];
  for (const dimension of PERSON_DIMENSIONS) {
    if (!by.includes(dimension)) continue;
    const given = [...new Set(values[dimension])];
    combinations = combinations.flatMap((so) => given.map((value) => ({ ...so, [dimension]: value })));
  }
  return new Map(
    combinations.map((who) => [
      personKey(by, who),
      { labels: { ...labels, ...who }, isKnown: false, people: 0, dwellSeconds: 0, purchases: 0 },
    ]),
  );
}

function personKey(by: readonly Dimension[], who: { age?: string; gender?: string; role?: string }): string {
  let key = "";
  for (const dimension of PERSON_DIMENSIONS) if (by.includes(dimension)) key += `${who[dimension]}|`;
  return key;
}
